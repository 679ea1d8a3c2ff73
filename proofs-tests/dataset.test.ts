// Datasets: lists and class folders read as they are, and every mistake told in one line with file, line and field.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EcifError } from '../src/array/errors.ts';
import { createRng } from '../src/array/rng.ts';
import { readDataset } from '../src/data/dataset.node.ts';
import { captionOf } from '../src/data/dataset.ts';
import { parseDataset } from '../src/data/lists.ts';
import { parseCsv } from '../src/data/csv.ts';
import { openDecoder } from '../src/data/images.node.ts';
import { decodePartitions, drawPartition, encodePartitions } from '../src/data/partitions.ts';
import { openRowStore } from '../src/data/row-store.node.ts';
import { temporaryFolder, writeShapes } from './support/shapes.ts';

describe('lists', () => {
  it('are CSV, TSV and JSONL, with quotes, BOM and CRLF', () => {
    const csv = '\ufeffImage,caption,id\r\na.png,"a ""cat"", asleep\nin a box",7\r\n\r\nb.png,b,8\r\n';
    expect(parseDataset('a.csv', csv)).toEqual([
      { image: 'a.png', caption: 'a "cat", asleep\nin a box', id: '7', label: null },
      { image: 'b.png', caption: 'b', id: '8', label: null },
    ]);
    expect(parseDataset('a.tsv', 'caption\timage\nx, y\ta/b.png\n')).toEqual([
      { image: 'a/b.png', caption: 'x, y', id: '0', label: null },
    ]);
    expect(parseDataset('a.jsonl', '{"image":"a.png","caption":"c","id":3,"label":"l"}\n\n')).toEqual([
      { image: 'a.png', caption: 'c', id: '3', label: 'l' },
    ]);
  });

  it('know the line at which a record begins', () => {
    expect(parseCsv('f', 'a\n"x\ny"\nb', ',').map(({ line }) => line)).toEqual([1, 2, 4]);
  });

  it.each([
    ['a.csv', '', 'a.csv: empty; give a first line with image and caption'],
    ['a.csv', 'image,caption\n', 'a.csv: no rows; list at least one pair'],
    [
      'a.csv',
      'image,text\na,b',
      'a.csv: line 1: caption: no such column among ["image","text"]; name it in the first line',
    ],
    ['a.csv', 'image,caption,id,id\na,b,1,2', 'a.csv: line 1: id: the column is there twice; keep one'],
    [
      'a.csv',
      'image,caption\na.png,x\nb.png',
      'a.csv: line 3: fields: found 1, the first line has 2; quote fields that hold separators',
    ],
    ['a.csv', 'image,caption\na.png,', 'a.csv: line 2: caption: found nothing; give every row a caption'],
    [
      'a.csv',
      'image,caption\na.png, \u200b\u00a0\ufeff ',
      'a.csv: line 2: caption: found nothing; give every row a caption',
    ],
    ['a.csv', 'image,caption\n,x', 'a.csv: line 2: image: found nothing; give every row an image'],
    [
      'a.csv',
      'image,caption\n../a.png,x',
      'a.csv: line 2: image: "../a.png" leaves the folder of the list; give a path inside it',
    ],
    [
      'a.csv',
      'image,caption\n/etc/passwd,x',
      'a.csv: line 2: image: "/etc/passwd" leaves the folder of the list; give a path inside it',
    ],
    [
      'a.csv',
      'image,caption\nC:\\a.png,x',
      'a.csv: line 2: image: "C:\\\\a.png" leaves the folder of the list; give a path inside it',
    ],
    ['a.csv', 'image,caption\na.png,"x', 'a.csv: line 2: a quote is never closed; close it with "'],
    ['a.csv', 'image,caption\na.png,"x"y', 'a.csv: line 2: "y" after a closing quote; double it'],
    [
      'a.csv',
      'image,caption,id\na,x,1\nb,y,1',
      'a.csv: line 3: id: "1" is also that of line 2; give every row its own',
    ],
    ['a.jsonl', '{"image":"a","caption":"b"}\n{', 'a.jsonl: line 2: row: no JSON; give one object a line'],
    ['a.jsonl', '[1]', 'a.jsonl: line 1: row: found [1]; give one object a line'],
    ['a.jsonl', '{"image":1,"caption":"b"}', 'a.jsonl: line 1: image: found 1; give a text'],
  ])('%s: %j', (file, text, message) => {
    expect(() => parseDataset(file, text)).toThrow(new EcifError(message));
  });

  it('cannot put control characters into a message', () => {
    const hostile = 'image,caption,id\na,x,"\u001b[2J\n"\nb,y,"\u001b[2J\n"';
    let message = '';
    try {
      parseDataset('a.csv', hostile);
    } catch (error) {
      ({ message } = error as Error);
    }
    // oxlint-disable-next-line no-control-regex
    expect(message).toMatch(/^[^\u0000-\u001f]+$/);
  });
});

