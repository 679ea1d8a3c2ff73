// Datasets on disk, whatever their kind.

import { EcifError } from '../array/errors.ts';
import { createRng } from '../array/rng.ts';
import { captionOf, type Dataset, type FoundRow, shown, TEMPLATE, withPrompts } from './dataset.ts';
import { readClassNames } from './readers/class-names.node.ts';
import { type Format, readSource } from './readers/formats.node.ts';
import type { Split } from './readers/source.ts';

/** Settings of {@link readDataset}. */
export interface ReadOptions {
  /** Captions of a class, for pairs that have only a class; one is drawn for each of them. */
  readonly templates?: readonly string[];
  /** Of the draws. */
  readonly seed?: number;
  /** Part to read, of a dataset that has parts; train unless told. */
  readonly split?: Split | undefined;
  /** Kind of dataset, where its path does not tell. */
  readonly format?: Format;
  /** File with a class a line, by their numbers. */
  readonly classNames?: string | undefined;
}

/** The name of the class that a label is or numbers. */
function nameOf(source: string, { id, label }: FoundRow, classes: readonly string[], numbered: boolean): string | null {
  if (label === null || !/^\d+$/.test(label) || (!numbered && classes.includes(label))) return label;
  const name = classes.at(Number(label));
  if (name === undefined) {
    const found = `label ${label} of ${classes.length} classes`;
    throw new EcifError(`${source}: pair ${shown(id)}: ${found}; is the file of another kind, or --class-names short?`);
  }
  return name;
}

/** Every label once, in the order of letters and numbers. */
const labelsOf = (rows: readonly FoundRow[]): string[] =>
  [...new Set(rows.flatMap(({ label }) => (label === null ? [] : [label])))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );

/**
 * Reads a dataset: a CSV, TSV or JSONL list; a folder of class folders; CIFAR-10 or CIFAR-100 binary files; IDX files as
 * of MNIST; Parquet with pictures or their paths; WebDataset tars, also several as `name-{000..003}.tar`. Pictures are
 * found, and read when they are wanted.
 * @throws EcifError with file, place and field, what was found and what to do
 * @example const { rows, picture } = await readDataset('cifar-10-batches-bin', { split: 'test' });
 */
export async function readDataset(
  path: string,
  { templates = [TEMPLATE], seed = 0, split, format = 'auto', classNames }: ReadOptions = {},
): Promise<Dataset> {
  templates.forEach((template) => captionOf(template, ''));
  const told = classNames === undefined ? null : await readClassNames(classNames);
  const source = await readSource(path, format, { split, named: told !== null });
  const { rows: found, numbered, picture } = source;
  const classes = told ?? source.classes;
  const named =
    classes === null ? found : found.map((row): FoundRow => ({ ...row, label: nameOf(path, row, classes, numbered) }));
  return {
    source: path,
    rows: withPrompts(named, templates, createRng(seed)),
    classes: classes ?? labelsOf(named),
    picture,
  };
}
