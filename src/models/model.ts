// The seam between models and everything that is computed of them.

import { add, mul } from '../autodiff/ops/binary.ts';
import { contrastive } from '../autodiff/ops/contrastive.ts';
import { matmul } from '../autodiff/ops/matmul.ts';
import { sum } from '../autodiff/ops/reduce.ts';
import type { Tensor } from '../autodiff/tensor.ts';
import type { Tap } from './tap.ts';

/** So low that its exponential is 0. */
export const FAR = -1e30;

/** Embeddings of a batch: `u` of the texts, `v` of the images, (B, d) each, row k of both from pair k. */
export interface Embeddings {
  readonly u: Tensor;
  readonly v: Tensor;
  /** Added to S, (B, B): 0, or {@link FAR} where a text and an image do not meet; they all do unless given. */
  readonly unmet?: Tensor | undefined;
}

/** Anything that embeds a batch of pairs, in ops, as a function of its parameters. */
export interface Model<T, B> {
  /** @param tap is shown the linear maps of trained matrices */
  embed(theta: T, batch: B, tap?: Tap): Embeddings;
  /** Factor of ⟨u_i, v_j⟩ in the similarity: 1/τ as a number, or as a scalar made of trained parameters. */
  scale(theta: T): number | Tensor;
}

/** Pairs as features: row k of `text` belongs to row k of `image`. */
export interface PairBatch {
  readonly text: Tensor;
  readonly image: Tensor;
}

/**
 * Embeddings of a batch and S_ij = s(u_i, v_j), (B, B), already divided by the temperature.
 * @eq eq-similarity
 */
export function embedded<T, B>(
  model: Model<T, B>,
  theta: T,
  batch: B,
  tap?: Tap,
): Readonly<Record<'u' | 'v' | 's', Tensor>> {
  const { u, v, unmet } = model.embed(theta, batch, tap);
  const scale = model.scale(theta);
  if (typeof scale === 'number') return { u, v, s: matmul(u, v, { form: 'nt', alpha: scale, addend: unmet }) };
  const s = mul(matmul(u, v, { form: 'nt' }), scale);
  return { u, v, s: unmet === undefined ? s : add(s, unmet) };
}

/** S of a batch. */
export const similarities = <T, B>(model: Model<T, B>, theta: T, batch: B, tap?: Tap): Tensor =>
  embedded(model, theta, batch, tap).s;

/** Σ of L_Batch over similarities (…, B, B). */
export const lossOn = (s: Tensor): Tensor => (s.shape.length > 2 ? sum(contrastive(s)) : contrastive(s));

/**
 * L_Batch = Σ_k [LSE_j S_kj − S_kk] + [LSE_j S_jk − S_kk].
 * @eq eq-batch-loss
 */
export const batchLoss = <T, B>(model: Model<T, B>, theta: T, batch: B): Tensor =>
  lossOn(similarities(model, theta, batch));
