// The seam between models and everything that is computed of them.

import type { Tensor } from '../autodiff/tensor.ts';

/** Embeddings of a batch: `u` of the texts, `v` of the images, (B, d) each, row k of both from pair k. */
export interface Embeddings {
  readonly u: Tensor;
  readonly v: Tensor;
}

/** Anything that embeds a batch of pairs, in ops, as a function of its parameters. */
export interface Model<T, B> {
  embed(theta: T, batch: B): Embeddings;
  /** Factor of ⟨u_i, v_j⟩ in the similarity: 1/τ as a number, or as a scalar made of trained parameters. */
  scale(theta: T): number | Tensor;
}

/** Pairs as features: row k of `text` belongs to row k of `image`. */
export interface PairBatch {
  readonly text: Tensor;
  readonly image: Tensor;
}
