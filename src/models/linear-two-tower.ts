// Two linear towers with cosine similarity: the smallest model whose contrastive loss is not convex.

import type { Rng } from '../array/rng.ts';
import { matmul } from '../autodiff/ops/matmul.ts';
import { l2Normalize } from '../autodiff/ops/normalize.ts';
import { type Tensor, tensor } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import type { Model, PairBatch } from './model.ts';

/** The parameters: `text` (text features, d) and `image` (image features, d). */
export interface LinearTwoTower {
  readonly text: Tensor;
  readonly image: Tensor;
}

/**
 * S_ij = cos(A·x_i, B·y_j)/τ. The loss does not change with the lengths of A and B: weight decay needs a centre.
 * @eq eq-similarity
 * @eq erratum-12-no-minimiser
 * @param temperature τ > 0
 * @example const model = linearTwoTower(0.07);
 */
export const linearTwoTower = (temperature: number): Model<LinearTwoTower, PairBatch> => ({
  embed: (theta, batch, tap) => {
    const tower = (side: 'text' | 'image'): Tensor => {
      const y = matmul(batch[side], theta[side]);
      return l2Normalize(tap === undefined ? y : tap(side, batch[side], y, 'in-out'));
    };
    return { u: tower('text'), v: tower('image') };
  },
  scale: () => 1 / temperature,
});

/** Normal parameters of variance 1/features; equal seeds give equal ones. */
export function initLinearTwoTower(
  device: Device,
  rng: Rng,
  sizes: { readonly text: number; readonly image: number; readonly shared: number },
): LinearTwoTower {
  const normal = (features: number): Tensor =>
    tensor(
      device,
      Float64Array.from({ length: features * sizes.shared }, () => rng.normal() / Math.sqrt(features)),
      [features, sizes.shared],
    );
  return { text: normal(sizes.text), image: normal(sizes.image) };
}
