// Files of scores with a row a pair: where a run has them, and the columns that are asked of them.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { type Dataset, shown } from '../../data/dataset.ts';
import { readTable } from '../../data/score-reader.node.ts';
import type { Column, Row } from '../../data/score-table.ts';
import { tableColumns } from '../../data/table-columns.node.ts';
import { UsageError } from '../args.ts';
import { rowsOfIds } from '../runs/pair-ids.ts';
import { SCORES_FILE } from './files.ts';
import { nearest } from '../suggest.ts';

/** Files of scores in a run, the first that is there. */
const SCORE_FILES = [SCORES_FILE, 'detect.csv'];

/** Targets that are named at most. */
const NAMED = 5;

/**
 * The file of scores that a command looks at.
 * @throws UsageError for a run without one, where none is given
 */
export function scoresOf(command: string, folder: string, given: string | undefined): string {
  const found = given ?? SCORE_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new UsageError(
    `${command}: no ${SCORE_FILES.join(' or ')} in ${folder}; give --scores FILE, or make one with ecif score`,
  );
}

/** Rows of one target, where a file has several. */
function ofTarget(path: string, rows: readonly Row[], place: number, target: string | undefined): Row[] {
  const names = [...new Set(rows.map((row) => row[place]))];
  if (target === undefined && names.length <= 1) return [...rows];
  const list = `${names.slice(0, NAMED).map(shown).join(', ')}${names.length > NAMED ? ', …' : ''}`;
  if (target === undefined) throw new UsageError(`${path}: ${names.length} targets, ${list}; give --target NAME`);
  if (!names.includes(target))
    throw new UsageError(`${path}: no target ${shown(target)} among ${list}; give one of them`);
  return rows.filter((row) => row[place] === target);
}

/** Refuses rows of one pair: scores of a pair in each of its batches are no choice between pairs. */
function requireOnce(path: string, ids: readonly string[]): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) throw new EcifError(`${path}: pair ${shown(id)} is there twice; give a file with a row a pair`);
    seen.add(id);
  }
}

/** A column that an option names. */
export interface AskedColumn extends Pick<Column, 'name' | 'type'> {
  readonly option: string;
  /** Where in the option, from 1, where that helps to find it. */
  readonly at?: number;
}

/**
 * The rows of a file of scores, a pair each, by the columns that are asked for; `ids` are those of the pairs.
 * @throws UsageError, EcifError for a column that the file does not have, several targets, and a pair that is there twice
 */
export async function pairTable(
  path: string,
  asked: readonly AskedColumn[],
  target: string | undefined,
): Promise<{ readonly ids: readonly string[]; readonly rows: readonly Row[] }> {
  const there = await tableColumns(path);
  for (const { name, option, at } of asked) {
    if (there.includes(name)) continue;
    const guess = nearest(name, there);
    const fix = guess === null ? `give one of ${shown(there)}` : `did you mean ${guess}?`;
    const place = at === undefined ? '' : `, at character ${at}`;
    throw new UsageError(`${option}: no column ${shown(name)} in ${path}${place}; ${fix}`);
  }
  const targets = there.includes('target');
  if (!targets && target !== undefined) throw new UsageError(`${path}: no column "target"; leave out --target`);
  const columns: Column[] = [
    ...asked.map(({ name, type }): Column => ({ name, type, nullable: true })),
    { name: 'id', type: 'string' },
    ...(targets ? [{ name: 'target', type: 'string', nullable: true } as const] : []),
  ];
  const all: Row[] = [];
  for await (const row of readTable(path, columns)) all.push(row);
  const rows = targets ? ofTarget(path, all, asked.length + 1, target) : all;
  const ids = rows.map((row) => row[asked.length] as string);
  requireOnce(path, ids);
  return { ids, rows };
}

/**
 * Columns of numbers, an entry for each pair of a dataset in its order.
 * @throws UsageError, EcifError also for a pair without a row or a number
 */
export async function numbersOf(
  path: string,
  asked: readonly Omit<AskedColumn, 'type'>[],
  target: string | undefined,
  dataset: Dataset,
): Promise<Float64Array[]> {
  const table = await pairTable(
    path,
    asked.map((column) => ({ ...column, type: 'float64' })),
    target,
  );
  rowsOfIds(table.ids, dataset);
  const places = new Map(table.ids.map((id, i) => [id, i]));
  const missing = dataset.rows.find(({ id }) => !places.has(id));
  if (missing !== undefined) {
    throw new EcifError(`${path}: no pair ${shown(missing.id)} of ${dataset.source}; give a file with every pair`);
  }
  return asked.map(({ name }, c) =>
    Float64Array.from(dataset.rows, ({ id }) => {
      const value = table.rows[places.get(id) as number][c];
      if (value !== null) return value as number;
      throw new EcifError(`${path}: ${shown(name)} of pair ${shown(id)} is empty; give a number for every pair`);
    }),
  );
}
