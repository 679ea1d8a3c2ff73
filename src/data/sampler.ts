// Batches of pair indices, epoch by epoch.

import type { Rng } from '../array/rng.ts';

/**
 * Endless batches: each epoch is a fresh permutation cut into batches; a rest smaller than a batch is left out.
 * @param count pairs to draw from
 * @param size pairs a batch, at most `count`
 * @example const batches = epochBatches(createRng(0), 1000, 128); batches.next().value;
 */
export function* epochBatches(rng: Rng, count: number, size: number): Generator<Uint32Array, never> {
  const most = Math.min(size, count);
  for (;;) {
    const order = rng.permutation(count);
    for (let first = 0; first + most <= count; first += most) yield order.slice(first, first + most);
  }
}
