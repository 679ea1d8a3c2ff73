// A curvature with the outer products of a few vectors added, inverted by Woodbury's formula.

import type { Rng } from '../../array/rng.ts';
import { keep } from '../../autodiff/tensor.ts';
import { cholesky, choleskySolve } from '../../linalg/cholesky.ts';
import { axpyAt, dotAt } from '../../linalg/dense.ts';
import { treeSpace } from '../../linalg/tree-space.ts';
import type { Draw } from './draws.ts';

/**
 * Vectors v with E[Σ v·vᵀ] the Gauss-Newton matrix: drawn gradients, added up with random signs beyond a number of them.
 */
export class Directions<T> {
  readonly #space = treeSpace<T>();
  readonly #most: number;
  readonly #rng: Rng;
  #count = 0;
  readonly vectors: T[] = [];

  constructor(most: number, rng: Rng) {
    [this.#most, this.#rng] = [most, rng];
  }

  /** Takes in a gradient; its tensors stay the caller's. */
  add({ gradient, weight }: Draw<T>): void {
    if (this.#most === 0) return;
    const factor = (this.#rng.uniform() < 0.5 ? -1 : 1) * Math.sqrt(weight);
    const slot = this.#count++ % this.#most;
    const before = this.vectors.at(slot);
    if (before === undefined) {
      this.vectors.push(keep(this.#space.combine([factor], [gradient])));
      return;
    }
    this.vectors[slot] = keep(this.#space.combine([1, factor], [before, gradient]));
    this.#space.release(before);
  }

  dispose(): void {
    this.#space.release(...this.vectors);
  }
}

/**
 * How much the mean over m drawn vectors should count beside an estimate that errs by half of the matrix: so much that
 * the expected square of the error is least. That of the mean is ‖M‖²·(r + 1)/m, r = (tr M)²/‖M‖² being the effective rank, which
 * the products of different vectors tell.
 */
export function shareOf(vectors: readonly Float64Array[]): number {
  const m = vectors.length;
  if (m < 2) return 0;
  let [trace, squares] = [0, 0];
  vectors.forEach((v, i) => {
    trace += dotAt(v, 0, v, 0, v.length);
    for (let j = 0; j < i; j++) squares += 2 * dotAt(v, 0, vectors[j], 0, v.length) ** 2;
  });
  if (!(squares > 0)) return 0;
  const rank = (trace * trace * (m - 1)) / (squares * m);
  return 0.5 / (0.5 + (rank + 1) / m);
}

type Solve = (b: Float64Array) => Promise<Float64Array>;

/** b ↦ (M + share·Σ v·vᵀ)⁻¹·b from b ↦ M⁻¹·b. */
export async function withDirections(solve: Solve, vectors: readonly Float64Array[], share: number): Promise<Solve> {
  if (share === 0) return solve;
  const m = vectors.length;
  const solved: Float64Array[] = [];
  for (const v of vectors) solved.push(await solve(v));
  const small = new Float64Array(m * m);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j <= i; j++) small[i * m + j] = dotAt(vectors[i], 0, solved[j], 0, vectors[i].length);
  }
  const factor = cholesky(small, m, 1 / share);
  return async (b) => {
    const x = await solve(b);
    const along = Float64Array.from(vectors, (v) => dotAt(v, 0, x, 0, x.length));
    choleskySolve(factor, along).forEach((c, i) => axpyAt(-c, solved[i], 0, x, 0, x.length));
    return x;
  };
}
