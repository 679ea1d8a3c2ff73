// CIFAR-10 and CIFAR-100 in their binary form: records of a label and 32 × 32 pixels, a plane a colour.

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import type { DecodedPicture, FoundRow } from '../dataset.ts';
import type { ParquetSource } from '../parquet-footer.ts';
import { fileOf, withFile } from '../ranges.node.ts';
import { readClassNames } from './class-names.node.ts';
import { entryOf, pictureName, type Place, placeOf, requireWhole, type Source, type Split } from './source.ts';

/** What differs between the two. */
interface Kind {
  /** Bytes of labels before the pixels; the last of them is the class. */
  readonly labels: number;
  readonly files: Readonly<Record<Split, RegExp>>;
  /** File of class names beside the records. */
  readonly names: string;
  readonly classes: readonly string[] | null;
}

export const CIFAR: Readonly<Record<'cifar10' | 'cifar100', Kind>> = {
  cifar10: {
    labels: 1,
    files: { train: /^data_batch_\d+\.bin$/, test: /^test_batch\.bin$/ },
    names: 'batches.meta.txt',
    classes: ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'],
  },
  cifar100: {
    labels: 2,
    files: { train: /^train\.bin$/, test: /^test\.bin$/ },
    names: 'fine_label_names.txt',
    classes: null,
  },
};

const SIDE = 32;
const PIXELS = SIDE * SIDE;
const AT_ONCE = 512;

/** Bytes of a record. */
export const cifarRecord = (kind: keyof typeof CIFAR): number => CIFAR[kind].labels + 3 * PIXELS;

/** The planes of red, green and blue as pixels. */
function pixelsOf(planes: Uint8Array): DecodedPicture {
  const data = Uint8Array.from({ length: 3 * PIXELS }, (_, i) => planes[(i % 3) * PIXELS + Math.floor(i / 3)]);
  return { width: SIDE, height: SIDE, channels: 3, data };
}

/** The class of each record of a file. */
async function labelsOf({ name, size, read }: ParquetSource, kind: keyof typeof CIFAR): Promise<Uint8Array> {
  const record = cifarRecord(kind);
  if (size === 0 || size % record !== 0) {
    throw new EcifError(`${name}: ${size} bytes are no records of ${record}; is the file complete, and ${kind}?`);
  }
  const labels = new Uint8Array(size / record);
  for (let first = 0; first < labels.length; first += AT_ONCE) {
    const many = Math.min(AT_ONCE, labels.length - first);
    const bytes = await read(first * record, many * record);
    for (let i = 0; i < many; i++) labels[first + i] = bytes[i * record + CIFAR[kind].labels - 1];
  }
  return labels;
}

/** The files of a split, in their order. */
function filesOf({ path, names }: Place, kind: keyof typeof CIFAR, split: Split | undefined): string[] {
  if (names === null) {
    requireWhole(path, split);
    return [path];
  }
  const wanted = CIFAR[kind].files[split ?? 'train'];
  const number = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? 0);
  const found = names.filter((name) => wanted.test(name)).sort((a, b) => number(a) - number(b));
  if (found.length === 0) {
    throw new EcifError(`${path}: no file of the split ${split ?? 'train'} of ${kind}; give another --split`);
  }
  return found.map((name) => join(path, name));
}

/**
 * Reads CIFAR: one file, or the files of a split in a folder. Labels are held, pixels are read when they are wanted.
 * @throws EcifError that names the file and what is wrong
 */
export async function readCifar(
  place: Place,
  kind: keyof typeof CIFAR,
  split: Split | undefined,
  told: boolean,
): Promise<Source> {
  const { names, classes, labels } = CIFAR[kind];
  const files = filesOf(place, kind, split);
  const beside = join(place.names === null ? dirname(place.path) : place.path, names);
  const known = existsSync(beside) ? await readClassNames(beside) : classes;
  if (known === null && !told) {
    throw new EcifError(`${place.path}: no ${names} beside it; put it there, or give --class-names`);
  }
  const rows: FoundRow[] = [];
  const sources = new Map<string, ParquetSource>();
  for (const file of files) {
    const name = basename(file);
    const found = await withFile(file, (open) => labelsOf(open, kind));
    sources.set(name, await fileOf(file));
    found.forEach((label, i) => {
      const image = pictureName(name, i);
      rows.push({ id: image, image, caption: null, label: String(label) });
    });
  }
  const record = cifarRecord(kind);
  return {
    rows,
    numbered: true,
    classes: known,
    picture: ({ image }) => {
      const { file, index } = placeOf(image);
      const source = entryOf(sources, place.path, file);
      const read = async (): Promise<DecodedPicture> =>
        pixelsOf(await source.read(index * record + labels, 3 * PIXELS));
      return Promise.resolve({ name: `${source.name}#${index}`, read });
    },
  };
}
