// The curves of chapter 4: the true error, below which no bound may be, and what each bound says.

import { h, s, update } from '../app/dom.ts';
import { uniqueId } from '../app/controls.ts';
import { axesSvg, FRAME, px } from '../../src/report/plot.ts';
import { drawable, linearScale, logScale, type Scale } from '../../src/report/scale.ts';
import { type Marker, markerPath } from '../../src/report/series-style.ts';
import type { BoundsAt } from '../maths/bounds.ts';

/** What is drawn of one removal. */
export type Quantity = 'error' | 'printed' | 'lipschitz' | 'selfConcordant' | 'p1' | 'p2' | 'p3';

interface Look {
  readonly name: string;
  readonly colour: string;
  readonly marker: Marker;
  readonly dash: string;
}

/** How each is drawn, in the order of the legend. */
export const LOOKS: Readonly<Record<Quantity, Look>> = {
  error: { name: 'true error', colour: 'c-ink', marker: 'circle', dash: '' },
  printed: { name: 'printed theorem', colour: 'c-red', marker: 'cross', dash: '7 4' },
  lipschitz: { name: 'a priori, Lipschitz', colour: 'c-gold', marker: 'diamond', dash: '4 3' },
  selfConcordant: { name: 'a priori, self-concordant', colour: 'c-green', marker: 'triangle', dash: '10 3 2 3' },
  p1: { name: 'certificate P1', colour: 'c-sky', marker: 'pentagon', dash: '6 2 2 2 2 2' },
  p2: { name: 'certificate P2', colour: 'c-blue', marker: 'square', dash: '12 3' },
  p3: { name: 'certificate P3', colour: 'c-purple', marker: 'down', dash: '2 3' },
};

export const QUANTITIES = Object.keys(LOOKS) as Quantity[];

/** What stands across. */
export interface Across {
  readonly label: string;
  readonly log: boolean;
  readonly of: (at: BoundsAt) => number;
}

/** Whether a bound is below the error, by more than retraining leaves open. */
export const isBelow = (bound: number | null, { error, resolution }: BoundsAt): boolean =>
  bound !== null && bound < error - resolution;

/** Where the printed theorem is below the error. */
export const isBroken = (at: BoundsAt): boolean => isBelow(at.printed, at);

/** A path through those values that can be drawn, broken where one cannot. */
function pathOf(points: readonly (readonly [number, number | null])[], x: Scale, y: Scale): string {
  let pen = 'M';
  return points
    .map(([a, b]) => {
      if (b === null || !drawable(b, true)) {
        pen = 'M';
        return '';
      }
      const step = `${pen}${px(x.at(a))} ${px(y.at(b))}`;
      pen = 'L';
      return step;
    })
    .join('');
}

/** One curve with its markers. */
function curve(quantity: Quantity, all: readonly BoundsAt[], across: Across, x: Scale, y: Scale): SVGElement {
  const { colour, marker, dash } = LOOKS[quantity];
  const points = all.map((at) => [across.of(at), at[quantity]] as const);
  const marks = points.flatMap(([a, b]) =>
    b === null || !drawable(b, true) ? [] : [markerPath(marker, x.at(a), y.at(b), quantity === 'error' ? 3 : 3.6)],
  );
  return s(
    'g',
    { class: `series ${colour} bounds-${quantity}` },
    s('path', { class: 'line', d: pathOf(points, x, y), 'stroke-dasharray': dash || null }),
    s('path', { class: `marks ${marker}`, d: marks.join('') }),
  );
}

/** Everything below the error: a bound that enters it is broken. */
function forbidden(all: readonly BoundsAt[], across: Across, x: Scale, y: Scale): SVGElement {
  const top = pathOf(
    all.map((at) => [across.of(at), at.error] as const),
    x,
    y,
  );
  const [first, last] = [across.of(all[0]), across.of(all[all.length - 1])];
  const floor = `L${px(x.at(last))} ${FRAME.bottom}L${px(x.at(first))} ${FRAME.bottom}Z`;
  return s('path', { class: 'bounds-forbidden', d: `${top}${floor}` });
}

