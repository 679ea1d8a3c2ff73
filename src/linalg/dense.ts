// Dense float64 helpers on row-major Float64Arrays: element (i,j) of an n×m matrix is a[i*m + j].
import { ShapeError } from '../array/errors.ts';

/** Throws a ShapeError unless `a` holds rows×cols numbers. */
export function requireMatrix(op: string, a: Float64Array, rows: number, cols: number): void {
  if (a.length === rows * cols && Number.isInteger(rows) && Number.isInteger(cols)) return;
  throw new ShapeError(`${op}: ${a.length} numbers for ${rows}×${cols}; pass the row-major matrix and its sizes`);
}

/** Σ_{i<n} a[ai+i]·b[bi+i], four partial sums. */
export function dotAt(a: Float64Array, ai: number, b: Float64Array, bi: number, n: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let i = 0;
  for (; i + 3 < n; i += 4) {
    s0 += a[ai + i] * b[bi + i];
    s1 += a[ai + i + 1] * b[bi + i + 1];
    s2 += a[ai + i + 2] * b[bi + i + 2];
    s3 += a[ai + i + 3] * b[bi + i + 3];
  }
  for (; i < n; i++) s0 += a[ai + i] * b[bi + i];
  return s0 + s1 + (s2 + s3);
}

/** y[yi+i] += c·x[xi+i] for i < n. */
export function axpyAt(c: number, x: Float64Array, xi: number, y: Float64Array, yi: number, n: number): void {
  for (let i = 0; i < n; i++) y[yi + i] += c * x[xi + i];
}

/**
 * Identity matrix.
 *
 * @param n size.
 * @returns n×n, row-major.
 * @example identity(2) // [1, 0, 0, 1]
 */
export function identity(n: number): Float64Array {
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++) out[i * n + i] = 1;
  return out;
}

/**
 * Matrix times vector.
 *
 * @param a rows×cols, row-major.
 * @param x vector of `cols` numbers.
 * @param rows number of rows of `a`.
 * @param cols number of columns; default `x.length`.
 * @returns A·x, `rows` numbers.
 * @throws ShapeError when the sizes do not fit.
 * @example matVec(identity(2), x, 2) // a copy of x
 */
export function matVec(a: Float64Array, x: Float64Array, rows: number, cols = x.length): Float64Array {
  requireMatrix('matVec', a, rows, cols);
  requireMatrix('matVec', x, cols, 1);
  const out = new Float64Array(rows);
  for (let i = 0; i < rows; i++) out[i] = dotAt(a, i * cols, x, 0, cols);
  return out;
}

/**
 * Matrix product.
 *
 * @param a n×k, row-major.
 * @param b k×m, row-major.
 * @param n rows of `a`.
 * @param k inner size; default `n`.
 * @param m columns of `b`; default `n`.
 * @returns A·B, n×m.
 * @throws ShapeError when the sizes do not fit.
 * @example matMul(a, b, 3) // two 3×3 matrices
 */
export function matMul(a: Float64Array, b: Float64Array, n: number, k = n, m = n): Float64Array {
  requireMatrix('matMul', a, n, k);
  requireMatrix('matMul', b, k, m);
  const out = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    for (let l = 0; l < k; l++) axpyAt(a[i * k + l], b, l * m, out, i * m, m);
  }
  return out;
}

/**
 * Transpose.
 *
 * @param a rows×cols, row-major.
 * @param rows number of rows.
 * @param cols number of columns; default `rows`.
 * @returns cols×rows, row-major.
 * @throws ShapeError when the sizes do not fit.
 * @example transpose(a, 2, 3) // 3×2
 */
export function transpose(a: Float64Array, rows: number, cols = rows): Float64Array {
  requireMatrix('transpose', a, rows, cols);
  const out = new Float64Array(a.length);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) out[j * rows + i] = a[i * cols + j];
  }
  return out;
}

/**
 * (A + Aᵀ)/2, so that the rounding of single products does not matter.
 *
 * @param a n×n, row-major.
 * @param n size.
 * @returns n×n, exactly symmetric.
 * @throws ShapeError when the size does not fit.
 * @example cholesky(symmetrized(products, n), n)
 */
export function symmetrized(a: Float64Array, n: number): Float64Array {
  requireMatrix('symmetrized', a, n, n);
  return a.map((v, i) => (v + a[(i % n) * n + Math.floor(i / n)]) / 2);
}

/**
 * How far a matrix is from symmetric: max |a_ij − a_ji| / max |a_ij|.
 *
 * @param a n×n, row-major.
 * @param n size.
 * @returns 0 for an exactly symmetric (or zero) matrix.
 * @throws ShapeError when the size does not fit.
 * @example asymmetry(hessian, n) < 1e-12
 */
export function asymmetry(a: Float64Array, n: number): number {
  requireMatrix('asymmetry', a, n, n);
  let gap = 0;
  let scale = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      gap = Math.max(gap, Math.abs(a[i * n + j] - a[j * n + i]));
      scale = Math.max(scale, Math.abs(a[i * n + j]));
    }
  }
  return scale === 0 ? 0 : gap / scale;
}