describe('on disk', () => {
  it('class folders become pairs by a template', async () => {
    const folder = temporaryFolder();
    for (const path of ['tabby_cat/b.png', 'tabby_cat/a.jpg', 'dog/a.png', 'dog/notes.txt', '.hidden/a.png']) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), '');
    }
    const { rows } = await readDataset(folder, { templates: ['a drawing of a {}'] });
    expect(rows.map(({ id, caption, label }) => [id, caption, label])).toEqual([
      ['dog/a.png', 'a drawing of a dog', 'dog'],
      ['tabby_cat/a.jpg', 'a drawing of a tabby cat', 'tabby_cat'],
      ['tabby_cat/b.png', 'a drawing of a tabby cat', 'tabby_cat'],
    ]);
    expect(() => captionOf('a photo', 'dog')).toThrow('template: found "a photo"; put {} where the class goes');
    await expect(readDataset(join(folder, 'dog'))).rejects.toThrow('no pictures in class folders');
    await expect(readDataset(join(folder, 'nowhere.csv'))).rejects.toThrow('nowhere.csv: cannot be read');
  });

  it('a picture that is missing, broken or a link out of the folder is named', async () => {
    const folder = temporaryFolder();
    await writeShapes(folder);
    mkdirSync(join(folder, 'inner'));
    writeFileSync(join(folder, 'inner', 'broken.png'), 'no picture');
    symlinkSync(join(folder, 'pictures', 'red-square.png'), join(folder, 'inner', 'link.png'));
    const list = join(folder, 'inner', 'pairs.csv');
    writeFileSync(list, 'image,caption\nbroken.png,a\nlink.png,b\nnone.png,c\n');
    const dataset = await readDataset(list);
    const decode = await openDecoder();
    await expect(decode(await dataset.picture(dataset.rows[0]))).rejects.toThrow(
      /broken\.png: cannot be decoded, .*; replace/,
    );
    await expect(dataset.picture(dataset.rows[1])).rejects.toThrow(/pair "1": .*link\.png is a link out of the folder/);
    await expect(dataset.picture(dataset.rows[2])).rejects.toThrow(/pair "2": .*none\.png: cannot be read/);
    writeFileSync(list, Buffer.from([0xff, 0xfe, 0x00]));
    await expect(readDataset(list)).rejects.toThrow('not UTF-8 text');
  });

  it('pictures are decoded on white', async () => {
    const folder = temporaryFolder();
    await writeShapes(folder);
    const { width, height, data } = await (await openDecoder())(join(folder, 'pictures', 'red-square.png'));
    expect([width, height, data.length]).toEqual([16, 16, 768]);
    expect([...data.subarray(0, 3)]).toEqual([255, 255, 255]);
    expect([...data.subarray(3 * (8 * 16 + 8), 3 * (8 * 16 + 8) + 3)]).toEqual([0xe0, 0x20, 0x20]);
  });
});

describe('partitions', () => {
  it('hold every pair once, in batches that differ by one at most', () => {
    const batches = drawPartition(createRng(4), 103, 20);
    expect(batches.map((rows) => rows.length)).toEqual([18, 17, 17, 17, 17, 17]);
    expect([...batches.flatMap((rows) => [...rows])].sort((a, b) => a - b)).toEqual([...Array(103).keys()]);
    expect(drawPartition(createRng(0), 3, 8).map((rows) => rows.length)).toEqual([3]);
  });

  it.each([103, 70_000])('of %i pairs are read as they were written', (count) => {
    const partitions = [0, 1].map((seed) => drawPartition(createRng(seed), count, 50));
    const bytes = encodePartitions(count, partitions);
    expect(decodePartitions('p', bytes)).toEqual({ count, partitions });
    expect(() => decodePartitions('p', bytes.subarray(0, bytes.length - 3))).toThrow(
      /^p: .*is this the partitions file/,
    );
  });

  it('that are damaged are refused', () => {
    const bytes = encodePartitions(4, [drawPartition(createRng(0), 4, 2)]);
    bytes.copyWithin(bytes.length - 2, bytes.length - 4, bytes.length - 2);
    expect(() => decodePartitions('p', bytes)).toThrow(/partition 0: pair \d is not one of 4 once/);
    expect(() => decodePartitions('p', new Uint8Array(40))).toThrow('does not begin with ECIFSEG1');
  });
});

describe('rows kept aside', () => {
  it.each(['memory', 'file'])('come back as they went: %s', (place) => {
    const file = join(temporaryFolder(), 'rows');
    const store = openRowStore({ rows: 5, width: 3, precision: 'float64', memory: place === 'file' ? 0 : 999, file });
    store.put(
      0,
      Float64Array.from({ length: 6 }, (_, i) => i / 7),
    );
    store.put(
      2,
      Float64Array.from({ length: 9 }, (_, i) => (i + 6) / 7),
    );
    expect(store.place).toBe(place === 'file' ? file : 'memory');
    expect([...store.get([4, 1])]).toEqual([12, 13, 14, 3, 4, 5].map((i) => i / 7));
    store.close();
  });
});
