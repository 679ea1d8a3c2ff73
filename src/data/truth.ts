// The record of what was made wrong on purpose.

import type { DatasetRow } from './dataset.ts';
import { csvLine } from './score-text.ts';

/** First line of the record. */
const COLUMNS = ['id', 'original_caption', 'original_label', 'caption', 'label', 'swapped'];

/**
 * Every pair as it was and as it is, as CSV.
 * @param swapped whether a row was given another caption
 */
export const truthText = (
  before: readonly DatasetRow[],
  after: readonly DatasetRow[],
  swapped: (row: number) => boolean,
): string =>
  [
    csvLine(COLUMNS),
    ...before.map(({ id, caption, label }, i) =>
      csvLine([id, caption, label, after[i].caption, after[i].label, swapped(i) ? 'yes' : 'no']),
    ),
  ].join('');
