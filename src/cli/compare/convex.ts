// The convex problem of a comparison: related features under the bilinear model, some captions swapped.

import { createRng } from '../../array/rng.ts';
import { zeros } from '../../autodiff/ops/layout.ts';
import { tensor, type Tensor } from '../../autodiff/tensor.ts';
import { drawPartition } from '../../data/partitions.ts';
import type { Device } from '../../device/open.ts';
import { bilinear } from '../../models/bilinear.ts';
import type { PairBatch } from '../../models/model.ts';
import { relatedPairs } from '../../verify/instance.ts';
import { type Posed, posedOf, swapCaptions, trainedTask, type Training } from './task.ts';

/** Sizes of the convex problem. */
export interface ConvexSizes {
  readonly pairs: number;
  readonly batch: number;
  readonly partitions: number;
  /** Features of a text and of an image. */
  readonly features: number;
  /** Clean pairs that are not trained on. */
  readonly held: number;
  readonly temperature: number;
  readonly l2: number;
  readonly subsets: number;
}

/** Sizes as they are compared, and for a quick look. */
export const CONVEX: Record<'full' | 'quick', ConvexSizes> = {
  full: { pairs: 80, batch: 20, partitions: 2, features: 6, held: 40, temperature: 0.5, l2: 1, subsets: 64 },
  quick: { pairs: 20, batch: 10, partitions: 2, features: 3, held: 16, temperature: 0.5, l2: 1, subsets: 8 },
};

/** How the convex problem is trained. */
export const convexTraining = ({ kind }: Device): Training => ({
  ...{ epochs: 16, rate: 0.05, tolerance: kind === 'cpu' ? 1e-7 : 1e-3 },
});

/** Draws the problem of a seed and trains it. */
export async function poseConvex(device: Device, seed: number, sizes: ConvexSizes): Promise<Posed> {
  const { pairs: count, batch: size, partitions: many, features, held, temperature, l2, subsets } = sizes;
  const rng = createRng(seed);
  const { text, image } = relatedPairs(rng, count + held, features, features);
  const { caption, bad } = swapCaptions(rng, count);
  const partitions = Array.from({ length: many }, () => drawPartition(rng, count, size));
  const rowsOf = (of: readonly number[][], rows: ArrayLike<number>): Tensor =>
    tensor(
      device,
      Array.from(rows, (i) => of[i]),
    );
  const batch = (rows: Uint32Array): Promise<PairBatch> =>
    Promise.resolve({
      text: rowsOf(
        text,
        rows.map((row) => caption[row]),
      ),
      image: rowsOf(image, rows),
    });
  const others = Array.from({ length: held }, (_, i) => count + i);
  const task = await trainedTask(
    { model: bilinear(temperature), partitions, batch, l2 },
    { w: zeros(device, [features, features]) },
    { text: rowsOf(text, others), image: rowsOf(image, others) },
    { count, seed },
    convexTraining(device),
  );
  return posedOf(task, bad, subsets);
}
