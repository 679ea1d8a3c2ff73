// Pairs in Parquet: files that pyarrow wrote as Hugging Face does, single rows by their pages, paths, and mistakes told.
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as zlib from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { readDataset } from '../src/data/dataset.node.ts';
import { openDecoder } from '../src/data/images.node.ts';
import { openParquetFile } from '../src/data/parquet.node.ts';
import { parquetEncoder } from '../src/data/parquet-writer.ts';
import type { Column, Row } from '../src/data/score-table.ts';
import { temporaryFolder } from './support/shapes.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/parquet/${name}.parquet`, import.meta.url));

/** A Parquet file of text columns. */
function write(path: string, names: readonly string[], rows: readonly Row[]): string {
  const encoder = parquetEncoder(names.map((name): Column => ({ name, type: 'string', nullable: true })));
  writeFileSync(path, Buffer.concat([...rows.flatMap((row) => encoder.add(row)), ...encoder.end()]));
  return path;
}

describe('files of Hugging Face', () => {
  it.each(['pairs-snappy', 'pairs-gzip'])(
    '%s: captions, classes by their names, pictures in any order',
    async (name) => {
      const folder = temporaryFolder();
      const path = join(folder, 'train-00000-of-00001.parquet');
      copyFileSync(fixture(name), path);
      writeFileSync(
        join(folder, 'beside.png'),
        await sharp({ create: { width: 2, height: 1, channels: 3, background: '#123456' } })
          .png()
          .toBuffer(),
      );
      const dataset = await readDataset(path);
      expect(dataset.classes).toEqual(['cat', 'dog', '0']);
      expect(dataset.rows).toEqual(
        Array.from({ length: 12 }, (_, i) => {
          const label = ['cat', 'dog', '0'][i % 3];
          const caption = i % 3 === 2 ? `a photo of a ${label}` : `picture ${i}`;
          return { id: String(i), image: `train-00000-of-00001.parquet#${i}`, caption, label };
        }),
      );
      const decode = await openDecoder();
      const order = [11, 0, 5, 6, 7, 6, 1, 10, 3, 2, 4, 8, 9];
      const found = await Promise.all(
        order.map(async (i) => (await decode(await dataset.picture(dataset.rows[i]))).data),
      );
      expect(found.map((data) => [...data.subarray(0, 3)])).toEqual(
        order.map((i) => (i === 5 ? [0x12, 0x34, 0x56] : [10 * (i % 4), 255 - (i % 4), i % 4])),
      );
      expect((await readDataset(folder, { split: 'train' })).rows).toEqual(dataset.rows);
      await expect(readDataset(folder, { split: 'test' })).rejects.toThrow('no test*.parquet; give another --split');
    },
  );

  it('compressed by Zstandard are read where Node can, and refused by name elsewhere', async () => {
    const read = readDataset(fixture('pairs-zstd'));
    if ('zstdDecompressSync' in zlib) expect((await read).rows).toHaveLength(12);
    else
      await expect(read).rejects.toThrow(/pairs-zstd.parquet: column ".*": compressed by ZSTD, only .*; write it anew/);
  });

  it('a picture that is neither in its row nor beside the file is named', async () => {
    const dataset = await readDataset(fixture('pairs-gzip'));
    const picture = await dataset.picture(dataset.rows[5]);
    await expect(picture.read()).rejects.toThrow(/pairs-gzip\.parquet: pair "5": .*beside\.png: cannot be read/);
  });
});

describe('single values', () => {
  it.each(['snappy-dictionary', 'gzip-v2', 'plain'])('%s: are those of reading from the front', async (name) => {
    const file = await openParquetFile(fixture(name));
    for (const column of ['image.bytes', 'caption', 'score', 'good']) {
      const all: unknown[] = [];
      for await (const [value] of file.read([column])) all.push(value);
      const at = await file.lookup(column);
      const order = Array.from(all, (_, i) => (i * 17 + 3) % all.length);
      expect(await Promise.all(order.map(at))).toEqual(order.map((i) => all[i]));
      await expect(at(all.length)).rejects.toThrow(`no row ${all.length}; was the file changed?`);
    }
    await expect((async () => file.lookup('tags.list.element'))()).rejects.toThrow('is a list; give another column');
    await file.close();
  });
});

describe('paths', () => {
  it('are those of pictures beside the file', async () => {
    const folder = temporaryFolder();
    const red = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#ff0000' } })
      .png()
      .toBuffer();
    writeFileSync(join(folder, 'red.png'), red);
    const path = write(join(folder, 'a.parquet'), ['image', 'caption', 'id'], [['red.png', 'red', 'r']]);
    const { rows, picture } = await readDataset(path);
    expect(rows).toEqual([{ id: 'r', image: 'a.parquet#0', caption: 'red', label: null }]);
    const { data } = await (await openDecoder())(await picture(rows[0]));
    expect([...data]).toEqual([255, 0, 0]);
  });

  it.each<[string, readonly string[], Row[], string]>([
    ['no images', ['picture', 'text'], [['a', 'b']], 'image: no such column among ["picture","text"]; name one so'],
    ['no captions', ['image'], [['a']], 'caption: no such column among ["image"]; name one caption, text or label'],
    ['a path out of the folder', ['image', 'text'], [['../a.png', 'b']], 'row 0: image: "../a.png" leaves the folder'],
    [
      'a path of nothing',
      ['image', 'text'],
      [
        ['a.png', 'b'],
        [null, 'b'],
      ],
      'row 1: image: found nothing; give every row',
    ],
    [
      'a caption of nothing',
      ['image', 'text'],
      [['a.png', null]],
      'row 0: caption: found nothing; give every row a cap',
    ],
    [
      'an id twice',
      ['image', 'text', 'id'],
      [
        ['a', 'b', 'x'],
        ['c', 'd', 'x'],
      ],
      'row 1: id: "x" is also that of row 0',
    ],
    ['no rows', ['image', 'text'], [], 'no rows; give at least one pair'],
  ])('%s: told in one line', async (_, names, rows, message) => {
    const path = write(join(temporaryFolder(), 'a.parquet'), names, rows);
    const error = await readDataset(path).catch((e: unknown) => e as Error);
    expect((error as Error).message).toContain(`${path}: ${message}`);
  });

  it('that are links out of the folder are refused', async () => {
    const folder = temporaryFolder();
    symlinkSync(fixture('plain'), join(folder, 'link.png'));
    const { rows, picture } = await readDataset(
      write(join(folder, 'a.parquet'), ['image', 'text'], [['link.png', 'x']]),
    );
    await expect(picture(rows[0])).rejects.toThrow(/pair "0": .*link\.png is a link out of the folder/);
  });
});
