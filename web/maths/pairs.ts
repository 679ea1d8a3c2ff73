// Pairs of emoji as convex problems: which pairs, which captions were swapped, batches, temperature, decay.

import { type ConvexFile, placeConvex, type PlacedConvex } from '../../src/ecif/convex-file.ts';
import type { Device } from '../../src/index.ts';
import { EMOJI } from '../data/emoji.gen.ts';

/** A problem of emoji pairs. */
export interface PairsAsked {
  /** Training pairs, by their places in `EMOJI`. */
  readonly pairs: readonly number[];
  /** Whose caption each of them has; their own unless given. */
  readonly captions?: readonly number[];
  /** Pairs that the loss is evaluated on. */
  readonly validation: readonly number[];
  /** Pairs of a batch; the last one has what is left. */
  readonly batch: number;
  readonly temperature: number;
  /** δ */
  readonly decay: number;
}

/** Rows 0…n−1 in batches. */
export const batchesOf = (count: number, size: number): number[][] =>
  Array.from({ length: Math.ceil(count / size) }, (_, b) =>
    Array.from({ length: Math.min(size, count - b * size) }, (__, i) => b * size + i),
  );

/** A problem as the files of `ecif convex` hold it. */
export function convexOf(asked: PairsAsked, remove: readonly number[] = []): ConvexFile {
  const { pairs, captions = pairs, validation, batch, temperature, decay } = asked;
  return {
    name: 'emoji',
    temperature,
    delta: decay,
    text: captions.map((i) => EMOJI[i].text),
    image: pairs.map((i) => EMOJI[i].image),
    batches: batchesOf(pairs.length, batch),
    remove,
    validation: { text: validation.map((i) => EMOJI[i].text), image: validation.map((i) => EMOJI[i].image) },
  };
}

/** A problem on a device. */
export const placePairs = (asked: PairsAsked, device: Device): PlacedConvex => placeConvex(convexOf(asked), device);
