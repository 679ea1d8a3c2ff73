// The most harmful and the most valuable pairs of a file of scores, found in one pass and in memory for as many as asked.

import { SCORE_COLUMNS, type ScoreRow, scoreRow } from '../data/score-columns.ts';
import { readTable } from '../data/score-reader.node.ts';
import { createTopK, type TopK } from '../ecif/metrics/selection.ts';

/** A pair at one end. */
export type EndPair = Pick<ScoreRow, 'id' | 'caption' | 'flag'> & { readonly score: number };

/** Both ends of one target. */
export interface TargetEnds {
  readonly target: string;
  /** Lowest scores, the most harmful first. */
  readonly harmful: readonly EndPair[];
  /** Highest scores, the most valuable first. */
  readonly valuable: readonly EndPair[];
}

/** Pairs at either end of every target. */
export async function endsOf(path: string, count: number): Promise<TargetEnds[]> {
  const tops = new Map<string, { harmful: TopK; valuable: TopK }>();
  let index = 0;
  for await (const cells of readTable(path, SCORE_COLUMNS)) {
    const { target, score } = scoreRow(cells);
    const top = tops.get(target) ?? { harmful: createTopK(count, 'lowest'), valuable: createTopK(count, 'highest') };
    tops.set(target, top);
    if (score !== null) for (const end of [top.harmful, top.valuable]) end.add(index, score);
    index++;
  }
  const wanted = new Map<number, EndPair>();
  const lists = Array.from(tops, ([target, { harmful, valuable }]) => ({
    ...{ target, harmful: harmful.list(), valuable: valuable.list() },
  }));
  const places = new Set(lists.flatMap(({ harmful, valuable }) => [...harmful, ...valuable].map((one) => one.index)));
  index = 0;
  for await (const cells of readTable(path, SCORE_COLUMNS)) {
    const { id, caption, flag, score } = scoreRow(cells);
    if (places.has(index) && score !== null) wanted.set(index, { id, caption, flag, score });
    index++;
  }
  const pairs = (list: readonly { index: number }[]): EndPair[] => list.map((one) => wanted.get(one.index) as EndPair);
  return lists.map(({ target, harmful, valuable }) => ({
    ...{ target, harmful: pairs(harmful), valuable: pairs(valuable) },
  }));
}
