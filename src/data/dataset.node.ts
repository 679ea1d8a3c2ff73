// Datasets on disk: a list of pairs in a file, or pictures in a folder of class folders.

import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { EcifError } from '../array/errors.ts';
import { unreadable } from '../array/messages.ts';
import { captionOf, type Dataset, type DatasetRow, parseDataset } from './dataset.ts';

const LARGEST_LIST = 512 * 2 ** 20;
const PICTURE = /\.(?:png|jpe?g|webp|gif|avif|tiff?|svg)$/i;

async function readList(path: string, size: number): Promise<Dataset> {
  if (size > LARGEST_LIST) throw new EcifError(`${path}: ${size} bytes, at most ${LARGEST_LIST}; split the list`);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new EcifError(`${path}: not UTF-8 text; save the list as UTF-8`);
  }
  return { source: path, root: dirname(path), rows: parseDataset(path, text) };
}

const names = async (folder: string, folders: boolean): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.name.startsWith('.') && (folders ? entry.isDirectory() : PICTURE.test(entry.name)))
    .map(({ name }) => name)
    .sort();
};

/** A pair for every picture of every class folder, in the order of their names. */
async function readClasses(path: string, template: string): Promise<Dataset> {
  const rows: DatasetRow[] = [];
  for (const label of await names(path, true)) {
    const caption = captionOf(template, label);
    for (const name of await names(join(path, label), false)) {
      const image = `${label}/${name}`;
      rows.push({ id: image, image, caption, label });
    }
  }
  if (rows.length === 0) throw new EcifError(`${path}: no pictures in class folders; give PATH/<class>/<picture>`);
  return { source: path, root: path, rows };
}

/**
 * Reads a dataset: a CSV, TSV or JSONL list, or a folder of class folders.
 * @param template caption of a class, for folders
 * @throws EcifError with file, line and field, what was found and what to do
 * @example const { rows, root } = await readDataset('pairs.csv');
 */
export async function readDataset(path: string, template = 'a photo of a {}'): Promise<Dataset> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  return found.isDirectory() ? readClasses(path, template) : readList(path, found.size);
}

/**
 * The file of a row's picture, links followed.
 * @throws EcifError for a file that is not there, or lies outside of the dataset's folder
 */
export async function pictureOf({ root, source }: Dataset, { id, image }: DatasetRow): Promise<string> {
  const path = resolve(root, image);
  const found = await realpath(path).catch((error: unknown) => {
    throw unreadable(`${source}: pair ${JSON.stringify(id)}: ${path}`, error);
  });
  const inside = relative(await realpath(root), found);
  if (inside === '..' || inside.startsWith(`..${sep}`) || resolve(inside) === inside) {
    throw new EcifError(
      `${source}: pair ${JSON.stringify(id)}: ${path} is a link out of the folder; copy the file there`,
    );
  }
  return found;
}
