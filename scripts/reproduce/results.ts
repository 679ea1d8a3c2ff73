// All finished cells in one document, from which the page is made: numbers to six digits, settings once for each dataset.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../../src/array/errors.ts';
import { readText } from '../../src/cli/files.ts';
import type { Cell } from './cells.ts';
import { DATASETS, type DatasetName } from './data.ts';

/** A cell without what all cells of its dataset share. */
export type ShortCell<R = unknown> = Pick<Cell<R>, 'experiment' | 'dataset' | 'seed' | 'seconds' | 'result'>;

/** What `cells.json` holds. */
export interface Results {
  readonly version: string;
  readonly device: string;
  readonly settings: Readonly<Partial<Record<DatasetName, Cell['settings']>>>;
  readonly cells: readonly ShortCell[];
}

const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

/**
 * The cells of a folder.
 * @throws EcifError where there are none, or some that were made otherwise than others
 */
export function collect(folder: string): Results {
  const place = join(folder, 'cells');
  const names = existsSync(place) ? readdirSync(place).filter((name) => name.endsWith('.json')) : [];
  const cells = names.map((name) => JSON.parse(readText(join(folder, 'cells', name))) as Cell);
  if (cells.length === 0) throw new EcifError(`${folder}: no results; run npm run reproduce first`);
  const [{ version, device }] = cells;
  const settings: Partial<Record<DatasetName, Cell['settings']>> = {};
  for (const cell of cells) {
    settings[cell.dataset] ??= cell.settings;
    const same = JSON.stringify(settings[cell.dataset]) === JSON.stringify(cell.settings);
    if (!same || cell.version !== version || cell.device !== device) {
      throw new EcifError(`${folder}: cells of different settings, versions or devices; remove the older ones`);
    }
  }
  const short = cells
    .map(({ experiment, dataset, seed, seconds, result }) => ({ experiment, dataset, seed, seconds, result }))
    .toSorted(
      (a, b) =>
        a.experiment - b.experiment || DATASETS.indexOf(a.dataset) - DATASETS.indexOf(b.dataset) || a.seed - b.seed,
    );
  return JSON.parse(JSON.stringify({ version, device, settings, cells: short }, rounded)) as Results;
}

/** The document as text, a line a cell. */
export function resultsText({ version, device, settings, cells }: Results): string {
  const lines = cells.map((cell) => `  ${JSON.stringify(cell)}`).join(',\n');
  const head = Object.entries({ version, device, settings }).map(
    ([k, v]) => `  ${JSON.stringify(k)}: ${JSON.stringify(v)},`,
  );
  return `{\n${head.join('\n')}\n  "cells": [\n${lines}\n  ]\n}\n`;
}

/** Cells of one experiment by dataset, seeds in their order. */
export function cellsOf<R>({ cells }: Results, experiment: number): Map<DatasetName, ShortCell<R>[]> {
  const found = new Map<DatasetName, ShortCell<R>[]>();
  for (const cell of cells as readonly ShortCell<R>[]) {
    if (cell.experiment === experiment) found.set(cell.dataset, [...(found.get(cell.dataset) ?? []), cell]);
  }
  return found;
}