/** A ring around each point at which the printed theorem is broken, with a word at the first. */
function broken(all: readonly BoundsAt[], across: Across, x: Scale, y: Scale): SVGElement[] {
  const found = all.filter(isBroken);
  if (found.length === 0) return [];
  const rings = found.map((at) => markerPath('circle', x.at(across.of(at)), y.at(at.printed as number), 8));
  const [first] = found;
  return [
    s('path', { class: 'bounds-ring', d: rings.join('') }),
    s(
      'text',
      { class: 'bounds-word', x: px(x.at(across.of(first)) + 4), y: px(y.at(first.printed as number) + 32) },
      'broken here',
    ),
  ];
}

/** The picture in words. */
function inWords(all: readonly BoundsAt[], across: Across): string {
  const parts = QUANTITIES.map((quantity) => {
    const values = all.flatMap((at) => at[quantity] ?? []);
    if (values.length === 0) return `${LOOKS[quantity].name}: says nothing`;
    return `${LOOKS[quantity].name}: ${Math.min(...values).toPrecision(3)} to ${Math.max(...values).toPrecision(3)}`;
  });
  return `Bounds on the error over ${across.label}. ${parts.join('; ')}.`;
}

/** A drawing, and the line in it that follows the sliders. */
export interface BoundsDrawing {
  readonly el: SVGSVGElement;
  /** @param chosen where the figure stands on the axis across */
  choose(chosen: number): void;
}

/** Draws the curves. */
export function boundsPlot(all: readonly BoundsAt[], across: Across): BoundsDrawing {
  const scale = across.log ? logScale : linearScale;
  const x = scale(all.map(across.of), { from: FRAME.left, to: FRAME.right });
  const values = all.flatMap((at) => QUANTITIES.flatMap((quantity) => at[quantity] ?? []));
  const y = logScale(values, { from: FRAME.bottom, to: FRAME.top });
  const frame = s('g');
  frame.innerHTML = axesSvg(across.label, 'distance in parameters', x, y);
  const [title, desc] = [uniqueId('bounds-title'), uniqueId('bounds-desc')];
  const { width, height, top, bottom } = FRAME;
  const upright = s('path', { class: 'bounds-chosen' });
  const el = s(
    'svg',
    {
      ...{ class: 'plot lines', viewBox: `0 0 ${width} ${height}`, role: 'img' },
      'aria-labelledby': `${title} ${desc}`,
    },
    s('title', { id: title }, `Error and bounds over ${across.label}`),
    s('desc', { id: desc }, inWords(all, across)),
    forbidden(all, across, x, y),
    frame,
    upright,
    ...QUANTITIES.toReversed().map((quantity) => curve(quantity, all, across, x, y)),
    ...broken(all, across, x, y),
  );
  return { el, choose: (chosen) => update(upright, { d: `M${px(x.at(chosen))} ${top}V${bottom}` }) };
}

/** A line with its marker as the legend shows it. */
export function swatch(quantity: Quantity): SVGElement {
  const { marker, dash } = LOOKS[quantity];
  return s(
    'svg',
    { class: 'swatch', viewBox: '0 0 36 16', width: 36, height: 16, 'aria-hidden': 'true' },
    s('path', { class: 'line', d: 'M1 8H35', 'stroke-dasharray': dash || null }),
    s('path', { class: `marks ${marker}`, d: markerPath(marker, 18, 8, 3.6) }),
  );
}

/** What the shading, the ring and the upright line mean. */
const MARKS = [
  ['bounds-forbidden', 'M1 2H35V14H1Z', 'below the error: no true bound enters here'],
  ['bounds-ring', markerPath('circle', 18, 8, 7), 'printed theorem broken'],
  ['bounds-chosen', 'M18 0V16', 'where the sliders stand'],
] as const;

/** The legend of the curves. */
export function boundsLegend(): HTMLElement {
  const box = { class: 'swatch', viewBox: '0 0 36 16', width: 36, height: 16, 'aria-hidden': 'true' };
  return h(
    'ul',
    { class: 'legend' },
    ...QUANTITIES.map((quantity) => h('li', { class: LOOKS[quantity].colour }, swatch(quantity), LOOKS[quantity].name)),
    ...MARKS.map(([kind, d, text]) => h('li', {}, s('svg', box, s('path', { class: kind, d })), text)),
  );
}
