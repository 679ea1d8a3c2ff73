// Which pairs are to be removed: by id, by a list in a file, or by a query on a file of scores.

import { type Dataset, shown } from '../../data/dataset.ts';
import { parseQuery } from '../../data/query.ts';
import { UsageError } from '../args.ts';
import { readIds, rowsOfIds, splitIds } from '../runs/pair-ids.ts';
import { pairTable, scoresOf } from '../score/pair-scores.ts';
import type { RemoveSettings } from './options.ts';

/** What says which pairs. */
export type Selection = Pick<RemoveSettings, 'ids' | 'ids-file' | 'where' | 'scores' | 'target'>;

/**
 * Ids that a query chooses.
 * @throws EcifError for a query that cannot be read, a column that the file does not have, or no row that matches
 */
async function chosenIds(path: string, text: string, target: string | undefined): Promise<string[]> {
  const query = parseQuery(text);
  const asked = query.columns.map((column) => ({ ...column, option: '--where' }));
  const { ids, rows } = await pairTable(path, asked, target);
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
  return chosenIds(scoresOf('remove', folder, scores), where as string, target);
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
