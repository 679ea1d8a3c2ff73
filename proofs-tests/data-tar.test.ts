// WebDataset archives, written block by block: names of every form, pairs by their keys, and every mistake told.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { readDataset } from '../src/data/dataset.node.ts';
import { openDecoder } from '../src/data/images.node.ts';
import { expandBraces } from '../src/data/readers/braces.ts';
import { paxRecord, tarBytes, tarFile, tarHeader } from './support/containers.ts';
import { temporaryFolder } from './support/shapes.ts';

const picture = (colour: string): Promise<Buffer> =>
  sharp({ create: { width: 2, height: 2, channels: 3, background: colour } })
    .png()
    .toBuffer();
let red: Buffer;
let blue: Buffer;
beforeAll(async () => {
  [red, blue] = [await picture('#ff0000'), await picture('#0000ff')];
});

const write = (bytes: Uint8Array, name = 'a.tar'): string => {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  return path;
};

/** The first pixel of every picture. */
async function colours(path: string): Promise<number[][]> {
  const [dataset, decode] = [await readDataset(path), await openDecoder()];
  const out: number[][] = [];
  for (const row of dataset.rows) out.push([...(await decode(await dataset.picture(row))).data.subarray(0, 3)]);
  return out;
}

describe('an archive', () => {
  it('has a pair for every key: captions from .txt or .json, classes from .cls', async () => {
    const path = write(
      tarBytes(
        tarFile({ name: 'notes.md' }, 'nothing of ours'),
        tarFile({ name: 'v1.0/one.png' }, red),
        tarFile({ name: 'v1.0/one.txt' }, 'a red one\n'),
        tarHeader({ name: 'v1.0/', size: 0, type: '5' }),
        tarFile({ name: 'two.json' }, JSON.stringify({ text: 'a blue one', label: 'sea' })),
        tarFile({ name: 'two.PNG' }, blue),
        tarFile({ name: 'two.seg.png' }, 'a mask, which is no picture of ours'),
        tarFile({ name: 'three.cls' }, 'sky\n'),
        tarFile({ name: 'three.png' }, blue),
      ),
    );
    const { rows, classes } = await readDataset(path);
    expect(rows).toEqual([
      { id: 'v1.0/one', image: 'a.tar/v1.0/one.png', caption: 'a red one', label: null },
      { id: 'two', image: 'a.tar/two.PNG', caption: 'a blue one', label: 'sea' },
      { id: 'three', image: 'a.tar/three.png', caption: 'a photo of a sky', label: 'sky' },
    ]);
    expect(classes).toEqual(['sea', 'sky']);
    expect(await colours(path)).toEqual([
      [255, 0, 0],
      [0, 0, 255],
      [0, 0, 255],
    ]);
  });

  it('has long names by prefix, pax and GNU, and sizes in base 256', async () => {
    const long = `${'x'.repeat(120)}/${'y'.repeat(40)}`;
    const size = tarFile({ name: 'big.png' }, red);
    size.set([128, 0, 0, 0, 0, 0, 0, 0, 0, 0, red.length >> 8, red.length & 255], 124);
    size.set(Buffer.from(' '.repeat(8)), 148);
    size.set(
      Buffer.from(
        `${size
          .subarray(0, 512)
          .reduce((a, b) => a + b, 0)
          .toString(8)
          .padStart(6, '0')}\0 `,
      ),
      148,
    );
    const path = write(
      tarBytes(
        tarFile({ name: `${'y'.repeat(40)}.png`, prefix: 'x'.repeat(120) }, red),
        tarFile({ name: 'g', type: 'g' }, paxRecord('comment', 'of all')),
        tarFile({ name: 'pax', type: 'x' }, paxRecord('mtime', '1.5') + paxRecord('path', `${long}.txt`)),
        tarFile({ name: 'short.txt' }, 'by prefix and pax'),
        tarFile({ name: '././@LongLink', type: 'L' }, `z/${long}.txt\0`),
        tarFile({ name: 'cut' }, 'by GNU'),
        tarFile(
          { name: 'pax', type: 'x' },
          paxRecord('path', `z/${long}.ä.png`) + paxRecord('size', String(blue.length)),
        ),
        tarFile({ name: 'cut' }, blue),
        tarFile({ name: 'pax', type: 'x' }, paxRecord('path', `z/${long}.png`)),
        tarFile({ name: 'cut' }, blue),
        size,
        tarFile({ name: 'big.txt' }, 'base 256'),
      ),
    );
    expect((await readDataset(path)).rows.map(({ id, caption }) => [id, caption])).toEqual([
      [long, 'by prefix and pax'],
      [`z/${long}`, 'by GNU'],
      ['big', 'base 256'],
    ]);
    expect(await colours(path)).toEqual([
      [255, 0, 0],
      [0, 0, 255],
      [255, 0, 0],
    ]);
  });

  it('may be one of several, as a range in braces or the archives of a split in a folder', async () => {
    const folder = temporaryFolder();
    for (const name of ['train-08', 'train-09', 'train-10', 'test-00']) {
      const bytes = tarBytes(tarFile({ name: 'k.png' }, red), tarFile({ name: 'k.txt' }, name));
      writeFileSync(join(folder, `${name}.tar`), bytes);
    }
    const captions = async (path: string, split?: 'train' | 'test'): Promise<string[]> =>
      (await readDataset(path, { split })).rows.map(({ caption }) => caption);
    expect(await captions(join(folder, 'train-{08..10}.tar'))).toEqual(['train-08', 'train-09', 'train-10']);
    expect(await captions(folder)).toEqual(['train-08', 'train-09', 'train-10']);
    expect(await captions(folder, 'test')).toEqual(['test-00']);
    const { rows } = await readDataset(folder);
    expect(rows.map(({ id }) => id)).toEqual(['train-08.tar/k', 'train-09.tar/k', 'train-10.tar/k']);
    await expect(captions(join(folder, 'train-{10..12}.tar'))).rejects.toThrow(/train-11\.tar: cannot be read/);
    expect(() => expandBraces('a-{3..1}.tar')).toThrow('a-{3..1}.tar: -1 files; give 1 to 100000, the lower number');
    expect(() => expandBraces('a-{0..999999999}')).toThrow('1000000000 files; give 1 to 100000');
    expect(() => expandBraces('a-{x}')).toThrow('a-{x}: no range in braces; write {000..003}');
  });

  it.each<[string, () => Uint8Array, string]>([
    ['cut off', () => tarBytes(tarFile({ name: 'a.png' }, red)).subarray(0, 600), `a.png: `],
    [
      'no tar',
      () => Buffer.alloc(2048, 'x'),
      'a header with a wrong checksum; is the file complete, and a tar archive?',
    ],
    [
      'a size of 8 GB',
      () => tarHeader({ name: 'a.png', size: 2 ** 33 - 1 }),
      '8589934591 bytes at 512, it ends at 512',
    ],
    [
      'a name of 2 MB',
      () => tarFile({ name: 'l', type: 'L' }, 'n'.repeat(2 ** 21)),
      'a name of 2097152 bytes, at most',
    ],
    [
      'a pax record without end',
      () => tarFile({ name: 'p', type: 'x' }, '99999 path=a\n'),
      'a pax record that does not',
    ],
    [
      'a pax size of nothing',
      () => tarBytes(tarFile({ name: 'p', type: 'x' }, paxRecord('size', '-1')), tarHeader({ name: 'a', size: 0 })),
      'a pax size that is no number',
    ],
    [
      'half a block',
      () => Buffer.concat([tarFile({ name: 'a.md' }, 'x'), new Uint8Array(100)]),
      '1124 bytes are no blocks of 512',
    ],
    [
      'two pictures of a pair',
      () => tarBytes(tarFile({ name: 'a.png' }, red), tarFile({ name: 'a.jpg' }, red)),
      '"a": a second picture; give every pair its own name',
    ],
    [
      'a picture without words',
      () => tarBytes(tarFile({ name: 'a.png' }, red)),
      '"a": caption: found nothing; give every row a caption',
    ],
    [
      'words without a picture',
      () => tarBytes(tarFile({ name: 'a.txt' }, 'x')),
      '"a": image: found nothing; add its picture',
    ],
    [
      'nothing of ours',
      () => tarBytes(tarFile({ name: 'a.md' }, 'x')),
      'no pairs; name their files KEY.jpg and KEY.txt',
    ],
    [
      'words that are no JSON',
      () => tarBytes(tarFile({ name: 'a.png' }, red), tarFile({ name: 'a.json' }, '{')),
      '"a": json: no JSON; give one object',
    ],
    [
      'words that are no text',
      () => tarBytes(tarFile({ name: 'a.txt' }, Uint8Array.of(255))),
      '"a.txt": not UTF-8 text; save it as UTF-8',
    ],
  ])('%s is told in one line', async (_, bytes, message) => {
    const path = write(bytes());
    const error = await readDataset(path).catch((e: unknown) => e as Error);
    expect((error as Error).message).toMatch(/^\P{Cc}+; \P{Cc}+$/u);
    expect((error as Error).message.startsWith(`${path}: `)).toBe(true);
    expect((error as Error).message).toContain(message);
  });

  it('that is compressed is sent back', async () => {
    await expect(readDataset(write(new Uint8Array(9), 'a.tar.gz'))).rejects.toThrow('a compressed archive; unpack it');
  });
});
