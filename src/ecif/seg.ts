// Where the pairs of a set lie: batch by batch, their positions in it.

import { EcifError } from '../array/errors.ts';

/** Positions of removed pairs in one batch. */
export interface Segment {
  readonly batch: number;
  /** Distinct, ascending. */
  readonly positions: readonly number[];
}

/** The paper's Seg: every batch that holds some of the set. */
export type Seg = readonly Segment[];

/**
 * Finds the pairs of a set in the batches.
 * @param batches ids of the pairs of each batch, in order
 * @param ids the set; repeated ids count once
 * @throws EcifError for an id that is in no batch
 * @example segOf([[3, 1], [0, 2]], [1, 2]); // [{ batch: 0, positions: [1] }, { batch: 1, positions: [1] }]
 */
export function segOf(batches: readonly (readonly number[])[], ids: Iterable<number>): Seg {
  const wanted = new Set(ids);
  const seg = batches
    .map((members, batch) => ({ batch, positions: [...members.keys()].filter((i) => wanted.has(members[i])) }))
    .filter(({ positions }) => positions.length > 0);
  const found = new Set(seg.flatMap(({ batch, positions }) => positions.map((i) => batches[batch][i])));
  const missing = [...wanted].find((id) => !found.has(id));
  if (missing !== undefined)
    throw new EcifError(`segOf: pair ${missing} is in no batch; remove only pairs that were trained on`);
  return seg;
}
