// The record of a scoring run that was done in shards, put together from theirs.

import { isObject } from '../../models/clip/formats/fields.ts';
import type { TableSummary } from '../../data/score-writer.node.ts';
import { writeText } from '../files.ts';
import { endsOf } from './ends.ts';
import type { ScoreFacts, ScoreRecord } from './run.ts';

/**
 * Writes `OUT.json` as a single run does: the facts of the first shard, and the time of all.
 * @param abouts what the records of the shards say of their runs; nothing is written where they say nothing
 */
export async function writeMergedRecord(out: string, summary: TableSummary, abouts: readonly unknown[]): Promise<void> {
  if (!abouts.every((about) => isObject(about) && isObject(about.seconds))) return;
  const [first, ...rest] = abouts as readonly ScoreFacts[];
  const { shard: _shard, ...options } = first.options;
  const seconds = rest.reduce(
    (sum, { seconds: more }) => ({ solve: Math.max(sum.solve, more.solve), sweep: sum.sweep + more.sweep }),
    first.seconds,
  );
  const ends = await endsOf(out, Number(options.top ?? 0));
  const record: ScoreRecord = { out, ...first, options: { ...options, out }, seconds, ...summary, ends };
  writeText(`${out}.json`, `${JSON.stringify(record, null, 2)}\n`);
}
