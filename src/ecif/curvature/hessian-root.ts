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

/** Adds p·⟨√p, w⟩ − √p∘w at the candidates of an anchor; its covariance is diag(p) − p·pᵀ for w of covariance 1. */
function put(into: Float64Array, n: number, { p, first, stride }: Anchor, w: (j: number) => number): void {
  let along = 0;
  for (let j = 0; j < n; j++) {
    const at = first + j * stride;
    const part = Math.sqrt(p[at]) * w(j);
    along += part;
    into[at] -= part;
  }
  for (let j = 0; j < n; j++) into[first + j * stride] += p[first + j * stride] * along;
}

/** Matrices Ŝ (B, B) with Σ weight·vec Ŝ·(vec Ŝ)ᵀ = ∇²L(S). */
export interface HessianRoot {
  readonly weight: number;
  matrices(): Iterable<Float64Array>;
}

/**
 * A root of ∇²L(S) = Σ over anchors, rows and columns, of diag(p) − p·pᵀ.
 *
 * With w of mean 0 and covariance 1 over the candidates, Σ_j w_j·√p_j·(p − e_j) has covariance diag(p) − p·pᵀ, and
 * anchors drawn independently add up: E[vec Ŝ·(vec Ŝ)ᵀ] = ∇²L(S).
 *
 * Drawn: w of random signs, so that an unlikely candidate counts a little in every draw rather than much in few, as it
 * would if targets were drawn from p. Exact: w = e_j for one anchor at a time, 2·B² matrices.
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
        for (const anchor of anchors) put(made, n, anchor, () => (rng.uniform() < 0.5 ? -1 : 1));
        yield made;
      }
    },
  };
}

function* everyTarget(anchors: readonly Anchor[], n: number): Generator<Float64Array> {
  for (const anchor of anchors) {
    for (let target = 0; target < n; target++) {
      const made = new Float64Array(n * n);
      put(made, n, anchor, (j) => (j === target ? 1 : 0));
      yield made;
    }
  }
}
