// Figures as inline SVG: axes with round ticks, lines or points, and a legend in HTML that wraps on a narrow page.

import type { Figure, Series } from '../verify/result.ts';
import { escapeHtml, slug } from './html.ts';
import { formatNumber } from './numbers.ts';
import { drawable, linearScale, logScale, type Scale } from './scale.ts';
import { markerPath, type SeriesStyle, stylesFor } from './series-style.ts';

/** Size of a picture and of the frame within it, in pixels at full width. */
export const FRAME = { width: 640, height: 420, left: 84, right: 622, top: 14, bottom: 354 } as const;

/** Points of a line beyond which it has no markers. */
const MARKED = 12;

type Point = readonly [number, number];

/** A figure with its axes. */
interface Drawing {
  readonly figure: Figure;
  readonly x: Scale;
  readonly y: Scale;
}

const shown = ({ x, y }: Figure, [a, b]: Point): boolean => drawable(a, x.log) && drawable(b, y.log);

/** The upper end of a band from left to right, and the lower one back. */
const bandEnds = ({ band = [] }: Series): Point[] => [
  ...band.map(([x, , high]): Point => [x, high]),
  ...band.map(([x, low]): Point => [x, low]).reverse(),
];

/** The two axes of a figure, from the points that can be drawn. */
export function axesOf(figure: Figure): { x: Scale; y: Scale } {
  const all = figure.series.flatMap((s) => [...s.points, ...bandEnds(s)]);
  const points = all.filter((p) => shown(figure, p));
  const scale = ({ log }: Figure['x']): typeof linearScale => (log ? logScale : linearScale);
  return {
    x: scale(figure.x)(
      points.map(([a]) => a),
      { from: FRAME.left, to: FRAME.right },
    ),
    y: scale(figure.y)(
      points.map(([, b]) => b),
      { from: FRAME.bottom, to: FRAME.top },
    ),
  };
}

/** A coordinate in a picture. */
export const px = (v: number): string => String(Number(v.toFixed(2)));

/** Grid, axes, ticks and labels of a picture in {@link FRAME}. */
export function axesSvg(xLabel: string, yLabel: string, x: Scale, y: Scale): string {
  const { left, right, top, bottom, height } = FRAME;
  const grid = [
    ...x.ticks.map(({ value }) => `M${px(x.at(value))} ${top}V${bottom}`),
    ...y.ticks.map(({ value }) => `M${left} ${px(y.at(value))}H${right}`),
  ];
  const labels = [
    ...x.ticks.map((t) => `<text x="${px(x.at(t.value))}" y="${bottom + 21}" text-anchor="middle">${t.label}</text>`),
    ...y.ticks.map(
      (t) => `<text x="${left - 9}" y="${px(y.at(t.value))}" dy=".34em" text-anchor="end">${t.label}</text>`,
    ),
  ];
  const middle = (top + bottom) / 2;
  return [
    `<path class="grid" d="${grid.join('')}"/>`,
    `<path class="axis" d="M${left} ${top}V${bottom}H${right}"/>`,
    `<g class="ticks">${labels.join('')}</g>`,
    `<text class="label" x="${(left + right) / 2}" y="${height - 14}" text-anchor="middle">${escapeHtml(xLabel)}</text>`,
    `<text class="label" transform="translate(18 ${middle}) rotate(-90)" text-anchor="middle">${escapeHtml(yLabel)}</text>`,
  ].join('\n');
}

/** y = x as far as both axes reach, and nothing where they do not meet. */
function diagonal({ figure, x, y }: Drawing): string {
  if (!figure.diagonal) return '';
  const [low, high] = [Math.max(x.domain[0], y.domain[0]), Math.min(x.domain[1], y.domain[1])];
  if (!(low < high)) return '';
  return `<path class="diagonal" d="M${px(x.at(low))} ${px(y.at(low))}L${px(x.at(high))} ${px(y.at(high))}"/>`;
}

/** The line through the points, broken where one cannot be drawn. */
function linePath({ figure, x, y }: Drawing, { points }: Series): string {
  let pen = 'M';
  return points
    .map((p) => {
      if (!shown(figure, p)) {
        pen = 'M';
        return '';
      }
      const step = `${pen}${px(x.at(p[0]))} ${px(y.at(p[1]))}`;
      pen = 'L';
      return step;
    })
    .join('');
}

