// IDX files as MNIST has them: grey pictures in one file, labels in another, either of them compressed by gzip.

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { EcifError } from '../../array/errors.ts';
import type { DecodedPicture, FoundRow } from '../dataset.ts';
import type { ParquetSource } from '../parquet-footer.ts';
import { fileOf, readWhole } from '../ranges.node.ts';
import { readClassNames } from './class-names.node.ts';
import { pictureName, type Place, placeOf, requireWhole, type Source, type Split } from './source.ts';

/** A file of pictures: what stands before the split, the split, and how it goes on. */
const IMAGES = /^(.*?)(train|t10k|test)?(-?images)([-.])idx3-ubyte(\.gz)?$/;
const SPLIT: Readonly<Record<Split, readonly string[]>> = { train: ['train'], test: ['t10k', 'test'] };

const UNSIGNED_BYTE = 8;
const LONGEST_SIDE = 4096;
/** Bytes of a compressed file, and of what it holds: it is in memory as a whole. */
const LARGEST = 2 ** 30;

/** True for the name of a file of pictures. */
export const isIdx = (name: string): boolean => IMAGES.test(name);

/** Bytes in memory, read like a file. */
const held = (name: string, bytes: Uint8Array): ParquetSource => ({
  name,
  size: bytes.length,
  read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
});

async function openIdx(path: string): Promise<ParquetSource> {
  if (!path.endsWith('.gz')) return fileOf(path);
  const packed = await readWhole(path, LARGEST, 'unpack it');
  try {
    return held(path, gunzipSync(packed, { maxOutputLength: LARGEST }));
  } catch (error) {
    throw new EcifError(`${path}: cannot be unpacked, ${(error as Error).message}; is the file complete?`, {
      cause: error,
    });
  }
}

/** The sizes that the head of a file says, checked against its length. */
async function shapeOf({ name, size, read }: ParquetSource, dims: 1 | 3): Promise<number[]> {
  const length = 4 + 4 * dims;
  const wrong = (what: string): EcifError => new EcifError(`${name}: ${what}; is it complete, and an idx${dims} file?`);
  if (size < length) throw wrong(`${size} bytes, a head has ${length}`);
  const head = Uint8Array.from(await read(0, length));
  if (head[0] !== 0 || head[1] !== 0 || head[2] !== UNSIGNED_BYTE || head[3] !== dims) {
    throw wrong(`begins with ${[...head.subarray(0, 4)].join(' ')}, not 0 0 ${UNSIGNED_BYTE} ${dims}`);
  }
  const view = new DataView(head.buffer);
  const shape = Array.from({ length: dims }, (_, i) => view.getUint32(4 + 4 * i));
  const values = shape.reduce((a, b) => a * b, 1);
  if (shape.some((n) => n === 0) || shape.slice(1).some((n) => n > LONGEST_SIDE) || length + values !== size) {
    throw wrong(`${shape.join(' × ')} values in ${size} bytes`);
  }
  return shape;
}

/** The file of pictures of a split in a folder. */
function imagesIn({ path, names }: Place, split: Split | undefined): string {
  if (names === null) {
    requireWhole(path, split);
    if (!isIdx(basename(path))) throw new EcifError(`${path}: no …-images-idx3-ubyte; name the file of pictures so`);
    return path;
  }
  const found = names.filter((name) => SPLIT[split ?? 'train'].includes(IMAGES.exec(name)?.[2] ?? ''));
  const [first, ...more] = found.filter((name) => !name.endsWith('.gz') || !found.includes(name.slice(0, -3)));
  if (first === undefined) throw new EcifError(`${path}: no idx3 file of ${split ?? 'train'}; give another --split`);
  if (more.length > 0) throw new EcifError(`${path}: both ${first} and ${more[0]}; name one of the files`);
  return join(path, first);
}

/** The file of labels beside a file of pictures. */
function labelsBeside(images: string): string {
  const [, front, split = '', word, mark] = IMAGES.exec(basename(images)) as RegExpExecArray;
  const plain = join(dirname(images), `${front}${split}${word.replace('images', 'labels')}${mark}idx1-ubyte`);
  const path = [plain, `${plain}.gz`].find((file) => existsSync(file));
  if (path === undefined) throw new EcifError(`${images}: no labels beside it; put ${basename(plain)} there`);
  return path;
}

/** Grey pixels as equal red, green and blue. */
const greyPicture = (grey: Uint8Array, width: number, height: number): DecodedPicture => ({
  ...{ width, height, channels: 3 },
  data: Uint8Array.from({ length: 3 * grey.length }, (_, i) => grey[Math.floor(i / 3)]),
});

/**
 * Reads IDX files. Pixels are read when they are wanted; of a compressed file they are in memory.
 * @throws EcifError that names the file and what is wrong
 */
export async function readIdx(place: Place, split: Split | undefined): Promise<Source> {
  const path = imagesIn(place, split);
  const [images, labels] = [await openIdx(path), await openIdx(labelsBeside(path))];
  const [count, height, width] = await shapeOf(images, 3);
  const [many] = await shapeOf(labels, 1);
  if (many !== count) throw new EcifError(`${labels.name}: ${many} labels of ${count} pictures; give those of one set`);
  const beside = join(dirname(path), 'classes.txt');
  const name = basename(path);
  const rows = Array.from(await labels.read(8, count), (label, i): FoundRow => {
    const image = pictureName(name, i);
    return { id: image, image, caption: null, label: String(label) };
  });
  return {
    rows,
    numbered: true,
    classes: existsSync(beside) ? await readClassNames(beside) : null,
    picture: ({ image }) => {
      const { index } = placeOf(image);
      const read = async (): Promise<DecodedPicture> =>
        greyPicture(await images.read(16 + index * width * height, width * height), width, height);
      return Promise.resolve({ name: `${path}#${index}`, read });
    },
  };
}
