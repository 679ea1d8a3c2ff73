// The most harmful and the most valuable pairs of a file of scores, found in one pass and in memory for as many as asked.

import { UNSETTLED } from '../../data/score-average.node.ts';
import { SCORE_COLUMNS, type ScoreRow, scoreRow } from '../../data/score-columns.ts';
import { readTable } from '../../data/score-reader.node.ts';
import { createTopK, type TopK } from '../../ecif/metrics/selection.ts';

/** A pair at one end. */
export type EndPair = Pick<ScoreRow, 'id' | 'caption' | 'flag'> & { readonly score: number };

/** Both ends of one target. */
export interface TargetEnds {
  readonly target: string;
  /** Lowest scores, the most harmful first. */
  readonly harmful: readonly EndPair[];
  /** Highest scores, the most valuable first. */
  readonly valuable: readonly EndPair[];
  /** Root of the mean square of all scores: what removing a pair changes, as a rule. */
  readonly typical: number;
  /** Pairs whose sign another partition may change; null where one partition tells nothing of it. */
  readonly unsettled: number | null;
}

/** What one pass finds of a target. */
interface Found {
  readonly harmful: TopK;
  readonly valuable: TopK;
  count: number;
  squares: number;
  unsettled: number | null;
}

/** Adds a row. */
function look(found: Found, index: number, { score, error, flag }: ScoreRow): void {
  if (score === null) return;
  for (const end of [found.harmful, found.valuable]) end.add(index, score);
  found.count++;
  found.squares += score ** 2;
  if (error !== null) found.unsettled = (found.unsettled ?? 0) + Number(flag?.includes(UNSETTLED) ?? false);
}

/** Pairs at either end of every target, and what is typical of it. */
export async function endsOf(path: string, count: number): Promise<TargetEnds[]> {
  const tops = new Map<string, Found>();
  let index = 0;
  for await (const cells of readTable(path, SCORE_COLUMNS)) {
    const row = scoreRow(cells);
    const found = tops.get(row.target) ?? {
      ...{ harmful: createTopK(count, 'lowest'), valuable: createTopK(count, 'highest') },
      ...{ count: 0, squares: 0, unsettled: null },
    };
    tops.set(row.target, found);
    look(found, index++, row);
  }
  const wanted = new Map<number, EndPair>();
  const lists = Array.from(tops, ([target, { harmful, valuable, unsettled, ...found }]) => ({
    ...{ target, harmful: harmful.list(), valuable: valuable.list(), unsettled },
    typical: Math.sqrt(found.squares / Math.max(1, found.count)),
  }));
  const places = new Set(lists.flatMap(({ harmful, valuable }) => [...harmful, ...valuable].map((one) => one.index)));
  index = 0;
  for await (const cells of readTable(path, SCORE_COLUMNS)) {
    const { id, caption, flag, score } = scoreRow(cells);
    if (places.has(index) && score !== null) wanted.set(index, { id, caption, flag, score });
    index++;
  }
  const pairs = (list: readonly { index: number }[]): EndPair[] => list.map((one) => wanted.get(one.index) as EndPair);
  return lists.map((list) => ({ ...list, harmful: pairs(list.harmful), valuable: pairs(list.valuable) }));
}
