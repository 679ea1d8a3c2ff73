// Special functions in float64.

const TWO_OVER_SQRT_PI = 2 / Math.sqrt(Math.PI);

/** erf by its all-positive series: erf x = 2/√π · e^{−x²} · Σ 2ⁿ x^{2n+1} / (2n+1)!!. */
function erfSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return TWO_OVER_SQRT_PI * Math.exp(-x * x) * sum;
}

/** erfc for x ≥ 2.5 by its continued fraction, evaluated from the far end. */
function erfcFraction(x: number): number {
  let f = x;
  for (let n = 60; n >= 1; n--) f = x + n / 2 / f;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * f);
}

/** The error function, to about 1e-15. */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (a === 0 || Number.isNaN(x)) return x;
  const value = a < 2.5 ? erfSeries(a) : a > 6 ? 1 : 1 - erfcFraction(a);
  return x < 0 ? -value : value;
}

/** Density of the standard normal. */
export const normalPdf = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** Distribution function of the standard normal. */
export const normalCdf = (x: number): number => (1 + erf(x / Math.SQRT2)) / 2;

/** Logistic function without overflow. */
export const logistic = (x: number): number => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));

/** Slope of the logistic function in quickGelu. */
export const QUICK = 1.702;
