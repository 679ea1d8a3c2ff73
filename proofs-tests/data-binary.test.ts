// CIFAR and IDX files, written record by record: labels, names of classes, pixels, splits, and every mistake told.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readDataset, type ReadOptions } from '../src/data/dataset.node.ts';
import type { Dataset } from '../src/data/dataset.ts';
import { openDecoder } from '../src/data/images.node.ts';
import { cifarBytes, idxBytes, type Paint } from './support/containers.ts';
import { temporaryFolder } from './support/shapes.ts';

const paint: Paint = (i, x, y, c) => 7 * i + 3 * x + 5 * y + 80 * c;

/** The pixels of a row. */
async function pixels(dataset: Dataset, row: number): Promise<number[]> {
  const { data, width, height } = await (await openDecoder())(await dataset.picture(dataset.rows[row]));
  expect(data.length).toBe(3 * width * height);
  return [...data];
}

/** What a row of CIFAR must look like, pixel by pixel. */
const painted = (i: number): number[] =>
  Array.from({ length: 32 * 32 * 3 }, (_, k) => {
    const [c, x, y] = [k % 3, Math.floor(k / 3) % 32, Math.floor(k / 96)];
    return paint(i, x, y, c) & 255;
  });

const write = (folder: string, name: string, content: Uint8Array | string): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

describe('CIFAR', () => {
  it('10: the files of a split in the order of their numbers, names from batches.meta.txt', async () => {
    const folder = temporaryFolder();
    write(folder, 'data_batch_10.bin', cifarBytes([[0]], paint));
    write(folder, 'data_batch_2.bin', cifarBytes([[2], [1]], paint));
    write(folder, 'test_batch.bin', cifarBytes([[1]], paint));
    write(folder, 'batches.meta.txt', 'air_plane\ncar\nbird\n\n');
    const train = await readDataset(folder);
    expect(train.rows).toEqual([
      { id: 'data_batch_2.bin#0', image: 'data_batch_2.bin#0', caption: 'a photo of a bird', label: 'bird' },
      { id: 'data_batch_2.bin#1', image: 'data_batch_2.bin#1', caption: 'a photo of a car', label: 'car' },
      {
        id: 'data_batch_10.bin#0',
        image: 'data_batch_10.bin#0',
        caption: 'a photo of a air plane',
        label: 'air_plane',
      },
    ]);
    expect(train.classes).toEqual(['air_plane', 'car', 'bird']);
    expect(await pixels(train, 1)).toEqual(painted(1));
    expect(await pixels(train, 2)).toEqual(painted(0));
    const test = await readDataset(folder, { split: 'test', templates: ['{}!'] });
    expect(test.rows.map(({ caption }) => caption)).toEqual(['car!']);
  });

  it('10: one file, with the names that CIFAR-10 has', async () => {
    const file = write(temporaryFolder(), 'test_batch.bin', cifarBytes([[9], [3]], paint));
    expect((await readDataset(file)).rows.map(({ label }) => label)).toEqual(['truck', 'cat']);
  });

  it('100: the fine label, of two', async () => {
    const folder = temporaryFolder();
    const file = write(
      folder,
      'train.bin',
      cifarBytes(
        [
          [4, 1],
          [0, 0],
        ],
        paint,
      ),
    );
    await expect(readDataset(folder)).rejects.toThrow(
      `${folder}: no fine_label_names.txt beside it; put it there, or give --class-names`,
    );
    write(folder, 'fine_label_names.txt', 'apple\nbeaver\n');
    const dataset = await readDataset(file);
    expect(dataset.rows.map(({ label }) => label)).toEqual(['beaver', 'apple']);
    expect(await pixels(dataset, 1)).toEqual(painted(1));
  });

  it('by its length, where the name does not tell; by --format, where that does not either', async () => {
    const folder = temporaryFolder();
    const file = write(folder, 'mine.bin', cifarBytes([[1], [2]], paint));
    expect((await readDataset(file)).rows.map(({ label }) => label)).toEqual(['automobile', 'bird']);
    const both = write(folder, 'both.bin', new Uint8Array(3073 * 3074));
    await expect(readDataset(both)).rejects.toThrow('of cifar10 or cifar100 is not clear; give --format');
    expect((await readDataset(both, { format: 'cifar10' })).rows).toHaveLength(3074);
  });

  it.each<[string, Uint8Array, ReadOptions, string]>([
    ['cut off', cifarBytes([[1]], paint).subarray(0, 3000), {}, '3000 bytes are no records of 3073; is the file comp'],
    ['empty', new Uint8Array(0), {}, '0 bytes are no records of 3073'],
    ['a label of no class', cifarBytes([[1], [10]], paint), {}, 'pair "test_batch.bin#1": label 10 of 10 classes; is'],
    [
      'a split of one file',
      cifarBytes([[1]], paint),
      { split: 'test' },
      'has no splits, test was asked for; leave out',
    ],
    ['no picture list', cifarBytes([[1]], paint), { format: 'folder' }, 'a file, no folder; give another --format'],
  ])('%s is told in one line', async (_, bytes, options, message) => {
    const file = write(temporaryFolder(), 'test_batch.bin', bytes);
    await expect(readDataset(file, options)).rejects.toThrow(`${file}: ${message}`);
  });

  it('a split that is not there, and two kinds in one folder', async () => {
    const folder = temporaryFolder();
    write(folder, 'test_batch.bin', cifarBytes([[1]], paint));
    await expect(readDataset(folder)).rejects.toThrow('no file of the split train of cifar10; give another --split');
    write(folder, 'pairs.parquet', '');
    await expect(readDataset(folder)).rejects.toThrow('holds files of cifar10 and parquet; give --format');
  });
});

