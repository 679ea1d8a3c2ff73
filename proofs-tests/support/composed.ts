// A bilinear model whose matrix is the product of two: S = X·(scale·B·A)ᵀ·Yᵀ.

import { CpuDevice } from '../../src/device/cpu.ts';
import * as ecif from '../../src/index.ts';
import { normals } from './linalg.ts';
import type { Streamed } from './streamed.ts';

/** `a` (rank, text features) and `b` (image features, rank). */
export interface Factors {
  readonly a: ecif.Tensor;
  readonly b: ecif.Tensor;
}

/** The factor of B·A, sizes, and the number of pairs. */
export const COMPOSED = { scale: 1.5, rank: 2, text: 3, image: 4, pairs: 7 };

/** The model, both of its maps shown to the tap. */
export const composedModel: ecif.Model<Factors, ecif.PairBatch> = {
  embed: ({ a, b }, { text, image }, tap = (_parameter, _x, y) => y) => {
    const low = ecif.affine(tap('a', text, ecif.matmul(text, a, { form: 'nt' }), 'out-in'), COMPOSED.scale, 0);
    const after = { parameter: 'a', scale: COMPOSED.scale };
    return { u: tap('b', low, ecif.matmul(low, b, { form: 'nt' }), 'out-in', after), v: image };
  },
  scale: () => 1,
};

/** A and B of which neither is 0, and their product is. */
const VANISHING = {
  a: Float64Array.of(0.7, -0.4, 0.9, 0, 0, 0),
  b: Float64Array.of(0, 0.8, 0, -0.5, 0, 0.3, 0, 1.1),
};

/** One batch of random features, with mean 0 over the pairs or not. */
export function composedStream(
  l2: number,
  { centred = true, device = new CpuDevice() }: { centred?: boolean; device?: ecif.Device } = {},
): Streamed<Factors, ecif.PairBatch> {
  const { rank, text, image, pairs } = COMPOSED;
  const features = (seed: number, width: number): ecif.Tensor => {
    const drawn = normals(seed, pairs * width);
    const values = drawn.map((v, i) => {
      let mean = 0;
      for (let k = i % width; k < drawn.length; k += width) mean += drawn[k] / pairs;
      return centred ? v - mean : v + 1;
    });
    return ecif.tensor(device, values, [pairs, width]);
  };
  return {
    loss: {
      model: composedModel,
      partitions: [[Uint32Array.from({ length: pairs }, (_, i) => i)]],
      batch: () => Promise.resolve({ text: features(1, text), image: features(2, image) }),
      l2,
    },
    theta: { a: ecif.tensor(device, VANISHING.a, [rank, text]), b: ecif.tensor(device, VANISHING.b, [image, rank]) },
  };
}
