// The table of scores: its columns, and a row of it by name.

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
  readonly flag: string | null;
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
];

/** The row of a table for a pair's scores. */
export const scoreCells = (row: ScoreRow): Row => SCORE_COLUMNS.map(({ name }): Cell => row[name]);

/** A pair's scores from a row of a table. */
export const scoreRow = (cells: Row): ScoreRow =>
  Object.fromEntries(SCORE_COLUMNS.map(({ name }, i) => [name, cells[i]])) as unknown as ScoreRow;
