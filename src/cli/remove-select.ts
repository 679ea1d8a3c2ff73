// Which pairs are to be removed: by id, by a list in a file, or by a query on a file of scores.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../array/errors.ts';
import { type Dataset, shown } from '../data/dataset.ts';
import { parseQuery } from '../data/query.ts';
import { readTable } from '../data/score-reader.node.ts';
import type { Column, Row } from '../data/score-table.ts';
import { tableColumns } from '../data/table-columns.node.ts';
import { UsageError } from './args.ts';
import { readIds, rowsOfIds, splitIds } from './pair-ids.ts';
import type { RemoveSettings } from './remove-options.ts';
import { SCORES_FILE } from './score-files.ts';
import { nearest } from './suggest.ts';

/** What says which pairs. */
export type Selection = Pick<RemoveSettings, 'ids' | 'ids-file' | 'where' | 'scores' | 'target'>;

/** Files of scores in a run, the first that is there. */
const SCORE_FILES = [SCORES_FILE, 'detect.csv'];

/** Targets that are named at most. */
const NAMED = 5;

function scoresOf(folder: string, given: string | undefined): string {
  const found = given ?? SCORE_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new UsageError(
    `remove: no ${SCORE_FILES.join(' or ')} in ${folder}; give --scores FILE, or make one with ecif score`,
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

/**
 * Ids that a query chooses.
 * @throws EcifError for a query that cannot be read, a column that the file does not have, or no row that matches
 */
async function chosenIds(path: string, text: string, target: string | undefined): Promise<string[]> {
  const query = parseQuery(text);
  const there = await tableColumns(path);
  for (const { name, at } of query.columns) {
    if (there.includes(name)) continue;
    const guess = nearest(name, there);
    const fix = guess === null ? `give one of ${shown(there)}` : `did you mean ${guess}?`;
    throw new UsageError(`--where: no column ${shown(name)} in ${path}, at character ${at}; ${fix}`);
  }
  const targets = there.includes('target');
  if (!targets && target !== undefined) throw new UsageError(`${path}: no column "target"; leave out --target`);
  const asked = query.columns.map(({ name, type }): Column => ({ name, type, nullable: true }));
  const first = asked.length + 1;
  const columns: Column[] = [
    ...asked,
    { name: 'id', type: 'string' },
    ...(targets ? [{ name: 'target', type: 'string', nullable: true } as const] : []),
  ];
  const all: Row[] = [];
  for await (const row of readTable(path, columns)) all.push(row);
  const rows = targets ? ofTarget(path, all, first, target) : all;
  const ids = rows.map((row) => row[asked.length] as string);
  requireOnce(path, ids);
  const chosen = query.choose(rows).map((i) => ids[i]);
  if (chosen.length > 0) return chosen;
  throw new UsageError(`--where: ${shown(text)} matches 0 of ${rows.length} rows of ${path}; choose otherwise`);
}

/**
 * Refuses words that do not say which pairs, before anything is read.
 * @throws UsageError, EcifError
 */
export function requireSelection({ ids, 'ids-file': file, where, scores, target }: Selection): void {
  if ([ids, file, where].filter((given) => given !== undefined).length !== 1) {
    throw new UsageError('remove: pairs are to be named in one way; give one of --ids, --ids-file and --where');
  }
  if (where !== undefined) parseQuery(where);
  else if ((scores ?? target) !== undefined) {
    throw new UsageError(`--${scores === undefined ? 'target' : 'scores'}: only of --where; leave it out`);
  }
}

/** Ids that are chosen, in whichever way. */
async function idsOf(folder: string, selection: Selection): Promise<string[]> {
  const { ids, 'ids-file': file, where, scores, target } = selection;
  if (ids !== undefined) return splitIds(ids);
  if (file !== undefined) return readIds(file);
  return chosenIds(scoresOf(folder, scores), where as string, target);
}

/**
 * Rows of the pairs to remove.
 * @param folder the run
 * @throws UsageError for none, and for ids of no pair
 */
export async function selectRows(folder: string, selection: Selection, dataset: Dataset): Promise<number[]> {
  const found = await idsOf(folder, selection);
  if (found.length === 0) throw new UsageError('remove: no pair is chosen; name one or more');
  return rowsOfIds(found, dataset);
}
