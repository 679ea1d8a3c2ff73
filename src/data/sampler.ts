// Which pairs meet in a batch: at random, or no two of one class as far as that can be.

import type { Rng } from '../array/rng.ts';
import { classOf, type DatasetRow } from './dataset.ts';
import { batchesOf, drawPartition, type Partition } from './partitions.ts';
import { placesBy, shuffled } from './select.ts';

/** Ways to draw batches. */
export const SAMPLERS = ['random', 'distinct'] as const;
export type Sampler = (typeof SAMPLERS)[number];

/**
 * A random partition in which no batch has two pairs of a class, where no class has more pairs than there are batches;
 * a larger one is spread evenly. Batches are as many and as large as those of {@link drawPartition}: class after class
 * is dealt out to them in turn.
 * @param classes class of each pair
 * @param size pairs of a batch at most
 * @example drawDistinct(createRng(0), ['cat', 'cat', 'dog', 'dog'], 2); // a cat and a dog in each
 */
export function drawDistinct(rng: Rng, classes: readonly string[], size: number): Partition {
  const n = batchesOf(classes.length, size);
  const dealt: number[][] = Array.from({ length: n }, () => []);
  const order = shuffled(rng, [...placesBy(classes).values()]).flatMap((members) => shuffled(rng, members));
  order.forEach((row, i) => dealt[i % n].push(row));
  return dealt.map((rows) => Uint32Array.from(shuffled(rng, rows)));
}

/** The largest class, if it has more pairs than there are batches; then `together` of it meet in one. */
export function crowdOf(
  classes: readonly string[],
  size: number,
): { name: string; pairs: number; batches: number; together: number } | null {
  const batches = batchesOf(classes.length, size);
  const [[name, { length: pairs }]] = [...placesBy(classes)].sort((a, b) => b[1].length - a[1].length);
  return pairs <= batches ? null : { name, pairs, batches, together: Math.ceil(pairs / batches) };
}

/** Draws partitions of some pairs. */
export function partitionDrawer(sampler: Sampler, rows: readonly DatasetRow[], size: number): (rng: Rng) => Partition {
  if (sampler === 'random') return (rng) => drawPartition(rng, rows.length, size);
  const classes = rows.map(classOf);
  return (rng) => drawDistinct(rng, classes, size);
}
