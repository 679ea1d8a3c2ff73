// The output of a scoring run: blocks into a journal that survives a kill, then one file, whole or of a shard.

import { rm } from 'node:fs/promises';
import { EcifError } from '../array/errors.ts';
import { openJournal } from './score-journal.node.ts';
import type { Average } from './score-average.node.ts';
import { recordPath, writeRows, writeShardRecord } from './score-merge.node.ts';
import { type BlockRange, blocksOf, type Shard, shardName } from './score-shard.ts';
import { type Column, type Row, tableFormat } from './score-table.ts';
import type { TableSummary } from './score-writer.node.ts';

/** Settings of {@link openScoreRun}. */
export interface ScoreRunOptions {
  readonly columns: readonly Column[];
  /** A hash of the settings and of all that was read; the same for all shards. */
  readonly signature: string;
  /** Blocks of the whole run. */
  readonly blocks: number;
  /** The part to compute; the whole unless given. */
  readonly shard?: Shard | undefined;
  /** Where the rows are occurrences (`OCCURRENCE_COLUMNS`): the file of the whole holds their averages. */
  readonly average?: Average | undefined;
  /** Gives what the record of a shard is to say of its run, once that is over. */
  about?(): unknown;
}

/** A run whose rows are written block by block. */
export interface ScoreRun {
  /** The blocks that this run computes. */
  readonly range: BlockRange;
  /** The next block to compute; `range.end` where all are done. */
  readonly next: number;
  /** Writes the rows of block `next`, which stay even if the process is killed. */
  append(rows: readonly Row[]): Promise<void>;
  /** Writes the file, with its record if it is a shard's, and removes the journal. */
  finish(): Promise<TableSummary>;
  /** Lets go of the journal, to go on with it later. */
  close(): Promise<void>;
}

/** The folder of a file's journal. */
export const journalFolder = (path: string): string => `${path}.partial`;

/**
 * Begins a run, or goes on where one was killed: its journal is the folder `OUT.partial`. The file has the same bytes
 * however often the run was killed, and `mergeShards` makes the same bytes of the files of shards.
 * @throws EcifError for a journal of another run, shard or number of blocks
 * @example
 * const run = await openScoreRun('scores.parquet', { columns: SCORE_COLUMNS, signature, blocks });
 * while (run.next < run.range.end) await run.append(await rowsOfBlock(run.next));
 * await run.finish();
 */
export async function openScoreRun(
  out: string,
  { columns, signature, blocks, shard, average, about }: ScoreRunOptions,
): Promise<ScoreRun> {
  tableFormat(out);
  const range = blocksOf(shard ?? { index: 0, count: 1 }, blocks);
  const part = shard === undefined ? 'whole' : shardName(shard);
  const journal = await openJournal(journalFolder(out), columns, `${signature} ${part} of ${blocks} blocks`);
  const next = (): number => range.first + journal.completed;
  const finish = async (): Promise<TableSummary> => {
    if (next() < range.end) throw new EcifError(`${out}: block ${next()} of ${range.end} is missing; add it first`);
    await rm(recordPath(out), { force: true });
    const summary = await writeRows(out, columns, () => journal.rows(), shard === undefined ? average : undefined);
    if (shard !== undefined) {
      const { rows, sha256 } = summary;
      await writeShardRecord(out, { shard, blocks, signature, columns, rows, sha256, average, about: about?.() });
    }
    await journal.discard();
    return summary;
  };
  return {
    range,
    get next() {
      return next();
    },
    append: (rows) => journal.append(journal.completed, rows),
    finish,
    close: () => journal.close(),
  };
}
