// Cholesky factorisation A = L·Lᵀ of a symmetric positive definite matrix, float64.
import { axpyAt, dotAt, requireMatrix } from './dense.ts';
import { NotPositiveDefiniteError } from './errors.ts';

/** A Cholesky factor, made by {@link cholesky}. */
export interface Cholesky {
  readonly n: number;
  /** Lower triangle L, row-major n×n, zeros above the diagonal. */
  readonly lower: Float64Array;
}

/**
 * Factors A = L·Lᵀ. Only the lower triangle of `a` is read.
 *
 * @param a n×n symmetric, row-major.
 * @param n size.
 * @param shift adds shift·I before factoring; default 0.
 * @returns the factor, for the functions below.
 * @throws NotPositiveDefiniteError with the first pivot that is not positive (or not a number).
 * @throws ShapeError when the size does not fit.
 * @example const x = choleskySolve(cholesky(hessian, n), gradient);
 */
export function cholesky(a: Float64Array, n: number, shift = 0): Cholesky {
  requireMatrix('cholesky', a, n, n);
  const lower = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      lower[i * n + j] = (a[i * n + j] - dotAt(lower, i * n, lower, j * n, j)) / lower[j * n + j];
    }
    const pivot = a[i * n + i] + shift - dotAt(lower, i * n, lower, i * n, i);
    if (!(pivot > 0 && pivot < Infinity)) {
      const fix = 'add damping, or use luSolve or minres for an indefinite matrix';
      const message = `cholesky: not positive definite, pivot ${i} of ${n} is ${pivot}; ${fix}`;
      throw new NotPositiveDefiniteError(message, i, pivot);
    }
    lower[i * n + i] = Math.sqrt(pivot);
  }
  return { n, lower };
}

/**
 * Solves A·x = b with a Cholesky factor.
 *
 * @param factor from {@link cholesky}.
 * @param b right-hand side, n numbers (not changed).
 * @returns x, n numbers.
 * @throws ShapeError when `b` has another length.
 * @example choleskySolve(cholesky(a, 3), b)
 */
export function choleskySolve(factor: Cholesky, b: Float64Array): Float64Array {
  const { n, lower } = factor;
  requireMatrix('choleskySolve', b, n, 1);
  const x = new Float64Array(b);
  for (let i = 0; i < n; i++) x[i] = (x[i] - dotAt(lower, i * n, x, 0, i)) / lower[i * n + i];
  for (let i = n - 1; i >= 0; i--) {
    x[i] /= lower[i * n + i];
    axpyAt(-x[i], lower, i * n, x, 0, i);
  }
  return x;
}

/**
 * A⁻¹ from a Cholesky factor.
 *
 * @param factor from {@link cholesky}.
 * @returns n×n, exactly symmetric.
 * @example choleskyInverse(cholesky(a, 3))
 */
export function choleskyInverse(factor: Cholesky): Float64Array {
  const { n, lower } = factor;
  const inverse = new Float64Array(n * n); // L⁻¹, lower triangle, row by row
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) axpyAt(-lower[i * n + k], inverse, k * n, inverse, i * n, k + 1);
    for (let j = 0; j < i; j++) inverse[i * n + j] /= lower[i * n + i];
    inverse[i * n + i] = 1 / lower[i * n + i];
  }
  const out = new Float64Array(n * n); // L⁻ᵀ·L⁻¹ = Σ_k (row k)ᵀ(row k)
  for (let k = 0; k < n; k++) {
    for (let i = 0; i <= k; i++) axpyAt(inverse[k * n + i], inverse, k * n, out, i * n, i + 1);
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) out[j * n + i] = out[i * n + j];
  return out;
}

/**
 * log det A from a Cholesky factor.
 *
 * @param factor from {@link cholesky}.
 * @returns 2·Σ log L_ii.
 * @example choleskyLogDet(cholesky(identity(3), 3)) // 0
 */
export function choleskyLogDet(factor: Cholesky): number {
  let sum = 0;
  for (let i = 0; i < factor.n; i++) sum += Math.log(factor.lower[i * factor.n + i]);
  return 2 * sum;
}
