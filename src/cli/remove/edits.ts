// The edits of a run: folders that are written whole or not at all, and which of them is in force.

import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { unwritable } from '../../array/messages.ts';
import { makeUnlessThere, partOf } from '../../array/whole-file.node.ts';
import { isObject } from '../../models/clip/formats/fields.ts';
import type { RemovalRecord } from '../../report/records.ts';
import { UsageError } from '../args.ts';
import { readText, writeText } from '../files.ts';
import { takeLock } from '../runs/lock.ts';

/** Contents of `current.json` of a run. */
export interface Edits {
  /** Edits one after the other, each with the pairs of those before it; the last one is in force. */
  readonly applied: readonly string[];
  /** Edits that were taken back. */
  readonly undone: readonly string[];
}

const currentPath = (run: string): string => join(run, 'current.json');
const recordPath = (folder: string): string => join(folder, 'removal.json');

const isList = (x: unknown): x is string[] => Array.isArray(x) && x.every((name) => typeof name === 'string');

/** The edits of a run. */
export function readEdits(run: string): Edits {
  const path = currentPath(run);
  if (!existsSync(path)) return { applied: [], undone: [] };
  try {
    const found = JSON.parse(readText(path)) as unknown;
    if (isObject(found) && isList(found.applied) && isList(found.undone)) {
      return { applied: found.applied, undone: found.undone };
    }
  } catch (error) {
    if (error instanceof EcifError) throw error;
  }
  throw new EcifError(`${path}: does not say which edit is in force; remove the file to go back to the trained model`);
}

const writeEdits = (run: string, edits: Edits): void =>
  writeText(currentPath(run), `${JSON.stringify(edits, null, 2)}\n`);

/** What an edit is called: its path within the run, or in full where it lies elsewhere. */
export function editName(run: string, folder: string): string {
  const inside = relative(resolve(run), resolve(folder));
  return inside.startsWith('..') || isAbsolute(inside) ? resolve(folder) : inside.split('\\').join('/');
}

/** The folder of an edit by its name. */
export const editFolder = (run: string, name: string): string => (isAbsolute(name) ? name : join(run, name));

/** The folder of the edit in force, null for none. */
export function editInForce(run: string): string | null {
  const name = readEdits(run).applied.at(-1);
  if (name === undefined) return null;
  const folder = editFolder(run, name);
  if (existsSync(recordPath(folder))) return folder;
  throw new EcifError(
    `${run}: the edit in force, ${name}, is not there; restore it, or ecif remove ${run} --undo last`,
  );
}

/** Milliseconds that a change of `current.json` by another process may take. */
const PATIENCE = 2000;

/** Does something to the edits of a run that no other process changes meanwhile. */
function alone<T>(run: string, change: () => T): T {
  const path = `${currentPath(run)}.lock`;
  const busy = (holder: string): Error =>
    new UsageError(`${run}: process ${holder} changes its edits; try again, or remove ${path} if that is gone`);
  const free = takeLock(path, busy, PATIENCE);
  try {
    return change();
  } finally {
    free();
  }
}

/**
 * Puts an edit in force, unless it is.
 * @param before folder of the edit that was in force when it was begun, whose pairs it holds; null for none
 * @throws UsageError where another one came into force meanwhile, whose pairs it does not hold
 */
export const putInForce = (run: string, folder: string, before: string | null): void =>
  alone(run, () => {
    const { applied, undone } = readEdits(run);
    const name = editName(run, folder);
    const last = applied.at(-1);
    if (last === name) return;
    if (last !== (before === null ? undefined : editName(run, before))) {
      const now = last === undefined ? 'the edit before it was taken back' : `${last} came into force`;
      throw new UsageError(`${run}: ${now} while ${name} was made, which is not in force; run the command again`);
    }
    writeEdits(run, { applied: [...applied, name], undone: undone.filter((other) => other !== name) });
  });

/**
 * Takes the edit in force back; its folder stays.
 * @param which its name, the last part of it, its folder, or `last`
 * @returns what was taken back, and what is in force then
 * @throws UsageError for an edit that is not in force
 */
export function undoEdit(run: string, which: string): { readonly undone: string; readonly now: string | null } {
  if (!existsSync(run)) throw new UsageError(`${run}: no such run; check the path`);
  return alone(run, () => undoLast(run, which));
}

function undoLast(run: string, which: string): ReturnType<typeof undoEdit> {
  const { applied, undone } = readEdits(run);
  const last = applied.at(-1);
  if (last === undefined) throw new UsageError(`${run}: no edit is in force; nothing is left to undo`);
  const names = (name: string): boolean =>
    which === name || which === basename(name) || resolve(which) === resolve(editFolder(run, name));
  if (which !== 'last' && !names(last)) {
    const what = applied.some(names) ? `later edits hold the pairs of ${which}` : `${which} is not in force`;
    throw new UsageError(`${run}: ${what}; undo ${last}, the last one`);
  }
  const rest = applied.slice(0, -1);
  writeEdits(run, { applied: rest, undone: rest.includes(last) ? undone : [...new Set([...undone, last])] });
  return { undone: last, now: rest.at(-1) ?? null };
}

/** The record of an edit, null where there is none. */
export function readEdit(folder: string): RemovalRecord | null {
  const path = recordPath(folder);
  if (!existsSync(path)) return null;
  try {
    const found = JSON.parse(readText(path)) as unknown;
    if (isObject(found) && Array.isArray(found.removed) && typeof found.signature === 'string') {
      return found as unknown as RemovalRecord;
    }
  } catch (error) {
    if (error instanceof EcifError) throw error;
  }
  throw new EcifError(`${path}: not the record of an edit; remove the folder and edit anew`);
}

/** Writes the record of an edit. */
export const writeEdit = (folder: string, record: RemovalRecord): void =>
  writeText(recordPath(folder), `${JSON.stringify(record, null, 2)}\n`);

/** A folder that is being written beside its place. */
export interface FolderToBe {
  /** Where to write. */
  readonly part: string;
  /** Puts it in its place; false where another process was faster. */
  finish(): boolean;
  /** Gives it up, unless it is in its place. */
  abandon(): void;
}

/**
 * Begins a folder that appears whole or not at all; makes sure at once that it can be written.
 * @throws EcifError where it cannot; UsageError where there is something already
 */
export function beginWhole(folder: string): FolderToBe {
  if (existsSync(folder)) throw new UsageError(`${folder}: is there already; give another --out`);
  const parent = dirname(resolve(folder));
  const made = !existsSync(parent);
  let part: string;
  try {
    if (made) makeUnlessThere(parent);
    part = partOf(join(parent, `.${basename(folder)}`), true);
    mkdirSync(part);
  } catch (error) {
    throw unwritable(folder, error);
  }
  return {
    part,
    finish: () => {
      try {
        renameSync(part, folder);
        return true;
      } catch (error) {
        if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
        throw unwritable(folder, error);
      }
    },
    abandon: () => {
      rmSync(part, { recursive: true, force: true });
      if (made && existsSync(parent) && readdirSync(parent).length === 0) rmdirSync(parent);
    },
  };
}

/** The folder whose adapter a run or adapter folder stands for: that of the edit in force, else itself. */
export const adapterFolder = (path: string): string =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? (editInForce(path) ?? path) : path;
