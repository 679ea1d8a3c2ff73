// How far from its mean a number of few degrees of freedom may lie.

import { EcifError } from './errors.ts';

/**
 * Refuses what is no probability.
 * @throws EcifError
 */
export function requireLevel(level: number): void {
  if (!(level > 0 && level < 1)) throw new EcifError(`level = ${level}; give a probability between 0 and 1`);
}

/** P(|T| < √df·tan θ) for Student's T with df degrees of freedom, a whole number: a finite sum of powers of cos θ. */
function insideStudent(theta: number, df: number): number {
  const [sine, cosine] = [Math.sin(theta), Math.cos(theta)];
  const odd = df % 2 === 1;
  let term = odd ? cosine : 1;
  let sum = df === 1 ? 0 : term;
  for (let power = odd ? 3 : 2; power <= df - 2; power += 2) {
    term *= ((power - 1) / power) * cosine ** 2;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (theta + sine * sum) : sine * sum;
}

/**
 * The t with P(|T| < t) = level, T Student's with `df` degrees of freedom.
 * @example studentFactor(0.95, 4); // 2.776
 */
export function studentFactor(level: number, df: number): number {
  requireLevel(level);
  if (!(Number.isSafeInteger(df) && df >= 1)) {
    throw new EcifError(`degrees of freedom = ${df}; give a whole number ≥ 1`);
  }
  let [low, high] = [0, Math.PI / 2];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (insideStudent(middle, df) < level) low = middle;
    else high = middle;
  }
  return Math.sqrt(df) * Math.tan((low + high) / 2);
}
