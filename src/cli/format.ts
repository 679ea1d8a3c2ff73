// Numbers and tables as text for people.

/** A byte count in the largest binary unit that keeps it ≥ 1. */
export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  const step = Math.min(units.length - 1, n < 1 ? 0 : Math.floor(Math.log2(n) / 10));
  const value = n / 1024 ** step;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[step]}`;
}

/** A fraction as a percentage. */
export const percent = (x: number): string => `${(100 * x).toFixed(1)}%`;

/** Two columns, the first one aligned. */
export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`).join('\n');
}

/** Columns, the first one to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  const cell = (text: string, i: number): string => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]));
  return rows.map((row) => row.map(cell).join('  ')).join('\n');
}
