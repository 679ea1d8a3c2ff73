// The table of scores: its columns, a row of it by name, and the table of a pair in each of its batches before averaging.

import type { Cell, Column, Row } from './score-table.ts';

/** One pair's scores; null where a run does not ask for one. */
export interface ScoreRow {
  readonly id: string;
  readonly batch: number;
  readonly position: number;
  readonly caption: string;
  readonly score: number | null;
  readonly positive: number | null;
  readonly negative: number | null;
  readonly t2i: number | null;
  readonly i2t: number | null;
  readonly relative: number | null;
  readonly self: number | null;
  readonly clipscore: number | null;
  /** What is doubtful. */
  readonly flag: string | null;
  /** What the score is about: the evaluation target. */
  readonly target: string;
  /** Standard error of the score over partitions; null for one partition. */
  readonly error: number | null;
  /** Standard errors of self and relative scores that the probes leave, 0 where these are exact. */
  readonly self_error: number | null;
  readonly relative_error: number | null;
}

const number = (name: keyof ScoreRow): Column => ({ name, type: 'float64', nullable: true });

/** Columns of a file of scores, in their order. */
export const SCORE_COLUMNS: readonly (Column & { readonly name: keyof ScoreRow })[] = [
  { name: 'id', type: 'string' },
  { name: 'batch', type: 'int32' },
  { name: 'position', type: 'int32' },
  { name: 'caption', type: 'string' },
  ...(['score', 'positive', 'negative', 't2i', 'i2t', 'relative', 'self', 'clipscore'] as const).map((name) => ({
    ...number(name),
    name,
  })),
  { name: 'flag', type: 'string', nullable: true },
  { name: 'target', type: 'string' },
  ...(['error', 'self_error', 'relative_error'] as const).map((name) => ({ ...number(name), name })),
];

/** The row of a table for a pair's scores. */
export const scoreCells = (row: ScoreRow): Row => SCORE_COLUMNS.map(({ name }): Cell => row[name]);

/** A pair's scores from a row of a table. */
export const scoreRow = (cells: Row): ScoreRow =>
  Object.fromEntries(SCORE_COLUMNS.map(({ name }, i) => [name, cells[i]])) as unknown as ScoreRow;

/** A pair in one batch: its row in the dataset, the partition, and its scores there. */
export interface Occurrence extends ScoreRow {
  readonly row: number;
  readonly partition: number;
}

/** Columns of occurrences. */
export const OCCURRENCE_COLUMNS: readonly (Column & { readonly name: keyof Occurrence })[] = [
  { name: 'row', type: 'int32' },
  { name: 'partition', type: 'int32' },
  ...SCORE_COLUMNS,
];

/** The row of a table for an occurrence. */
export const occurrenceCells = (one: Occurrence): Row => OCCURRENCE_COLUMNS.map(({ name }): Cell => one[name]);

/** An occurrence from a row of a table. */
export const occurrenceOf = (cells: Row): Occurrence =>
  Object.fromEntries(OCCURRENCE_COLUMNS.map(({ name }, i) => [name, cells[i]])) as unknown as Occurrence;
