// The curvature of A and B together where W = scale·B·A, from Kronecker factors and the gradient of W.

import { matMul, transpose } from '../../linalg/dense.ts';
import type { ComposedMeasures } from './composed.ts';

/** A (rank, in) and B (out, rank), row-major, and what is known of W. */
export interface ComposedPoint extends Pick<ComposedMeasures, 'rows' | 'columns' | 'gradient' | 'scale'> {
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly rank: number;
}

/** How much of either part there is. */
interface Shares {
  readonly gaussNewton: number;
  readonly coupling: number;
}

/** A symmetric matrix into which Kronecker products are put. */
interface Target {
  readonly into: Float64Array;
  readonly n: number;
}

/** Puts scale·P ⊗ Q on the diagonal, from row `first` on. */
function putKronecker({ into, n }: Target, first: number, scale: number, p: Float64Array, q: Float64Array): void {
  const [rows, width] = [Math.sqrt(p.length), Math.sqrt(q.length)];
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < rows; k++) {
      const factor = scale * p[i * rows + k];
      for (let j = 0; j < width; j++) {
        const at = (first + i * width + j) * n + first + k * width;
        for (let l = 0; l < width; l++) into[at + l] = factor * q[j * width + l];
      }
    }
  }
}

/**
 * Jᵀ·K·J + coupling for the vector of A, then B, without δ.
 *
 * J(dA, dB) = scale·(B·dA + dB·A), and K = rows ⊗ columns/tr, the Kronecker product with the traces of E[vec Ĝ·(vec Ĝ)ᵀ] over
 * either side. The coupling is what the Hessian of L(W(A, B)) has beyond Jᵀ·∇²L(W)·J: (dA, dB) ↦ scale·(dBᵀ·G, G·dAᵀ).
 * @returns the lower triangle, row-major; the upper one is zero between A and B
 */
export function composedBlock(point: ComposedPoint, { gaussNewton, coupling }: Shares): Float64Array {
  const { a, b, rank, scale, rows, columns, gradient } = point;
  const [into, out] = [a.length / rank, b.length / rank];
  const n = a.length + b.length;
  const target = { into: new Float64Array(n * n), n };
  let trace = 0;
  for (let i = 0; i < out; i++) trace += rows[i * (out + 1)];
  const factor = trace > 0 ? (gaussNewton * scale * scale) / trace : 0;
  const br = matMul(transpose(b, out, rank), rows, rank, out, out);
  const ac = matMul(a, columns, rank, into, into);
  putKronecker(target, 0, factor, matMul(br, b, rank, out, rank), columns);
  putKronecker(target, a.length, factor, rows, matMul(ac, transpose(a, rank, into), rank, into, rank));
  for (let i = 0; i < out; i++) {
    for (let k = 0; k < rank; k++) {
      const row = (a.length + i * rank + k) * n;
      for (let l = 0; l < rank; l++) {
        const along = factor * br[l * out + i];
        for (let j = 0; j < into; j++) target.into[row + l * into + j] = along * ac[k * into + j];
      }
      if (gradient === null) continue;
      for (let j = 0; j < into; j++) target.into[row + k * into + j] += coupling * scale * gradient[i * into + j];
    }
  }
  return target.into;
}
