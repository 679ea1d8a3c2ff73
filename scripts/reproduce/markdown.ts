// Tables of Markdown, and numbers over seeds as they stand in them.

import { summarise } from '../../src/ecif/metrics/interval.ts';

/** Mean and standard deviation over seeds. */
function over(values: readonly number[], digits: number, factor = 1): string {
  if (values.length === 0 || values.some((x) => !Number.isFinite(x))) return '–';
  const { mean, sd } = summarise(values.map((x) => factor * x));
  const text = (x: number): string =>
    (Math.abs(x) < 1e4 ? x.toFixed(Math.abs(x) < 1000 ? digits : 0) : x.toExponential(1)).replace('-', '−');
  return Number.isNaN(sd) ? text(mean) : `${text(mean)} ± ${text(sd)}`;
}

/** The same of a number that each seed has. */
export const overOf = <T>(seeds: readonly T[], pick: (one: T, i: number) => number, digits: number): string =>
  over(seeds.map(pick), digits);

/** In percent. */
export const percentOver = (values: readonly number[]): string => over(values, 1, 100);

/** The same of a share that each seed has. */
export const percentOf = <T>(seeds: readonly T[], pick: (one: T, i: number) => number): string =>
  percentOver(seeds.map(pick));

/** A table, numbers to the right. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map((_, i) => (i === 0 ? '---|' : '---:|')).join('')}`, ...rows.map(line)].join('\n');
}