describe('IDX', () => {
  const images = idxBytes([2, 2, 3], [0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255]);
  const labels = idxBytes([2], [7, 0]);

  it.each([
    ['-idx3-ubyte', '-idx1-ubyte', (x: Uint8Array) => x],
    ['.idx3-ubyte.gz', '.idx1-ubyte.gz', (x: Uint8Array) => gzipSync(x)],
  ])('MNIST%s: grey as three equal channels, labels beside', async (front, back, pack) => {
    const folder = temporaryFolder();
    write(folder, `t10k-images${front}`, pack(images));
    write(folder, `t10k-labels${back}`, pack(labels));
    const dataset = await readDataset(folder, { split: 'test', templates: ['the digit {}'] });
    expect(dataset.rows.map(({ caption, label }) => [caption, label])).toEqual([
      ['the digit 7', '7'],
      ['the digit 0', '0'],
    ]);
    expect(await pixels(dataset, 1)).toEqual([250, 251, 252, 253, 254, 255].flatMap((v) => [v, v, v]));
    const { width, height } = await (await openDecoder())(await dataset.picture(dataset.rows[0]));
    expect([width, height]).toEqual([3, 2]);
    await expect(readDataset(folder)).rejects.toThrow(`${folder}: no idx3 file of train; give another --split`);
  });

  it('names of classes from a file', async () => {
    const folder = temporaryFolder();
    const file = write(folder, 'train-images-idx3-ubyte', images);
    write(folder, 'train-labels-idx1-ubyte', idxBytes([2], [1, 0]));
    const names = write(folder, 'names', 'shirt\nboot\n');
    const { rows } = await readDataset(file, { classNames: names });
    expect(rows.map(({ label }) => label)).toEqual(['boot', 'shirt']);
    write(folder, 'classes.txt', 'a\nb');
    expect((await readDataset(folder)).classes).toEqual(['a', 'b']);
    write(folder, 'names', 'shirt\nshirt\n');
    await expect(readDataset(file, { classNames: names })).rejects.toThrow(
      'the class "shirt" is there twice; keep one',
    );
  });

  it.each<[string, Uint8Array, Uint8Array | null, string]>([
    ['cut off', images.subarray(0, 20), labels, '2 × 2 × 3 values in 20 bytes; is it complete, and an idx3 file?'],
    ['a head alone', images.subarray(0, 9), labels, '9 bytes, a head has 16; is it complete'],
    ['floats', Uint8Array.from(images, (v, i) => (i === 2 ? 13 : v)), labels, 'begins with 0 0 13 3, not 0 0 8 3'],
    ['a size beyond all', idxBytes([1, 65536, 65536], []), labels, '1 × 65536 × 65536 values in 16 bytes'],
    ['labels of others', images, idxBytes([3], [1, 2, 3]), '3 labels of 2 pictures; give those of one set'],
    ['no labels', images, null, 'no labels beside it; put train-labels-idx1-ubyte there'],
  ])('%s is told in one line', async (_, first, second, message) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'x'));
    write(folder, 'x/train-images-idx3-ubyte', first);
    if (second !== null) write(folder, 'x/train-labels-idx1-ubyte', second);
    await expect(readDataset(join(folder, 'x'))).rejects.toThrow(message);
    await expect(readDataset(join(folder, 'x'))).rejects.toThrow(/^[^\n]*train-[^\n]*; [^\n]+$/);
  });

  it('a compressed file that is none', async () => {
    const folder = temporaryFolder();
    write(folder, 'train-images-idx3-ubyte.gz', 'no gzip');
    write(folder, 'train-labels-idx1-ubyte.gz', gzipSync(labels));
    await expect(readDataset(folder)).rejects.toThrow(/idx3-ubyte\.gz: cannot be unpacked, .*; is the file complete\?/);
  });
});
