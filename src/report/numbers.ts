// Numbers as a reader sees them: few digits, powers of ten in Unicode, a true minus sign.

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** 10ⁿ. */
export const powerOfTen = (n: number): string =>
  `10${String(n).replace(/[-\d]/g, (digit) => (digit === '-' ? '⁻' : SUPERSCRIPTS[Number(digit)]))}`;

/** A true minus in place of a hyphen. */
export const withMinus = (text: string): string => text.replace(/^-/, '−');

/**
 * A number in three digits, as m·10ⁿ where it is far from one; – for none.
 * @example formatNumber(1.5e-7); // '1.5·10⁻⁷'
 */
export function formatNumber(x: number | null): string {
  if (x === null || Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  if (x === 0) return '0';
  if (Math.abs(x) >= 1e-3 && Math.abs(x) < 1e4) return withMinus(String(Number(x.toPrecision(3))));
  const [mantissa, exponent] = x.toExponential(1).split('e');
  return withMinus(`${mantissa}·${powerOfTen(Number(exponent))}`);
}
