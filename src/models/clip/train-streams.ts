// Random streams of a training run, each named by what it is for and where: a run that resumes needs no saved state.

import { createRng, type Rng } from '../../array/rng.ts';

/** What a stream is for. */
export const STREAMS = {
  init: 1,
  partition: 2,
  augment: 3,
  dropout: 4,
  shots: 5,
  limit: 6,
  noise: 7,
  'score-partition': 8,
  evaluation: 9,
  curves: 10,
} as const;

/** One round of a 32-bit mixer (Stafford). */
function mix(x: number): number {
  let z = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

/**
 * The stream of a purpose at a place, such as a step and a position in its batch.
 * @example streamOf(7, 'partition', 3).permutation(1000); // the order of epoch 3
 */
export function streamOf(seed: number, purpose: keyof typeof STREAMS, ...place: readonly number[]): Rng {
  const mixed = [STREAMS[purpose], ...place].reduce((h, label) => mix((h + 0x9e3779b9) ^ mix(label + 1)), mix(seed));
  return createRng(mixed);
}
