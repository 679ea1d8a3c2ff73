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

/**
 * A Seg as computations take it: every batch once, its positions distinct and ascending.
 * @param batches how many there are
 * @throws EcifError for a batch there is none of, or a position that is no whole number ≥ 0
 */
export function normalSeg(seg: Seg, batches: number): Seg {
  const merged = new Map<number, Set<number>>();
  for (const { batch, positions } of seg) {
    if (!Number.isInteger(batch) || batch < 0 || batch >= batches)
      throw new EcifError(`Seg: batch ${batch}; give a whole number in 0…${batches - 1}`);
    const odd = positions.find((n) => !Number.isInteger(n) || n < 0);
    if (odd !== undefined) throw new EcifError(`Seg: position ${odd} in batch ${batch}; give whole numbers ≥ 0`);
    merged.set(batch, new Set([...(merged.get(batch) ?? []), ...positions]));
  }
  return [...merged].map(([batch, set]) => ({ batch, positions: [...set].toSorted((a, b) => a - b) }));
}
