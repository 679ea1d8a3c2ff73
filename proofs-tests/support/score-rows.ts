// Rows of invented scores, block by block.
import type { Column, Row } from '../../src/data/score-table.ts';

export const RUN_COLUMNS: readonly Column[] = [
  { name: 'id', type: 'string' },
  { name: 'caption', type: 'string', nullable: true },
  { name: 'score', type: 'float64', nullable: true },
  { name: 'position', type: 'int32' },
];

/** The rows of a block; not all blocks have as many. */
export const rowsOfBlock = (block: number): Row[] =>
  Array.from({ length: 300 + 7 * block }, (_, i) => [
    `${block}-${i}`,
    i % 5 === 0 ? null : `a "cat",\nno. ${i % 3 === 0 ? '' : i}`,
    i % 7 === 0 ? NaN : Math.fround(Math.sin(1000 * block + i)),
    i,
  ]);
