// Shards of a run: which blocks each one computes, and the record by which their files are put together again.

import { EcifError } from '../array/errors.ts';
import { shown } from './dataset.ts';
import type { Column } from './score-table.ts';

/** One of `count` parts of a run, counted from 0. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Blocks from `first` up to, not including, `end`. */
export interface BlockRange {
  readonly first: number;
  readonly end: number;
}

/** What is kept beside the file of a shard. */
export interface ShardRecord {
  readonly shard: Shard;
  /** Blocks of the whole run. */
  readonly blocks: number;
  /** The same for all shards of a run. */
  readonly signature: string;
  readonly columns: readonly Column[];
  readonly rows: number;
  /** Hash of the file. */
  readonly sha256: string;
  /** Where the rows of all shards are occurrences to be averaged: over what. */
  readonly average?: { readonly pairs: number; readonly targets: readonly string[] } | undefined;
  /** What else is known of the shard's run. */
  readonly about?: unknown;
}

/** How people name a shard. */
export const shardName = ({ index, count }: Shard): string => `${index}/${count}`;

/**
 * Reads `i/n`.
 * @throws EcifError for anything else, and for an i that is not one of 0 … n − 1
 * @example parseShard('0/4'); // { index: 0, count: 4 }
 */
export function parseShard(text: string): Shard {
  const [, index, count] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (count === undefined || index >= count) {
    throw new EcifError(`shard: found ${shown(text)}; give i/n with i from 0 to n - 1, as in 0/4`);
  }
  return { index, count };
}

/**
 * The blocks of a shard: neighbours, so that the files of all shards end to end are the file of the whole.
 * @example blocksOf({ index: 1, count: 2 }, 5); // { first: 2, end: 5 }
 */
export function blocksOf({ index, count }: Shard, blocks: number): BlockRange {
  const before = (i: number): number => Math.floor((i * blocks) / count);
  return { first: before(index), end: before(index + 1) };
}

/** One file with its record. */
export interface ShardFile {
  readonly path: string;
  readonly record: ShardRecord;
}

/**
 * The files in the order of their shards.
 * @throws EcifError for files of different runs, a shard that is there twice, and one that is missing
 */
export function inOrder(files: readonly ShardFile[]): ShardFile[] {
  const [head] = files;
  const runOf = ({ record: { signature, columns, blocks, shard, average } }: ShardFile): string =>
    JSON.stringify([signature, columns, blocks, shard.count, average]);
  const other = files.find((file) => runOf(file) !== runOf(head));
  if (other !== undefined) {
    throw new EcifError(
      `${other.path}: of another run than ${head.path}; give the shards of one run, with one n in --shard i/n`,
    );
  }
  const { count } = head.record.shard;
  const byIndex = new Map<number, ShardFile>();
  for (const file of files) {
    const { shard } = file.record;
    const twin = byIndex.get(shard.index);
    if (twin !== undefined) {
      throw new EcifError(`${file.path}: shard ${shardName(shard)}, as ${twin.path}; give each shard once`);
    }
    byIndex.set(shard.index, file);
  }
  return Array.from({ length: count }, (_, index) => {
    const file = byIndex.get(index);
    if (file === undefined) {
      throw new EcifError(`${head.path}: shard ${shardName({ index, count })} is missing; give its file too`);
    }
    return file;
  });
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const TYPES: readonly unknown[] = ['string', 'float64', 'int32', 'int64'];

function isColumn(value: unknown): value is Column {
  const { name, type, nullable } = (value ?? {}) as Partial<Column>;
  return typeof name === 'string' && TYPES.includes(type) && ['boolean', 'undefined'].includes(typeof nullable);
}

/**
 * Checks the record of a shard.
 * @throws EcifError that names the file
 */
export function checkShardRecord(path: string, value: unknown): ShardRecord {
  const found = (value ?? {}) as Partial<ShardRecord>;
  const { shard, blocks, signature, columns, rows, sha256, average } = found;
  const fits =
    isCount(shard?.index) &&
    isCount(shard.count) &&
    shard.index < shard.count &&
    shard.count < 1e6 &&
    [blocks, rows].every(isCount) &&
    [signature, sha256].every((text) => typeof text === 'string') &&
    Array.isArray(columns) &&
    columns.every(isColumn) &&
    (average === undefined || (isCount(average.pairs) && Array.isArray(average.targets)));
  if (!fits) throw new EcifError(`${path}: not the record of a shard; run the shard again`);
  return found as ShardRecord;
}
