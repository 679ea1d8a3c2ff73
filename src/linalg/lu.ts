// LU factorisation with partial pivoting, for indefinite and for nonsymmetric matrices, float64.
import { axpyAt, dotAt, requireMatrix } from './dense.ts';
import { SingularMatrixError } from './errors.ts';

/** An LU factor, made by {@link lu}: rows `order` of A equal L·U. */
export interface Lu {
  readonly n: number;
  /** L below the diagonal (its ones not stored), U on and above it. */
  readonly packed: Float64Array;
  /** Row i of L·U is row order[i] of A. */
  readonly order: Int32Array;
  /** +1 or −1, the parity of `order`. */
  readonly parity: number;
}

/**
 * Factors P·A = L·U with row pivoting.
 *
 * @param a n×n, row-major (not changed).
 * @param n size.
 * @returns the factor, for {@link luSolve} and {@link luLogDet}.
 * @throws SingularMatrixError when a pivot column is zero or not finite.
 * @throws ShapeError when the size does not fit.
 * @example const x = luSolve(lu(a, n), b);
 */
export function lu(a: Float64Array, n: number): Lu {
  requireMatrix('lu', a, n, n);
  const packed = new Float64Array(a);
  const order = Int32Array.from({ length: n }, (_, i) => i);
  let parity = 1;
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (!(Math.abs(packed[i * n + k]) <= Math.abs(packed[best * n + k]))) best = i;
    const pivot = packed[best * n + k];
    if (pivot === 0 || !Number.isFinite(pivot)) {
      const fix = 'add damping, or use minres for a least-squares solution';
      throw new SingularMatrixError(`lu: singular, pivot ${k} of ${n} is ${pivot}; ${fix}`, k);
    }
    if (best !== k) {
      swapRows(packed, n, k, best);
      [order[k], order[best]] = [order[best], order[k]];
      parity = -parity;
    }
    for (let i = k + 1; i < n; i++) {
      const factor = (packed[i * n + k] /= pivot);
      if (factor !== 0) axpyAt(-factor, packed, k * n + k + 1, packed, i * n + k + 1, n - k - 1);
    }
  }
  return { n, packed, order, parity };
}

function swapRows(a: Float64Array, n: number, i: number, j: number): void {
  const row = a.slice(i * n, (i + 1) * n);
  a.copyWithin(i * n, j * n, (j + 1) * n);
  a.set(row, j * n);
}

/**
 * Solves A·x = b with an LU factor.
 *
 * @param factor from {@link lu}.
 * @param b right-hand side, n numbers (not changed).
 * @returns x, n numbers.
 * @throws ShapeError when `b` has another length.
 * @example luSolve(lu(a, 3), b)
 */
export function luSolve(factor: Lu, b: Float64Array): Float64Array {
  const { n, packed, order } = factor;
  requireMatrix('luSolve', b, n, 1);
  const x = new Float64Array(n);
  for (let i = 0; i < n; i++) x[i] = b[order[i]] - dotAt(packed, i * n, x, 0, i);
  for (let i = n - 1; i >= 0; i--) {
    x[i] = (x[i] - dotAt(packed, i * n + i + 1, x, i + 1, n - i - 1)) / packed[i * n + i];
  }
  return x;
}

/**
 * Sign and log of |det A| from an LU factor.
 *
 * @param factor from {@link lu}.
 * @returns `sign` (±1) and `logAbs`.
 * @example luLogDet(lu(identity(2), 2)) // { sign: 1, logAbs: 0 }
 */
export function luLogDet(factor: Lu): { sign: number; logAbs: number } {
  let sign = factor.parity;
  let logAbs = 0;
  for (let i = 0; i < factor.n; i++) {
    const pivot = factor.packed[i * factor.n + i];
    if (pivot < 0) sign = -sign;
    logAbs += Math.log(Math.abs(pivot));
  }
  return { sign, logAbs };
}
