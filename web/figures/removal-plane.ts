// The plane of chapter 3: where each estimate and retraining take the parameters, in their two principal directions.

import { formatted, h } from '../app/dom.ts';
import { escapeHtml } from '../../src/report/html.ts';
import { formatNumber } from '../../src/report/numbers.ts';
import { px } from '../../src/report/plot.ts';
import { markerPath, type SeriesStyle, stylesFor } from '../../src/report/series-style.ts';
import type { DrawnRung, RemovalFound } from '../maths/removal.ts';

/** Pixels of the picture, and of the margin that no point comes into. */
const [WIDTH, HEIGHT, MARGIN] = [640, 420, 46];

/** What is drawn, in this order. */
export const RUNG_NAMES = ['published', 'corrected', 'exact gradient', 'Newton', 'retrained'] as const;

type Name = DrawnRung | 'retrained';
type Point = readonly [number, number];

const STYLES = Object.fromEntries(stylesFor(RUNG_NAMES).map((style, i) => [RUNG_NAMES[i], style])) as Record<
  Name,
  SeriesStyle
>;

/** From parameters to pixels, the same scale both ways. */
interface View {
  at(point: Point): Point;
  /** Pixels for a unit. */
  readonly scale: number;
}

/** The view that holds the origin and every point but the published one. */
function viewOf({ edits }: RemovalFound): View {
  const points = RUNG_NAMES.filter((name) => name !== 'published').map((name) => edits[name].at);
  const range = (d: 0 | 1): [number, number] => {
    const all = [0, ...points.map((p) => p[d])];
    return [Math.min(...all), Math.max(...all)];
  };
  const [[left, right], [low, high]] = [range(0), range(1)];
  const room = (pixels: number, span: number): number => (span > 0 ? (pixels - 2 * MARGIN) / span : Infinity);
  const scale = Math.min(room(WIDTH, right - left), room(HEIGHT, high - low), 1e12);
  const [x, y] = [(left + right) / 2, (low + high) / 2];
  return { scale, at: ([a, b]) => [WIDTH / 2 + scale * (a - x), HEIGHT / 2 - scale * (b - y)] };
}

/** Where the way from one point to another leaves the picture; the other one where it does not. */
function clipped([x, y]: Point, [tx, ty]: Point): { end: Point; left: boolean } {
  const edge = 14;
  const stop = (from: number, to: number, most: number): number => {
    const bound = to > from ? most - edge : edge;
    return to === from ? Infinity : (bound - from) / (to - from);
  };
  const share = Math.min(1, stop(x, tx, WIDTH), stop(y, ty, HEIGHT));
  return { end: [x + share * (tx - x), y + share * (ty - y)], left: share < 1 };
}

const dashOf = (dash: string): string => (dash === '' ? '' : ` stroke-dasharray="${dash}"`);

/** The way to a point, and its marker; an arrow head where it goes on beyond the picture. */
function way(name: Name, { at }: View, { edits }: RemovalFound): string {
  const { colour, marker, dash } = STYLES[name];
  const from = at([0, 0]);
  const { end, left } = clipped(from, at(edits[name].at));
  const line = `<path class="line" d="M${px(from[0])} ${px(from[1])}L${px(end[0])} ${px(end[1])}"${dashOf(dash)}/>`;
  if (!left) {
    const big = name === 'retrained' ? 8 : 6;
    return `<g class="series ${colour}">${line}<path class="marks ${marker}" d="${markerPath(marker, end[0], end[1], big)}"/></g>`;
  }
  const angle = Math.atan2(end[1] - from[1], end[0] - from[0]);
  const corner = (turn: number): string =>
    `${px(end[0] + 14 * Math.cos(angle + turn))} ${px(end[1] + 14 * Math.sin(angle + turn))}`;
  return `<g class="series ${colour}">${line}<path class="line" d="M${corner(2.7)}L${px(end[0])} ${px(end[1])}L${corner(-2.7)}"/></g>`;
}

/** How far the published estimate goes, in the corner that is farthest from all ways. */
function farLabel({ at }: View, { edits }: RemovalFound): string {
  const from = at([0, 0]);
  if (!clipped(from, at(edits.published.at)).left) return '';
  const ways = RUNG_NAMES.map((name) => clipped(from, at(edits[name].at)).end);
  const near = ways.flatMap(([x, y]) =>
    [0, 0.25, 0.5, 0.75, 1].map((share): Point => [from[0] + share * (x - from[0]), from[1] + share * (y - from[1])]),
  );
  const room = ({ x, y, anchor }: { x: number; y: number; anchor: string }): number =>
    Math.min(
      ...[0, 90, 180, 270, 360].flatMap((d) =>
        near.map(([a, b]) => Math.hypot(a - (anchor === 'end' ? x - d : x + d), b - y)),
      ),
    );
  const places = [
    { x: 14, y: 28, anchor: 'start' },
    { x: WIDTH - 14, y: 28, anchor: 'end' },
    { x: WIDTH - 14, y: HEIGHT - 16, anchor: 'end' },
  ];
  const { x, y, anchor } = places.toSorted((a, b) => room(b) - room(a))[0];
  const times = formatNumber(edits.published.length / edits.retrained.length);
  return `<text class="label removal-far" x="${x}" y="${y}" text-anchor="${anchor}">published goes ${times} × as far as retraining</text>`;
}