/** The band of a series, where there is one. */
function bandPath({ figure, x, y }: Drawing, series: Series): string {
  const ends = bandEnds(series).filter((p) => shown(figure, p));
  if (ends.length === 0) return '';
  return `<path class="band" d="M${ends.map(([a, b]) => `${px(x.at(a))} ${px(y.at(b))}`).join('L')}Z"/>`;
}

function seriesMarks(drawing: Drawing, series: Series, { colour, marker, dash }: SeriesStyle): string {
  const { figure, x, y } = drawing;
  const points = series.points.filter((p) => shown(figure, p));
  if (points.length === 0) return '';
  const lines = figure.kind === 'lines';
  const dots = points.map(([a, b]) => markerPath(marker, x.at(a), y.at(b), 4)).join('');
  const line = `<path class="line" d="${linePath(drawing, series)}"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}/>`;
  return [
    `<g class="series ${colour}">`,
    bandPath(drawing, series),
    lines ? line : '',
    !lines || points.length <= MARKED ? `<path class="marks ${marker}" d="${dots}"/>` : '',
    '</g>',
  ].join('');
}

/** What a series looks like, beside its name; points that cannot be drawn are counted. */
function legendItem({ figure }: Drawing, series: Series, { colour, marker, dash }: SeriesStyle): string {
  const lines = figure.kind === 'lines';
  const missing = series.points.filter((p) => !shown(figure, p)).length;
  const note =
    series.points.length === 0
      ? ' (no points)'
      : missing === 0
        ? ''
        : ` (${missing} of ${series.points.length} points not drawn)`;
  const marked = !lines || series.points.length <= MARKED;
  return [
    `<li class="${colour}"><svg class="swatch" viewBox="0 0 36 16" width="36" height="16" aria-hidden="true">`,
    lines ? `<path class="line" d="M1 8H35"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}/>` : '',
    marked ? `<path class="marks ${marker}" d="${markerPath(marker, 18, 8, 4)}"/>` : '',
    `</svg>${escapeHtml(series.name)}${note}</li>`,
  ].join('');
}

const DIAGONAL_ITEM =
  '<li class="c-grey"><svg class="swatch" viewBox="0 0 36 16" width="36" height="16" aria-hidden="true">' +
  '<path class="diagonal" d="M1 8H35"/></svg>y = x</li>';

/** The picture in words. */
function describe(figure: Figure): string {
  const parts = figure.series.map((s) => {
    const ys = s.points.filter((p) => shown(figure, p)).map(([, b]) => b);
    if (ys.length === 0) return `${s.name}: no points`;
    return `${s.name}: ${ys.length} points, from ${formatNumber(Math.min(...ys))} to ${formatNumber(Math.max(...ys))}`;
  });
  const axis = ({ label, log }: Figure['x']): string => `${label}${log ? ' (logarithmic)' : ''}`;
  return `${axis(figure.y)} over ${axis(figure.x)}. ${parts.join('; ')}.`;
}

/**
 * A figure as a picture with its legend.
 * @param figure values that are not finite, or not positive on a logarithmic axis, are left out
 * @returns HTML
 */
export function plot(figure: Figure): string {
  const styles = stylesFor(figure.series.map((s) => s.name));
  const drawing: Drawing = { figure, ...axesOf(figure) };
  const id = `plot-${slug(figure.id)}`;
  return `<svg class="plot ${figure.kind}" viewBox="0 0 ${FRAME.width} ${FRAME.height}" role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${escapeHtml(figure.title)}</title>
<desc id="${id}-desc">${escapeHtml(describe(figure))}</desc>
${axesSvg(figure.x.label, figure.y.label, drawing.x, drawing.y)}
${diagonal(drawing)}
${figure.series.map((s, i) => seriesMarks(drawing, s, styles[i])).join('\n')}
</svg>
<ul class="legend">${figure.series.map((s, i) => legendItem(drawing, s, styles[i])).join('')}${figure.diagonal ? DIAGONAL_ITEM : ''}</ul>`;
}
