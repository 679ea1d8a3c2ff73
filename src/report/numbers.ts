// Numbers as a reader sees them: few digits, powers of ten in Unicode, a true minus sign.

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** 10ⁿ. */
export const powerOfTen = (n: number): string =>
  `10${String(n).replace(/[-\d]/g, (digit) => (digit === '-' ? '⁻' : SUPERSCRIPTS[Number(digit)]))}`;

/** A true minus in place of a hyphen. */
export const withMinus = (text: string): string => text.replace(/^-/, '−');

/**
 * A number in three digits unless told, as m·10ⁿ where it is far from one; – for none.
 * @example formatNumber(1.5e-7); // '1.5·10⁻⁷'
 */
export function formatNumber(x: number | null, digits = 3): string {
  if (x === null || Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  if (x === 0) return '0';
  if (Math.abs(x) >= 1e-3 && Math.abs(x) < 1e4) return withMinus(String(Number(x.toPrecision(digits))));
  const [mantissa, exponent] = x.toExponential(1).split('e');
  return withMinus(`${mantissa}·${powerOfTen(Number(exponent))}`);
}

/** A number of things. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** A share in percent; – for none. */
export const formatPercent = (x: number | null): string =>
  x === null || !Number.isFinite(x) ? '–' : withMinus(`${(100 * x).toFixed(1)}\u00a0%`);

/** A time in the units people would say it in. */
export function formatSeconds(seconds: number): string {
  if (!(seconds >= 60)) return `${formatNumber(seconds)}\u00a0s`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hours > 0 ? `${hours}\u00a0h ${minutes}\u00a0min` : `${minutes}\u00a0min ${rest}\u00a0s`;
}