/** Approximate levels of the loss after removal around the retrained point, by its curvature there; the outermost through the start. */
function levels({ at, scale }: View, { edits, curvature: [a, b, c] }: RemovalFound): string {
  const [x, y] = edits.retrained.at;
  const [turn, middle, half] = [Math.atan2(2 * b, a - c) / 2, (a + c) / 2, Math.hypot((a - c) / 2, b)];
  if (!(middle > half)) return '';
  const height = a * x * x + 2 * b * x * y + c * y * y;
  const [cx, cy] = at([x, y]);
  const ellipse = (share: number): string => {
    const radius = (curvature: number): string => px(scale * Math.sqrt((share * height) / curvature));
    const place = `translate(${px(cx)} ${px(cy)}) rotate(${px((-180 * turn) / Math.PI)})`;
    return `<ellipse class="removal-level" rx="${radius(middle + half)}" ry="${radius(middle - half)}" transform="${place}"/>`;
  };
  return [1 / 9, 4 / 9, 1].map(ellipse).join('');
}

/** A round length of about a fifth of the width, drawn in the corner. */
function scaleBar({ scale }: View): string {
  const raw = WIDTH / 5 / scale;
  const power = 10 ** Math.floor(Math.log10(raw));
  const size = ([5, 2, 1].find((f) => f * power <= raw) ?? 1) * power;
  const [x, y] = [16, HEIGHT - 14];
  return (
    `<path class="axis" d="M${x} ${y - 5}V${y}h${px(size * scale)}v-5"/>` +
    `<text x="${px(x + (size * scale) / 2)}" y="${y - 7}" text-anchor="middle">${formatted(size, 1)}</text>`
  );
}

function legendOf(): string {
  const items = RUNG_NAMES.map((name) => {
    const { colour, marker, dash } = STYLES[name];
    return (
      `<li class="${colour}"><svg class="swatch" viewBox="0 0 36 16" aria-hidden="true"><path class="line" d="M1 8H35"${dashOf(dash)}/>` +
      `<path class="marks ${marker}" d="${markerPath(marker, 18, 8, 4)}"/></svg>${name}</li>`
    );
  });
  const level =
    '<li><svg class="swatch" viewBox="0 0 36 16" aria-hidden="true"><ellipse class="removal-level" cx="18" cy="8" rx="16" ry="6"/></svg>' +
    'approximate level of the loss after removal</li>';
  return `<ul class="legend">${items.join('')}${level}</ul>`;
}

function describe({ edits, seen }: RemovalFound): string {
  const parts = RUNG_NAMES.map((name) => {
    const { at, length } = edits[name];
    return `${name} goes to ${formatted(at[0], 3)}, ${formatted(at[1], 3)}, ${formatted(length, 3)} away from where training ended`;
  });
  return `${parts.join('; ')}. The two directions hold ${Math.round(1000 * seen) / 10} % of these movements, the published one left out.`;
}

/** The plane. */
export function removalPlane() {
  const picture = h('div', { class: 'removal-plane' });
  return {
    el: picture,
    set: (found: RemovalFound): void => {
      const view = viewOf(found);
      const [x, y] = view.at([0, 0]);
      picture.innerHTML =
        `<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="removal-plane-title removal-plane-desc">` +
        `<title id="removal-plane-title">Where the parameters go</title>` +
        `<desc id="removal-plane-desc">${escapeHtml(describe(found))}</desc>` +
        `<path class="grid" d="M0 ${px(y)}H${WIDTH}M${px(x)} 0V${HEIGHT}"/>` +
        levels(view, found) +
        RUNG_NAMES.map((name) => way(name, view, found)).join('') +
        farLabel(view, found) +
        `<circle class="removal-start" cx="${px(x)}" cy="${px(y)}" r="6"/>` +
        `<text class="label" x="${px(x - 10)}" y="${px(y + 24)}" text-anchor="end">θ̂</text>` +
        `${scaleBar(view)}</svg>${legendOf()}`;
    },
    /** Nothing is removed: nothing moves. */
    clear: (text: string): void => picture.replaceChildren(h('p', { class: 'removal-empty' }, text)),
  };
}
