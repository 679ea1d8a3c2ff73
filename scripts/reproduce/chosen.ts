// Pairs that an experiment takes out: by their scores, or at random.

import { createRng } from '../../src/array/rng.ts';
import { orderBy } from '../../src/ecif/metrics/ranks.ts';

/** A number of pairs at random, of a seed and a name. */
export function atRandom(count: number, many: number, seed: number, stream: number): number[] {
  return [
    ...createRng(seed)
      .fork(1000 + stream)
      .permutation(count)
      .subarray(0, many),
  ];
}

/** A number of pairs with the lowest or the highest scores. */
export const firstBy = (values: readonly number[], end: 'lowest' | 'highest', many: number): number[] => [
  ...orderBy(Float64Array.from(values), end).subarray(0, many),
];

/** A share of so many, one at least. */
export const shareOf = (share: number, count: number): number => Math.max(1, Math.round(share * count));
