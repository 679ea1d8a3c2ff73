// Which kind of dataset a path is, and the reader of each kind.

import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { unreadable } from '../../array/messages.ts';
import type { FoundRow } from '../dataset.ts';
import { parseList } from '../lists.ts';
import { pictureIn } from '../pictures.node.ts';
import { readUtf8 } from '../ranges.node.ts';
import { expandBraces } from './braces.ts';
import { CIFAR, cifarRecord, readCifar } from './cifar.node.ts';
import { isIdx, readIdx } from './idx.node.ts';
import { readParquetPairs } from './parquet-pairs.node.ts';
import { type Place, requireWhole, shardsOf, type Source, type Split } from './source.ts';
import { readWebDataset } from './webdataset.node.ts';

/** Kinds of datasets; `auto` finds out. */
export const FORMATS = ['auto', 'list', 'folder', 'cifar10', 'cifar100', 'idx', 'parquet', 'tar'] as const;
export type Format = (typeof FORMATS)[number];
type Kind = Exclude<Format, 'auto'>;

const LARGEST_LIST = 512 * 2 ** 20;
const PICTURE = /\.(?:png|jpe?g|webp|gif|avif|tiff?|svg)$/i;

/** What a reader is told besides the place. */
interface Asked {
  readonly split: Split | undefined;
  /** Whether names of classes are given apart. */
  readonly named: boolean;
}

async function readList({ path }: Place, { split }: Asked): Promise<Source> {
  requireWhole(path, split);
  const rows = parseList(path, await readUtf8(path, LARGEST_LIST, 'split the list'));
  return { rows, numbered: false, classes: null, picture: (row) => pictureIn(dirname(path), path, row) };
}

const namesIn = async (folder: string, folders: boolean): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw unreadable(folder, error);
  });
  return entries
    .filter((entry) => !entry.name.startsWith('.') && (folders ? entry.isDirectory() : PICTURE.test(entry.name)))
    .map(({ name }) => name)
    .sort();
};

/** A pair for every picture of every class folder, in the order of their names. */
async function readClasses({ path }: Place, { split }: Asked): Promise<Source> {
  const root = split === undefined ? path : join(path, split);
  const rows: FoundRow[] = [];
  for (const label of await namesIn(root, true)) {
    for (const name of await namesIn(join(root, label), false)) {
      const image = `${label}/${name}`;
      rows.push({ id: image, image, caption: null, label });
    }
  }
  if (rows.length === 0) throw new EcifError(`${root}: no pictures in class folders; give PATH/<class>/<picture>`);
  return { rows, numbered: false, classes: null, picture: (row) => pictureIn(root, path, row) };
}

/** The files of a path with braces, or those of a split in a folder. */
function shards({ path, names, files }: Place, ending: string, split: Split | undefined): readonly string[] {
  if (names !== null) return shardsOf(path, names, ending, split);
  requireWhole(path, split);
  return files;
}

const READERS: Readonly<Record<Kind, (place: Place, asked: Asked) => Promise<Source>>> = {
  list: readList,
  folder: readClasses,
  cifar10: (place, { split, named }) => readCifar(place, 'cifar10', split, named),
  cifar100: (place, { split, named }) => readCifar(place, 'cifar100', split, named),
  idx: (place, { split }) => readIdx(place, split),
  parquet: (place, { split }) => readParquetPairs(place.path, shards(place, '.parquet', split)),
  tar: (place, { split }) => readWebDataset(place.path, shards(place, '.tar', split)),
};

/** Kinds of files by their names. */
const isCifar = (kind: keyof typeof CIFAR, name: string): boolean =>
  Object.values(CIFAR[kind].files).some((pattern) => pattern.test(name));
const BY_NAME: readonly (readonly [Kind, (name: string) => boolean])[] = [
  ['cifar10', (name) => isCifar('cifar10', name)],
  ['cifar100', (name) => isCifar('cifar100', name)],
  ['idx', isIdx],
  ['parquet', (name) => /\.parquet$/i.test(name)],
  ['tar', (name) => /\.tar$/i.test(name)],
];

/** The kind of a file of records whose name says nothing, by its length. */
async function cifarBySize(path: string): Promise<Kind> {
  const { size } = await stat(path);
  const fits = (['cifar10', 'cifar100'] as const).filter((kind) => size % cifarRecord(kind) === 0);
  if (fits.length === 1) return fits[0];
  throw new EcifError(`${path}: ${size} bytes, of cifar10 or cifar100 is not clear; give --format`);
}

async function kindOf({ path, names, files }: Place): Promise<Kind> {
  const candidates = names ?? [basename(files[0])];
  const kinds = BY_NAME.filter(([, matches]) => candidates.some(matches)).map(([kind]) => kind);
  if (kinds.length > 1) throw new EcifError(`${path}: holds files of ${kinds.join(' and ')}; give --format`);
  if (kinds.length === 1) return kinds[0];
  if (names !== null) return 'folder';
  if (/\.bin$/i.test(files[0])) return cifarBySize(files[0]);
  if (/\.(?:tar\.\w+|tgz)$/i.test(files[0])) {
    throw new EcifError(`${path}: a compressed archive; unpack it to .tar, whose pictures can be found without it`);
  }
  return 'list';
}

async function placeAt(path: string): Promise<Place> {
  const found = await stat(path).catch((error: unknown) => {
    if (path.includes('{')) return null;
    throw unreadable(path, error);
  });
  if (found?.isDirectory() === true) {
    const names = (await readdir(path)).filter((name) => !name.startsWith('.')).sort();
    return { path, names, files: [] };
  }
  return { path, names: null, files: found === null ? expandBraces(path) : [path] };
}

/** Reads what a path is, or is said to be. */
export async function readSource(path: string, format: Format, asked: Asked): Promise<Source> {
  const place = await placeAt(path);
  const kind = format === 'auto' ? await kindOf(place) : format;
  if (kind === 'list' ? place.names !== null : kind === 'folder' && place.names === null) {
    throw new EcifError(`${path}: ${place.names === null ? 'a file' : 'a folder'}, no ${kind}; give another --format`);
  }
  return READERS[kind](place, asked);
}
