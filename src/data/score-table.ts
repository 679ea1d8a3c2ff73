// Tables of scores: what columns hold, and what is written for a value.

import { EcifError } from '../array/errors.ts';
import { shown } from './dataset.ts';

/** What a column holds; `int64` is written in 64 bits and holds what a double holds exactly. */
export type ColumnType = 'string' | 'float64' | 'int32' | 'int64';

/** One column of a table. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Whether a row may have no value in it; false unless given. */
  readonly nullable?: boolean;
}

/** A value of a row; null is no value. */
export type Cell = string | number | null;

/** The values of a row, in the order of the columns. */
export type Row = readonly Cell[];

/** Some rows, in memory or as they come. */
export type Rows = Iterable<Row> | AsyncIterable<Row>;

/** Letters of a text at most. */
const LONGEST_TEXT = 2 ** 24;

const LONE_SURROGATE = /\p{Surrogate}/gu;

const WANTED: Readonly<Record<ColumnType, string>> = {
  string: 'a text',
  float64: 'a finite number',
  int32: 'a whole number of 32 bits',
  int64: 'a whole number of at most 2^53 - 1',
};

/** The value as it is stored, or undefined where the column cannot hold it. */
function storedCell(type: ColumnType, value: unknown): Cell | undefined {
  if (value === null) return null;
  if (type === 'string') {
    if (typeof value !== 'string' || value.length > LONGEST_TEXT) return undefined;
    return value.replace(LONE_SURROGATE, '\ufffd');
  }
  if (typeof value !== 'number') return undefined;
  if (type === 'float64') return Number.isFinite(value) ? value : null;
  if (!(type === 'int32' ? (value | 0) === value : Number.isSafeInteger(value))) return undefined;
  return value + 0;
}

/**
 * A value as every format stores it: a number that is not finite is no value, half a surrogate pair is U+FFFD, and
 * whole numbers have no negative zero.
 * @param where file and row, for messages
 * @throws EcifError for a value that the column cannot hold
 */
export function checkedCell({ name, type, nullable = false }: Column, value: unknown, where: () => string): Cell {
  const cell = storedCell(type, value);
  if (cell !== undefined && (cell !== null || nullable)) return cell;
  const found = typeof value === 'number' ? String(value) : shown(value);
  throw new EcifError(
    `${where()}: ${shown(name)}: found ${found}; give ${WANTED[type]}${nullable ? ' or no value' : ''}`,
  );
}

/**
 * A row as every format stores it.
 * @param where file and row, for messages
 * @throws EcifError for a row that does not fit the columns
 */
export function checkedRow(columns: readonly Column[], row: readonly unknown[], where: () => string): Row {
  if (row.length !== columns.length) {
    throw new EcifError(`${where()}: found ${row.length} values; give one for each of ${columns.length} columns`);
  }
  return columns.map((column, i) => checkedCell(column, row[i], where));
}

/**
 * Refuses columns that no table can have.
 * @throws EcifError for none at all, a name that is empty or there twice
 */
export function checkColumns(path: string, columns: readonly Column[]): void {
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (names.length === 0 || names.includes('') || twice !== undefined) {
    const found = twice === undefined ? shown(names) : `${shown(twice)} twice`;
    throw new EcifError(`${path}: columns: found ${found}; give each column a name of its own`);
  }
}

/** The formats of tables. */
export type TableFormat = 'csv' | 'jsonl' | 'parquet';

/**
 * The format that the end of a path stands for.
 * @throws EcifError for any other end
 * @example tableFormat('scores.parquet'); // 'parquet'
 */
export function tableFormat(path: string): TableFormat {
  const end = /\.(csv|jsonl|parquet)$/i.exec(path)?.[1].toLowerCase();
  if (end === undefined) throw new EcifError(`${path}: no known table; end the name with .parquet, .csv or .jsonl`);
  return end as TableFormat;
}
