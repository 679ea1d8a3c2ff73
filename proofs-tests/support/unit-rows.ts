// Embedded pairs made for a test: concepts with noise.

import { createRng } from '../../src/array/rng.ts';
import type { UnitRows } from '../../src/ecif/baselines/embeddings.ts';

export const WIDTH = 32;

/** Unit rows: pictures near the captions they belong to; equal captions have equal rows. */
export function rowsOf(captions: readonly number[], pictures: readonly number[], noise = 0.3, seed = 1): UnitRows {
  const concept = (k: number): number[] => {
    const rng = createRng(1000 + k);
    return Array.from({ length: WIDTH }, () => rng.normal());
  };
  const rng = createRng(seed);
  const unit = (k: number): number[] => {
    const x = concept(k).map((c) => c + noise * rng.normal());
    const norm = Math.hypot(...x);
    return x.map((c) => c / norm);
  };
  const known = new Map<number, number[]>();
  const caption = (k: number): number[] => {
    const row = known.get(k) ?? unit(k);
    known.set(k, row);
    return row;
  };
  return {
    width: WIDTH,
    u: Float64Array.from(captions.flatMap(caption)),
    v: Float64Array.from(pictures.flatMap(unit)),
  };
}

export const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
