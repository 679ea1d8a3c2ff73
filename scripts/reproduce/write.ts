// Writes docs/results.md, its figures and cells.json from the cells of a folder.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readText, writeText } from '../../src/cli/files.ts';
import type { Traced } from './experiments/trace.ts';
import { figuresOf } from './figures.ts';
import { pageOf } from './page.ts';
import { panelOf } from './panels.ts';
import { cellsOf, collect, resultsText } from './results.ts';
import { svgOf } from './svg.ts';

/** Name of the panel of traced emoji. */
export const PANEL = 'trace-emoji.svg';

/**
 * Writes the page.
 * @param out folder of results
 * @param docs folder of the page
 */
export function writePage(out: string, docs: string, size: 'full' | 'quick' = 'full'): void {
  const results = collect(join(out, size));
  const folder = join(docs, 'results');
  mkdirSync(folder, { recursive: true });
  writeText(join(folder, 'cells.json'), resultsText(results));
  for (const { name, figure } of figuresOf(results)) writeText(join(folder, `${name}.svg`), svgOf(figure));
  const traced = cellsOf<Traced>(results, 4).get('emoji')?.[0].result;
  if (traced !== undefined) writeText(join(folder, PANEL), panelOf(traced, join(out, 'data', 'emoji')));
  const notes = join(folder, 'notes.md');
  const panels = traced === undefined ? [] : [PANEL];
  writeText(join(docs, 'results.md'), pageOf(results, existsSync(notes) ? readText(notes) : '', panels));
}
