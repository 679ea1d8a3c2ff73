// Which pairs of a run are known to be wrong.

import { existsSync } from 'node:fs';
import { EcifError } from '../../array/errors.ts';
import { parseCsv } from '../../data/csv.ts';
import type { Dataset } from '../../data/dataset.ts';
import { readText } from '../files.ts';
import { runFile } from './run-folder.ts';

/**
 * Which pairs are known to be swapped, by row; null without a record.
 * @param given a file of one's own; the record of the run where it is not given
 */
export function readTruth(folder: string, given: string | undefined, { rows, source }: Dataset): boolean[] | null {
  const path = given ?? runFile(folder, 'truth');
  if (given === undefined && !existsSync(path)) return null;
  const [head, ...records] = parseCsv(path, readText(path), ',');
  const [id, swapped] = ['id', 'swapped'].map((name) => head?.fields.indexOf(name) ?? -1);
  if (id < 0 || swapped < 0) throw new EcifError(`${path}: no columns id and swapped; name them in the first line`);
  const known = new Map(
    records.map(({ line, fields }) => {
      const found = fields[swapped];
      if (found !== 'yes' && found !== 'no')
        throw new EcifError(`${path}: line ${line}: swapped: found ${JSON.stringify(found)}; give yes or no`);
      return [fields[id], found === 'yes'];
    }),
  );
  return rows.map((row) => {
    const found = known.get(row.id);
    if (found === undefined)
      throw new EcifError(`${path}: no pair ${JSON.stringify(row.id)} of ${source}; list every pair`);
    return found;
  });
}
