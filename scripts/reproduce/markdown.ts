// Tables of Markdown, and numbers over seeds as they stand in them.

import { summarise } from '../../src/ecif/metrics/interval.ts';

/** Mean and standard deviation over seeds. */
export function over(values: readonly number[], digits: number, factor = 1): string {
  if (values.length === 0 || values.some((x) => !Number.isFinite(x))) return '–';
  const { mean, sd } = summarise(values.map((x) => factor * x));
  const text = (x: number): string => (Math.abs(x) >= 1e4 ? x.toExponential(1) : x.toFixed(digits)).replace('-', '−');
  return Number.isNaN(sd) ? text(mean) : `${text(mean)} ± ${text(sd)}`;
}

/** In percent. */
export const percentOver = (values: readonly number[]): string => over(values, 1, 100);

/** A table, numbers to the right. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map((_, i) => (i === 0 ? '---|' : '---:|')).join('')}`, ...rows.map(line)].join('\n');
}
