// Finished parts of the experiments, a file each, written whole; and what they have in common.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../../src/array/errors.ts';
import { readText, writeText } from '../../src/cli/files.ts';
import { ownVersion } from '../../src/cli/versions.ts';
import type { DatasetName } from './data.ts';
import type { Sizes } from './settings.ts';

/** One experiment on one dataset with one seed. */
export interface Cell<R = unknown> {
  readonly experiment: number;
  readonly dataset: DatasetName;
  readonly seed: number;
  /** What the numbers depend on beside these. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly version: string;
  readonly device: string;
  readonly seconds: number;
  readonly result: R;
}

/** What tells a cell from others. */
export type CellName = Pick<Cell, 'experiment' | 'dataset' | 'seed'>;

/** What a cell has to have been made with. */
export interface Made {
  readonly sizes: Sizes;
  readonly recipe: Readonly<Record<string, unknown>>;
  readonly device: string;
}

export const cellPath = (out: string, { experiment, dataset, seed }: CellName): string =>
  join(out, 'cells', `${experiment}-${dataset}-${seed}.json`);

/**
 * A cell of an earlier run, null where there is none.
 * @throws EcifError for one that was made otherwise
 */
export function earlierCell(out: string, name: CellName, { sizes, recipe, device }: Made): Cell | null {
  const path = cellPath(out, name);
  if (!existsSync(path)) return null;
  const found = JSON.parse(readText(path)) as Cell;
  const parts: readonly (readonly [string, unknown, unknown])[] = [
    ['settings', found.settings, { sizes, recipe }],
    ['version', found.version, ownVersion()],
    ['device', found.device, device],
  ];
  const other = parts.find(([, then, now]) => JSON.stringify(then) !== JSON.stringify(now));
  if (other !== undefined) throw new EcifError(`${path}: of other ${other[0]}; remove it, or give another --out`);
  return found;
}

/** Writes a cell. */
export function writeCell(out: string, name: CellName, made: Made, seconds: number, result: unknown): Cell {
  const { sizes, recipe, device } = made;
  const { experiment, dataset, seed } = name;
  const cell = {
    experiment,
    dataset,
    seed,
    settings: { sizes, recipe },
    version: ownVersion(),
    device,
    seconds,
    result,
  };
  mkdirSync(join(out, 'cells'), { recursive: true });
  writeText(cellPath(out, name), `${JSON.stringify(cell, null, 1)}\n`);
  return cell;
}
