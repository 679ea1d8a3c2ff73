// How series are told apart: colours that colour-blind readers can tell, and for each a marker and a dash of its own.

/** Shapes of points. */
export type Marker =
  'circle' | 'square' | 'triangle' | 'diamond' | 'cross' | 'down' | 'plus' | 'pentagon' | 'bar' | 'star';

/** The look of one series. */
export interface SeriesStyle {
  /** Class that sets the colour. */
  readonly colour: string;
  readonly marker: Marker;
  /** Value of stroke-dasharray; empty for a solid line. */
  readonly dash: string;
}

const STYLES: readonly SeriesStyle[] = [
  { colour: 'c-ink', marker: 'circle', dash: '' },
  { colour: 'c-blue', marker: 'square', dash: '' },
  { colour: 'c-red', marker: 'cross', dash: '7 4' },
  { colour: 'c-green', marker: 'triangle', dash: '10 3 2 3' },
  { colour: 'c-gold', marker: 'diamond', dash: '4 3' },
  { colour: 'c-purple', marker: 'down', dash: '12 4' },
  { colour: 'c-sky', marker: 'pentagon', dash: '6 2 2 2 2 2' },
  { colour: 'c-pink', marker: 'plus', dash: '' },
  { colour: 'c-grey', marker: 'bar', dash: '2 4' },
  { colour: 'c-brown', marker: 'star', dash: '8 3' },
];

/** Series that look the same in every figure. */
const KNOWN: ReadonlyMap<string, number> = new Map([
  ['loss', 0],
  ['Newton', 0],
  ['P3', 0],
  ['corrected', 1],
  ['linear score', 1],
  ['P2', 1],
  ['published', 2],
  ['printed theorem', 2],
  ['rescaled', 3],
  ['exact', 3],
  ['self-concordant', 3],
  ['Neumann', 4],
  ['Lipschitz', 4],
  ['Krylov 2', 5],
  ['exact gradient', 6],
  ['P1', 6],
  ['two Newton steps', 7],
  ['nothing', 8],
  ['positives only', 9],
]);

/** A style for each series of one figure: the known ones as always, the others by what is left. */
export function stylesFor(names: readonly string[]): SeriesStyle[] {
  const taken = new Set(names.flatMap((name) => KNOWN.get(name) ?? []));
  const free = STYLES.filter((_, i) => !taken.has(i));
  let next = 0;
  return names.map((name) => {
    const known = KNOWN.get(name);
    return known === undefined
      ? (free.length === 0 ? STYLES : free)[next++ % (free.length || STYLES.length)]
      : STYLES[known];
  });
}

const n = (x: number): string => String(Number(x.toFixed(2)));

/** Corners of a regular polygon around a point, the first one at `turn` (0 is up). */
const polygon = (x: number, y: number, r: number, corners: number, turn = 0): string =>
  Array.from({ length: corners }, (_, i) => {
    const angle = 2 * Math.PI * (turn + i / corners);
    return `${i === 0 ? 'M' : 'L'}${n(x + r * Math.sin(angle))} ${n(y - r * Math.cos(angle))}`;
  }).join('') + 'Z';

const OUTLINES: Record<Marker, (x: number, y: number, r: number) => string> = {
  circle: (x, y, r) => `M${n(x - r)} ${n(y)}a${n(r)} ${n(r)} 0 1 0 ${n(2 * r)} 0a${n(r)} ${n(r)} 0 1 0 ${n(-2 * r)} 0Z`,
  square: (x, y, r) => polygon(x, y, 1.2 * r, 4, 1 / 8),
  triangle: (x, y, r) => polygon(x, y, 1.3 * r, 3),
  diamond: (x, y, r) => polygon(x, y, 1.3 * r, 4),
  down: (x, y, r) => polygon(x, y, 1.3 * r, 3, 1 / 2),
  pentagon: (x, y, r) => polygon(x, y, 1.2 * r, 5),
  cross: (x, y, r) =>
    `M${n(x - r)} ${n(y - r)}L${n(x + r)} ${n(y + r)}M${n(x - r)} ${n(y + r)}L${n(x + r)} ${n(y - r)}`,
  plus: (x, y, r) => `M${n(x - r)} ${n(y)}H${n(x + r)}M${n(x)} ${n(y - r)}V${n(y + r)}`,
  star: (x, y, r) =>
    [0, 1, 2]
      .map((i) => {
        const [a, b] = [r * Math.sin((Math.PI * i) / 3), r * Math.cos((Math.PI * i) / 3)];
        return `M${n(x - a)} ${n(y - b)}L${n(x + a)} ${n(y + b)}`;
      })
      .join(''),
  bar: (x, y, r) => `M${n(x - r)} ${n(y)}H${n(x + r)}`,
};

/** The path of a marker around a point. */
export const markerPath = (marker: Marker, x: number, y: number, r: number): string => OUTLINES[marker](x, y, r);
