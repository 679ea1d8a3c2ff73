// The bilinear model S = X·W·Yᵀ/τ: its contrastive loss is convex in W.

import { matmul } from '../autodiff/ops/matmul.ts';
import type { Tensor } from '../autodiff/tensor.ts';
import type { Model, PairBatch } from './model.ts';

/** The one parameter: `w` (text features, image features). */
export interface Bilinear {
  readonly w: Tensor;
}

/**
 * S_ij = x_iᵀ·W·y_j/τ.
 * @deviation no cosine: S is linear in W and the loss convex, so that minimisers exist and are unique
 * @param temperature τ > 0
 * @example const model = bilinear(0.07);
 */
export const bilinear = (temperature: number): Model<Bilinear, PairBatch> => ({
  embed: ({ w }, { text, image }, tap) => {
    const u = matmul(text, w);
    return { u: tap === undefined ? u : tap('w', text, u, 'in-out'), v: image };
  },
  scale: () => 1 / temperature,
});
