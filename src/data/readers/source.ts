// What every reader of datasets gives, and pictures that are named by a file and a number in it.

import { EcifError } from '../../array/errors.ts';
import { type FoundRow, shown, type StoredPicture } from '../dataset.ts';

/** Parts into which people cut datasets. */
export const SPLITS = ['train', 'test'] as const;
export type Split = (typeof SPLITS)[number];

/** A file, or a folder with the names in it. */
export interface Place {
  readonly path: string;
  /** Names in the folder; null for a file. */
  readonly names: readonly string[] | null;
  /** Files that a path with braces stands for, or the path alone. */
  readonly files: readonly string[];
}

/** What a reader found. */
export interface Source {
  readonly rows: readonly FoundRow[];
  /** Whether labels are numbers of classes, and never names. */
  readonly numbered: boolean;
  /** Names of the classes by their number, null where nothing tells them. */
  readonly classes: readonly string[] | null;
  /** Finds a picture by its name. */
  picture(row: Pick<FoundRow, 'id' | 'image'>): Promise<StoredPicture>;
}

/** The name of a picture in a file of many. */
export const pictureName = (file: string, index: number): string => `${file}#${index}`;

/** File and number of such a name. */
export function placeOf(image: string): { file: string; index: number } {
  const at = image.lastIndexOf('#');
  return { file: image.slice(0, at), index: Number(image.slice(at + 1)) };
}

/** The entry of a name, which must be there. */
export function entryOf<T>(entries: ReadonlyMap<string, T>, source: string, name: string): T {
  const found = entries.get(name);
  if (found === undefined) throw new EcifError(`${source}: no picture ${shown(name)}; was the dataset changed?`);
  return found;
}

/** Refuses a choice of split where there is nothing to choose from. */
export function requireWhole(path: string, split: Split | undefined): void {
  if (split !== undefined) throw new EcifError(`${path}: has no splits, ${split} was asked for; leave out --split`);
}

/**
 * Files of a folder by how they end, of one split where their names begin with one.
 * @throws EcifError where there are none of the split
 */
export function shardsOf(folder: string, names: readonly string[], ending: string, split: Split | undefined): string[] {
  const all = names.filter((name) => name.toLowerCase().endsWith(ending));
  const told = all.some((name) => /^(?:train|test|val|validation)[-_.]/.test(name));
  if (!told) requireWhole(folder, split);
  const wanted = told ? all.filter((name) => name.startsWith(split ?? 'train')) : all;
  if (wanted.length === 0) throw new EcifError(`${folder}: no ${split ?? 'train'}*${ending}; give another --split`);
  return wanted.map((name) => `${folder}/${name}`);
}
