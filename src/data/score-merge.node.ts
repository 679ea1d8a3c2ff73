// Files of shards put together: the bytes are those of a single run.

import { realpath } from 'node:fs/promises';
import { EcifError } from '../array/errors.ts';
import { writeWhole } from '../array/whole-file.node.ts';
import { type Average, averaged } from './score-average.node.ts';
import { SCORE_COLUMNS } from './score-columns.ts';
import { hashOfFile, readJson } from './score-files.node.ts';
import { readTable } from './score-reader.node.ts';
import { checkShardRecord, inOrder, type ShardFile, type ShardRecord } from './score-shard.ts';
import type { Column, Row } from './score-table.ts';
import { openTable, type TableSummary } from './score-writer.node.ts';

/** The file beside a shard's file that says which part of which run it is. */
export const recordPath = (path: string): string => `${path}.shard.json`;

/** Writes what merging needs to know about a shard's file. */
export const writeShardRecord = (path: string, record: ShardRecord): Promise<void> =>
  writeWhole(recordPath(path), `${JSON.stringify(record, null, 2)}\n`);

/** A shard's file, found as it was written. */
async function readShard(path: string): Promise<ShardFile> {
  const found = await readJson(recordPath(path));
  if (found === null) {
    throw new EcifError(`${path}: no ${recordPath(path)} beside it; give files of runs with --shard, with that file`);
  }
  const record = checkShardRecord(recordPath(path), found);
  if ((await hashOfFile(path)) !== record.sha256) {
    throw new EcifError(`${path}: changed since its run, or cut off; run the shard again`);
  }
  return { path, record };
}

/** The rows of a shard, which must be as many as its record says. */
async function* rowsOf({ path, record: { columns, rows } }: ShardFile): AsyncGenerator<Row> {
  let found = 0;
  for await (const row of readTable(path, columns)) {
    found++;
    yield row;
  }
  if (found !== rows) throw new EcifError(`${path}: ${found} rows, its record has ${rows}; run the shard again`);
}

/** Writes rows as they are, or the averages of occurrences. */
export async function writeRows(
  out: string,
  columns: readonly Column[],
  read: () => AsyncIterable<Row>,
  average: Average | undefined,
): Promise<TableSummary> {
  const table = await openTable(out, average === undefined ? columns : SCORE_COLUMNS);
  await table.write(average === undefined ? read() : averaged(read, average, `${out}.means.tmp`));
  return table.close();
}

/** The true paths of files that are there. */
const realPaths = async (paths: readonly string[]): Promise<string[]> =>
  (await Promise.all(paths.map((path) => realpath(path).catch(() => null)))).filter((path) => path !== null);

/** What merging wrote. */
export interface MergeSummary extends TableSummary {
  /** What the record of every shard says of its run, in their order. */
  readonly abouts: readonly unknown[];
}

/**
 * Writes the file that one run without shards would have written, in the format that the end of `out` names.
 * @param paths files of all shards of one run, in any order and format
 * @throws EcifError for shards of different runs, one that is missing, there twice or changed; nothing is written then
 * @example await mergeShards('scores.parquet', ['scores-0.parquet', 'scores-1.parquet']);
 */
export async function mergeShards(out: string, paths: readonly string[]): Promise<MergeSummary> {
  const [target] = await realPaths([out]);
  if (target !== undefined && (await realPaths(paths)).includes(target)) {
    throw new EcifError(`${out}: is the file of a shard too; give another name for the whole`);
  }
  const files: ShardFile[] = [];
  for (const path of paths) files.push(await readShard(path));
  const ordered = inOrder(files);
  const all = async function* (): AsyncGenerator<Row> {
    for (const file of ordered) yield* rowsOf(file);
  };
  const { columns, average } = ordered[0].record;
  return { ...(await writeRows(out, columns, all, average)), abouts: ordered.map(({ record }) => record.about) };
}
