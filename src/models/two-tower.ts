// A small two-tower model: one hidden layer for pictures, one for captions, both ending on the unit sphere.

import type { Rng } from '../array/rng.ts';
import { contrastive } from '../autodiff/ops/contrastive.ts';
import { linear, matmul } from '../autodiff/ops/matmul.ts';
import { l2Normalize } from '../autodiff/ops/normalize.ts';
import { type Tensor, tensor } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import type { Embeddings, PairBatch } from './model.ts';

/** Sizes of {@link initTwoTower}. */
export interface TwoTowerSizes {
  /** Features of a caption. */
  readonly text: number;
  /** Values of a picture. */
  readonly image: number;
  readonly hidden: number;
  /** Length of the embeddings both towers share. */
  readonly shared: number;
}

/** One tower: in → hidden → shared. */
export interface Tower {
  /** (hidden, in) */
  readonly w1: Tensor;
  /** (hidden) */
  readonly b1: Tensor;
  /** (shared, hidden) */
  readonly w2: Tensor;
}

/** The parameters. */
export interface TwoTower {
  readonly text: Tower;
  readonly image: Tower;
}

function initTower(device: Device, rng: Rng, input: number, { hidden, shared }: TwoTowerSizes): Tower {
  const normal = (out: number, fanIn: number): Tensor =>
    tensor(
      device,
      Float64Array.from({ length: out * fanIn }, () => rng.normal() / Math.sqrt(fanIn)),
      [out, fanIn],
    );
  return { w1: normal(hidden, input), b1: tensor(device, new Float64Array(hidden)), w2: normal(shared, hidden) };
}

/** Random parameters; equal seeds give equal ones. */
export function initTwoTower(device: Device, rng: Rng, sizes: TwoTowerSizes): TwoTower {
  return {
    text: initTower(device, rng.fork(1), sizes.text, sizes),
    image: initTower(device, rng.fork(2), sizes.image, sizes),
  };
}

const tower = (x: Tensor, { w1, b1, w2 }: Tower): Tensor =>
  l2Normalize(linear(linear(x, w1, { bias: b1, act: 'gelu' }), w2));

/** The model: embeddings of a batch of pairs. */
export function embed(theta: TwoTower, batch: PairBatch): Embeddings {
  return { u: tower(batch.text, theta.text), v: tower(batch.image, theta.image) };
}

/** S_ij = ⟨u_i, v_j⟩/τ, (B, B). */
export const similarities = ({ u, v }: Embeddings, temperature: number): Tensor =>
  matmul(u, v, { form: 'nt', alpha: 1 / temperature });

/** Contrastive loss of a batch, summed over its pairs and both directions. */
export const batchLoss = (theta: TwoTower, batch: PairBatch, temperature: number): Tensor =>
  contrastive(similarities(embed(theta, batch), temperature));
