// Pairs named by their ids: a list on the command line or in a file, and the rows that it stands for.

import { EcifError } from '../../array/errors.ts';
import type { Dataset } from '../../data/dataset.ts';
import { UsageError } from '../args.ts';
import { readText } from '../files.ts';
import { nearest } from '../suggest.ts';

/** Ids of a list with commas between, such as `cat-1,cat-2`. */
export const splitIds = (text: string): string[] =>
  text
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');

/**
 * Ids in a file: one a line, or where its name ends with `.json` an array of texts.
 * @throws EcifError for a file that holds no such list
 */
export function readIds(path: string): string[] {
  const text = readText(path).replace(/^\ufeff/, '');
  if (!/\.json$/i.test(path)) return text.split(/\r?\n/).filter((line) => line.trim() !== '');
  try {
    const found = JSON.parse(text) as unknown;
    if (Array.isArray(found) && found.every((id) => typeof id === 'string')) return found;
  } catch {
    // told below
  }
  throw new EcifError(`${path}: no JSON array of texts; give ["id", …], or one id a line in a file of another name`);
}

/** Unknown ids that are named at most. */
const NAMED = 5;

/**
 * The rows of some ids, ascending and each once.
 * @throws UsageError that names ids of no pair, with the nearest there is
 */
export function rowsOfIds(ids: Iterable<string>, { rows, source }: Dataset): number[] {
  const places = new Map(rows.map(({ id }, row) => [id, row]));
  const wanted = [...new Set(ids)];
  const unknown = wanted.filter((id) => !places.has(id));
  if (unknown.length > 0) {
    const known = [...places.keys()];
    const named = unknown.slice(0, NAMED).map((id) => {
      const guess = nearest(id, known);
      return `${JSON.stringify(id)}${guess === null ? '' : ` (did you mean ${JSON.stringify(guess)}?)`}`;
    });
    const more = unknown.length > NAMED ? ` and ${unknown.length - NAMED} more` : '';
    throw new UsageError(`${source}: no pair ${named.join(', ')}${more}; give ids of its ${rows.length} pairs`);
  }
  return wanted.map((id) => places.get(id) as number).sort((a, b) => a - b);
}

/** A dataset without the pairs that a file lists, and the row that each of the others had; null where all are there. */
export function leaveOut(
  dataset: Dataset,
  file: string | undefined,
): { readonly dataset: Dataset; readonly kept: Uint32Array | null } {
  if (file === undefined) return { dataset, kept: null };
  const out = new Set(rowsOfIds(readIds(file), dataset));
  const kept = Uint32Array.from(dataset.rows.keys()).filter((row) => !out.has(row));
  return { dataset: { ...dataset, rows: Array.from(kept, (row) => dataset.rows[row]) }, kept };
}
