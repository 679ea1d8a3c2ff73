// Files of scores: which may be written over, and where those of a detection go.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OCCURRENCE_COLUMNS, SCORE_COLUMNS } from '../../data/score-columns.ts';
import { tableFormat } from '../../data/score-table.ts';
import { tableColumns } from '../../data/table-columns.node.ts';
import { isObject } from '../../models/clip/formats/fields.ts';
import { notOwn, readText, requireWritable } from '../files.ts';
import type { Progress } from '../progress.ts';

/** Names, in the folder of a run, of the scores that commands look for, and of those that a detection keeps to itself. */
export const [SCORES_FILE, DETECT_SCORES_FILE] = ['scores.parquet', 'detect-scores.parquet'] as const;

const OWN = [SCORE_COLUMNS, OCCURRENCE_COLUMNS].map((columns) => columns.map(({ name }) => name).join());

/**
 * Makes sure that a file of scores can be written, and that nothing but scores is lost by it.
 * @throws UsageError where there is something else; EcifError for a name of no format
 */
export async function requireScoresOutput(path: string): Promise<void> {
  tableFormat(path);
  requireWritable(path);
  if (!existsSync(path) || statSync(path).size === 0) return;
  const found = await tableColumns(path).catch(() => []);
  if (!OWN.includes(found.join())) throw notOwn(path, 'file of scores');
}

/** The signature of the scores in a file, null where its record does not tell. */
function signatureIn(path: string): unknown {
  try {
    const found = JSON.parse(readText(`${path}.json`)) as unknown;
    return isObject(found) ? found.signature : null;
  } catch {
    return null;
  }
}

/** Where the scores of a detection go: to those of the run, unless these answer another question. */
export function detectScores(folder: string, signature: string, progress: Progress): string {
  const usual = join(folder, SCORES_FILE);
  if (!existsSync(usual) || signatureIn(usual) === signature) return usual;
  const own = join(folder, DETECT_SCORES_FILE);
  progress.line(`${usual} holds scores of another question and stays; those of this one go to ${own}`);
  return own;
}
