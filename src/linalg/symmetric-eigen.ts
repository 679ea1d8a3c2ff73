// Symmetric eigendecomposition: Householder tridiagonalisation, then implicitly shifted QR, float64.
import { NumericsError } from '../array/errors.ts';
import { axpyAt, dotAt, requireMatrix } from './dense.ts';

/** A = Σ_k values[k]·v_k·v_kᵀ, made by {@link symmetricEigen}. */
export interface SymmetricEigen {
  readonly n: number;
  /** Eigenvalues, ascending. */
  readonly values: Float64Array;
  /** Row k is the unit eigenvector of values[k]: `vectors.subarray(k * n, (k + 1) * n)`. */
  readonly vectors: Float64Array;
}

/**
 * All eigenvalues and orthonormal eigenvectors. Only the lower triangle of `a` is read.
 *
 * @param a n×n symmetric, row-major (not changed).
 * @param n size.
 * @returns eigenvalues ascending, eigenvectors as rows.
 * @throws NumericsError when an entry is not finite.
 * @throws ShapeError when the size does not fit.
 * @example const smallest = symmetricEigen(hessian, n).values[0];
 */
export function symmetricEigen(a: Float64Array, n: number): SymmetricEigen {
  requireMatrix('symmetricEigen', a, n, n);
  const work = new Float64Array(n * n);
  let largest = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const x = a[i * n + j];
      if (!Number.isFinite(x)) {
        throw new NumericsError(`symmetricEigen: entry (${i},${j}) is ${x}; the matrix must be finite`);
      }
      largest = Math.max(largest, Math.abs(x));
    }
  }
  const scale = largest === 0 ? 1 : largest;
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) work[i * n + j] = work[j * n + i] = a[i * n + j] / scale;
  const { diagonal, off, rows } = tridiagonalize(work, n);
  diagonalizeTridiagonal(diagonal, off, rows, n);
  const order = Array.from(diagonal.keys()).sort((i, j) => diagonal[i] - diagonal[j]);
  const vectors = new Float64Array(n * n);
  order.forEach((from, to) => vectors.set(rows.subarray(from * n, (from + 1) * n), to * n));
  return { n, values: Float64Array.from(order, (i) => diagonal[i] * scale), vectors };
}

/** A = Q·T·Qᵀ by Householder reflections I − β·v·vᵀ; returns T's diagonals and Qᵀ. Destroys `a`. */
function tridiagonalize(a: Float64Array, n: number) {
  const diagonal = new Float64Array(n);
  const off = new Float64Array(n);
  const betas = new Float64Array(n);
  const w = new Float64Array(n);
  for (let k = 0; k + 2 < n; k++) {
    const head = k * n + k + 1; // v is stored in row k, columns k+1…n−1
    const m = n - k - 1;
    const tail = dotAt(a, head + 1, a, head + 1, m - 1);
    if (tail === 0) continue;
    const norm = Math.sqrt(a[head] * a[head] + tail);
    const alpha = a[head] > 0 ? -norm : norm; // opposite sign: no cancellation in v₀
    const v0 = a[head] - alpha;
    a[head] = v0;
    const beta = 2 / (v0 * v0 + tail);
    for (let i = 0; i < m; i++) w[i] = beta * dotAt(a, (k + 1 + i) * n + k + 1, a, head, m);
    axpyAt(-0.5 * beta * dotAt(w, 0, a, head, m), a, head, w, 0, m);
    for (let i = 0; i < m; i++) {
      const row = (k + 1 + i) * n + k + 1;
      axpyAt(-a[head + i], w, 0, a, row, m);
      axpyAt(-w[i], a, head, a, row, m);
    }
    off[k] = alpha;
    betas[k] = beta;
  }
  for (let k = 0; k < n; k++) diagonal[k] = a[k * n + k];
  for (let k = 0; k + 1 < n; k++) if (betas[k] === 0) off[k] = a[k * n + k + 1];
  const rows = new Float64Array(n * n); // Qᵀ = H_{n−3}…H_0, built right to left so that row i stays short
  for (let i = 0; i < n; i++) rows[i * n + i] = 1;
  for (let k = n - 3; k >= 0; k--) {
    if (betas[k] === 0) continue;
    const m = n - k - 1;
    for (let i = k + 1; i < n; i++) {
      const c = -betas[k] * dotAt(rows, i * n + k + 1, a, k * n + k + 1, m);
      axpyAt(c, a, k * n + k + 1, rows, i * n + k + 1, m);
    }
  }
  return { diagonal, off, rows };
}

/**
 * Diagonalises a symmetric tridiagonal matrix in place by implicit QR with Wilkinson's shift; off[k] couples k and
 * k+1. Each rotation also turns rows k and k+1 of `rows` (n×width): start from Qᵀ to get eigenvectors as rows, from a
 * single column e_j to get only component j of each eigenvector. Eigenvalues come unsorted in `diagonal`.
 */
export function diagonalizeTridiagonal(
  diagonal: Float64Array,
  off: Float64Array,
  rows: Float64Array,
  width: number,
): void {
  let budget = 40 * diagonal.length;
  for (let hi = diagonal.length - 1; hi > 0;) {
    let lo = hi;
    while (lo > 0 && !negligible(diagonal, off, lo - 1)) lo--;
    if (lo > 0) off[lo - 1] = 0;
    if (lo === hi) {
      hi--;
      continue;
    }
    if (budget-- === 0) {
      throw new NumericsError(`symmetricEigen: no convergence at index ${hi}; check the matrix for NaN or overflow`);
    }
    qrStep(diagonal, off, rows, width, lo, hi);
  }
}

function negligible(d: Float64Array, e: Float64Array, k: number): boolean {
  return Math.abs(e[k]) <= Number.EPSILON * 0.5 * (Math.abs(d[k]) + Math.abs(d[k + 1])) || Math.abs(e[k]) < 1e-300;
}

/** One bulge-chasing step on the unreduced block lo…hi. */
function qrStep(d: Float64Array, e: Float64Array, rows: Float64Array, width: number, lo: number, hi: number): void {
  const half = (d[hi - 1] - d[hi]) / 2;
  const last = e[hi - 1];
  const shift = d[hi] - last * (last / (half + (half >= 0 ? 1 : -1) * Math.hypot(half, last)));
  let x = d[lo] - shift;
  let bulge = e[lo];
  for (let k = lo; k < hi; k++) {
    const r = Math.hypot(x, bulge);
    const c = r === 0 ? 1 : x / r;
    const s = r === 0 ? 0 : bulge / r;
    if (k > lo) e[k - 1] = r;
    const gap = d[k] - d[k + 1];
    const move = s * (s * gap - 2 * c * e[k]);
    e[k] = -c * s * gap + (c * c - s * s) * e[k];
    d[k] -= move;
    d[k + 1] += move;
    x = e[k];
    if (k + 1 < hi) {
      bulge = s * e[k + 1];
      e[k + 1] *= c;
    }
    rotateRows(rows, width, k, c, s);
  }
}

function rotateRows(rows: Float64Array, width: number, k: number, c: number, s: number): void {
  const first = k * width;
  const second = first + width;
  for (let i = 0; i < width; i++) {
    const p = rows[first + i];
    const q = rows[second + i];
    rows[first + i] = c * p + s * q;
    rows[second + i] = c * q - s * p;
  }
}
