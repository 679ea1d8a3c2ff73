// Matrices whose outer products make up ∇²L(S), exactly or in expectation.

import type { Rng } from '../../array/rng.ts';
import { permute } from '../../autodiff/ops/layout.ts';
import { softmax } from '../../autodiff/ops/softmax.ts';
import { disposeTree, readAll, scope, type Tensor } from '../../autodiff/tensor.ts';
import type { HostArray } from '../../device/device.ts';

/** Where the candidates of an anchor lie in S, and their probabilities. */
interface Anchor {
  readonly p: HostArray;
  readonly first: number;
  readonly stride: number;
}

/** Rows and columns of S (B, B) as anchors. */
async function anchorsOf(s: Tensor): Promise<Anchor[]> {
  const n = s.shape[0];
  const made = scope(() => [softmax(s), permute(softmax(permute(s)))]);
  const [rows, columns] = await readAll(made);
  disposeTree(made);
  return Array.from({ length: 2 * n }, (_, k) =>
    k < n ? { p: rows, first: k * n, stride: 1 } : { p: columns, first: k - n, stride: n },
  );
}

/** Adds factor·(p − e_j) at the candidates of an anchor. */
function put(into: Float64Array, n: number, { p, first, stride }: Anchor, j: number, factor: number): void {
  for (let i = 0; i < n; i++) into[first + i * stride] += factor * (p[first + i * stride] - (i === j ? 1 : 0));
}

/** A candidate of an anchor with its probability. */
function drawTarget({ p, first, stride }: Anchor, n: number, rng: Rng): number {
  let left = rng.uniform();
  for (let j = 0; j < n; j++) {
    left -= p[first + j * stride];
    if (left < 0) return j;
  }
  return n - 1;
}

/** Matrices Ŝ (B, B) with Σ weight·vec Ŝ·(vec Ŝ)ᵀ = ∇²L(S). */
export interface HessianRoot {
  readonly weight: number;
  matrices(): Iterable<Float64Array>;
}

/**
 * A root of ∇²L(S) = Σ over anchors, rows and columns, of diag(p) − p·pᵀ.
 *
 * Drawn: every anchor draws a target j ~ p and p − e_j takes its place in Ŝ. These have mean 0 and covariance
 * diag(p) − p·pᵀ, and different anchors are independent, so that E[vec Ŝ·(vec Ŝ)ᵀ] = ∇²L(S).
 *
 * Exact: one matrix √p_j·(p − e_j) for each anchor and target, 2·B² of them.
 */
export async function hessianRoot(s: Tensor, draws: number | 'exact', rng: Rng): Promise<HessianRoot> {
  const n = s.shape[0];
  const anchors = await anchorsOf(s);
  if (draws === 'exact') return { weight: 1, matrices: () => everyTarget(anchors, n) };
  return {
    weight: 1 / draws,
    *matrices() {
      for (let i = 0; i < draws; i++) {
        const made = new Float64Array(n * n);
        for (const anchor of anchors) put(made, n, anchor, drawTarget(anchor, n, rng), 1);
        yield made;
      }
    },
  };
}

function* everyTarget(anchors: readonly Anchor[], n: number): Generator<Float64Array> {
  for (const anchor of anchors) {
    for (let j = 0; j < n; j++) {
      const made = new Float64Array(n * n);
      put(made, n, anchor, j, Math.sqrt(anchor.p[anchor.first + j * anchor.stride]));
      yield made;
    }
  }
}
