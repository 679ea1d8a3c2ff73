// A small two-tower model: one hidden layer for pictures, one for captions, both ending on the unit sphere.

import type { Rng } from '../array/rng.ts';
import { linear } from '../autodiff/ops/matmul.ts';
import { l2Normalize } from '../autodiff/ops/normalize.ts';
import { type Tensor, tensor } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import type { Model, PairBatch } from './model.ts';

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

/**
 * The model: cosines of both towers' embeddings over the temperature.
 * @param temperature τ > 0
 */
export const twoTower = (temperature: number): Model<TwoTower, PairBatch> => ({
  embed: (theta, { text, image }) => ({ u: tower(text, theta.text), v: tower(image, theta.image) }),
  scale: () => 1 / temperature,
});
