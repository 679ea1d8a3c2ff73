// Data that are not what they should be: every command that reads them says so in one line, and leaves nothing behind.
import { mkdirSync, readFileSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { cifarBytes, idxBytes, tarBytes, tarFile } from './support/containers.ts';
import { type Misuse, misuses, type Place, snapshot, useStage } from './support/misuse.ts';

const stage = useStage(false);

/** `ecif train` on some data. */
const train = (place: Place, data: string, ...more: readonly string[]): string[] => [
  ...['train', data, '--model', stage.model, '--out', place.path('out'), '--epochs', '1', ...more],
];

/** A list with one more row. */
const row =
  (rows: string, ...more: readonly string[]) =>
  (place: Place) =>
    train(place, place.list(rows), ...more);

/** A file by its name, as data. */
const file =
  (name: string, content: string | Uint8Array, ...more: readonly string[]) =>
  (place: Place) =>
    train(place, place.file(name, content), ...more);

/** A piece of a PNG. */
function chunk(type: string, body: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type), body]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(body.length, 0);
  ends.writeUInt32BE(crc32(typed), 4);
  return Buffer.concat([ends.subarray(0, 4), typed, ends.subarray(4)]);
}

/** A PNG of zeros, one byte a pixel: few bytes for many pixels. */
function zeroPng(width: number, height: number, rows: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const body = deflateSync(Buffer.alloc((width + 1) * rows));
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))]);
}

/** A list whose second picture is given. */
const picture =
  (name: string, content: Uint8Array) =>
  (place: Place): string[] => {
    place.file(name, content);
    return train(place, place.list(`${name},a picture\n`));
  };

/** A JPEG of many colours without its second half. */
async function halfJpeg(): Promise<Uint8Array> {
  const data = Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => (i * i * 31) % 256);
  const whole = await sharp(data, { raw: { width: 64, height: 64, channels: 3 } })
    .jpeg()
    .toBuffer();
  return whole.subarray(0, whole.length / 2);
}

const LISTS: readonly Misuse[] = [
  {
    what: 'a path where nothing is',
    words: (p) => train(p, p.path('none.csv')),
    says: /none\.csv: cannot be read, ENOENT/,
  },
  { what: 'an empty CSV', words: file('empty.csv', ''), says: /empty\.csv: empty; give a first line/ },
  {
    what: 'a CSV with a first line alone',
    words: file('head.csv', 'image,caption\n'),
    says: /head\.csv: no rows; list/,
  },
  {
    what: 'a missing column',
    words: file('x.csv', 'image,text\na.png,b\n'),
    says: /x\.csv: line 1: caption: no such column/,
  },
  {
    what: 'a column that is there twice',
    words: file('x.csv', 'image,caption,image\na,b,c\n'),
    says: /image: the column is there twice; keep one/,
  },
  {
    what: 'a row that is too long',
    words: row('a.png,one,two\n'),
    says: /line 3: fields: found 3, the first line has 2; quote/,
  },
  {
    what: 'a quote that is not closed',
    words: row('a.png,"a cat\n'),
    says: /line 3: a quote is never closed; close it/,
  },
  {
    what: 'text after a quote',
    words: row('a.png,"a cat" asleep\n'),
    says: /line 3: " " after a closing quote; double it/,
  },
  { what: 'a NUL in a path', words: row('a\0.png,b\n'), says: /line 3: image: .* leaves the folder of the list; give/ },
  {
    what: 'letters that are no UTF-8',
    words: (p) => train(p, p.file('x.csv', Buffer.from('image,caption\na.png,\xff\xfe\n', 'latin1'))),
    says: /x\.csv: not UTF-8 text; save it as UTF-8/,
  },
  {
    what: 'an empty caption',
    words: row('a.png,\n'),
    says: /line 3: caption: found nothing; give every row a caption/,
  },
  {
    what: 'a caption that is too long',
    words: row(`a.png,${'x'.repeat(70_000)}\n`),
    says: /line 3: caption: 70000 letters; give 65536 at most/,
  },
  {
    what: 'a field beyond all bounds',
    words: (p) => train(p, p.list(`a.png,"${'x'.repeat(2 ** 26 + 1)}`)),
    says: /line 3: more than 67108864 letters; is a quote not closed/,
  },
  {
    what: 'an id that is there twice',
    words: file('x.csv', 'image,caption,id\na.png,a,1\nb.png,b,1\n'),
    says: /line 3: id: "1" is also that of line 2; give every row its own/,
  },
  {
    what: 'a path out of the folder',
    words: row('../pictures/red-square.png,b\n'),
    says: /"\.\.\/pictures\/red-square\.png" leaves the folder/,
  },
  {
    what: 'an absolute path',
    words: row('/etc/passwd,b\n'),
    says: /"\/etc\/passwd" leaves the folder of the list; give a path inside it/,
  },
  {
    what: 'a link out of the folder',
    words: (p) => {
      symlinkSync(join(stage.home, 'pictures', 'red-circle.png'), p.path('link.png'));
      return train(p, p.list('link.png,b\n'));
    },
    says: /pair "1": .*link\.png is a link out of the folder; copy the file there/,
  },
  {
    what: 'a line of JSONL that is no JSON',
    words: file('x.jsonl', '{"image":"a.png","caption":"b"}\n{"image":\n'),
    says: /x\.jsonl: line 2: row: no JSON; give one object a line/,
  },
  {
    what: 'a line of JSONL that is no object',
    words: file('x.jsonl', '[1,2]\n'),
    says: /x\.jsonl: line 1: row: found \[1,2\]; give one object a line/,
  },
  {
    what: 'a picture whose name is a number',
    words: file('x.jsonl', '{"image":7,"caption":"b"}\n'),
    says: /line 1: image: found 7; give a text/,
  },
  {
    what: 'one pair only',
    words: (p) => train(p, p.list('')),
    says: /pairs\.csv: one pair; a contrastive loss needs two or more/,
  },
  {
    what: 'one pair only, left by --limit',
    words: (p) => train(p, stage.data, '--limit', '1'),
    says: /pairs\.csv: one pair; a contrastive loss/,
  },
  {
    what: 'captions that are all the same',
    words: row('a.png,a red square\n'),
    says: /pairs\.csv: all 2 captions are "a red square"; give two or more different ones/,
  },
  { what: 'a folder without pictures', words: (p) => train(p, p.folder), says: /no pictures in class folders; / },
];

const PICTURES: readonly Misuse[] = [
  {
    what: 'a picture that is missing',
    words: row('none.png,b\n'),
    says: /pair "1": .*none\.png: cannot be read, ENOENT.*; check the path/,
  },
  {
    what: 'a picture that is a folder',
    words: (p) => {
      mkdirSync(p.path('folder.png'));
      return train(p, p.list('folder.png,b\n'));
    },
    says: /folder\.png: cannot be read, EISDIR.*; check the path/,
  },
  {
    what: 'a picture that is a text',
    words: picture('text.png', Buffer.from('no picture')),
    says: /text\.png: cannot be decoded, .*; replace the picture/,
  },
  {
    what: 'an empty picture',
    words: picture('empty.png', Buffer.alloc(0)),
    says: /empty\.png: cannot be decoded, .*; replace the picture/,
  },
  {
    what: 'a JPEG that is cut off',
    words: async (p) => picture('cut.jpg', await halfJpeg())(p),
    says: /cut\.jpg: cannot be decoded, .*; replace the picture/,
  },
  {
    what: 'a PNG of zeros that unpacks to a thousand times its size',
    words: picture('bomb.png', zeroPng(12_000, 12_000, 12_000)),
    says: /bomb\.png: cannot be decoded, .*pixel limit.*; replace/,
  },
  {
    what: 'a PNG that says it is huge',
    words: picture('huge.png', zeroPng(2 ** 31 - 1, 2 ** 31 - 1, 0)),
    says: /huge\.png: cannot be decoded, .*; replace the picture/,
  },
  {
    what: 'a picture of more bytes than any',
    words: (p) => {
      truncateSync(p.file('long.png'), 2 ** 28 + 1);
      return train(p, p.list('long.png,b\n'));
    },
    says: /long\.png: 268435457 bytes, at most 268435456; is this a picture\?/,
  },
  {
    what: 'nothing but bad pictures to skip',
    words: (p) => (p.file('b.png', 'x'), train(p, p.file('x.csv', 'image,caption\nb.png,a\n'), '--bad-images', 'skip')),
    says: /x\.csv: no pair is left; check the pictures/,
  },
];

const paint = () => 7;

const CONTAINERS: readonly Misuse[] = [
  {
    what: 'a Parquet file that is none',
    words: file('x.parquet', 'no Parquet file at all'),
    says: /x\.parquet: does not begin and end with PAR1; is the file complete/,
  },
  {
    what: 'a Parquet file that is cut off',
    words: (p) => train(p, p.file('x.parquet', Buffer.from('PAR1\0\0\0\0\xff\xff\0\0PAR1', 'latin1'))),
    says: /x\.parquet: a footer of 65535 bytes, the file has 16, .*; is the file complete/,
  },
  {
    what: 'a tar that is cut off',
    words: (p) => train(p, p.file('x.tar', tarBytes(tarFile({ name: 'a.png' }, 'x'.repeat(2000))).subarray(0, 1024))),
    says: /x\.tar: a\.png: 2000 bytes at 512, it ends at 1024; is the file complete/,
  },
  {
    what: 'a tar that is none',
    words: file('x.tar', 'x'.repeat(1024)),
    says: /x\.tar: a header with a wrong checksum; is the file complete, and a tar/,
  },
  {
    what: 'a tar with pictures alone',
    words: file('x.tar', tarBytes(tarFile({ name: 'a.png' }, 'x'))),
    says: /x\.tar: "a": caption: found nothing; give every row a caption/,
  },
  {
    what: 'IDX counts that lie',
    words: (p) => (
      p.file('d/train-images-idx3-ubyte', idxBytes([60_000, 65_536, 65_536], [1])),
      p.file('d/train-labels-idx1-ubyte', idxBytes([1], [1])),
      train(p, p.path('d'))
    ),
    says: /idx3-ubyte: 60000 × 65536 × 65536 values in 17 bytes; is it complete/,
  },
  {
    what: 'a CIFAR file of another length',
    words: file('test_batch.bin', cifarBytes([[1]], paint).subarray(0, 3000)),
    says: /test_batch\.bin: 3000 bytes are no records of 3073; is the file complete/,
  },
  {
    what: 'labels beyond the names of classes',
    words: (p) =>
      train(
        p,
        p.file('test_batch.bin', cifarBytes([[1], [2]], paint)),
        '--class-names',
        p.file('names.txt', 'cat\ndog\n'),
      ),
    says: /label 2 of 2 classes; is the file of another kind, or --class-names short\?/,
  },
  {
    what: 'a split that is not there',
    words: (p) => train(p, stage.data, '--split', 'test'),
    says: /pairs\.csv: has no splits, test was asked for; leave out --split/,
  },
  {
    what: 'a format that the data have not',
    words: (p) => train(p, stage.data, '--format', 'tar'),
    says: /pairs\.csv: a header with a wrong checksum; is the file complete, and a tar archive\?/,
  },
];

const CHOICES: readonly Misuse[] = [
  {
    what: 'a template without a place for the class',
    words: (p) => train(p, stage.data, '--templates', 'a photo'),
    says: /template: found "a photo"; put \{\} where the class goes/,
  },
  {
    what: 'names of classes that are not there',
    words: (p) => train(p, stage.data, '--class-names', p.path('none')),
    says: /none: cannot be read/,
  },
  {
    what: 'noisy labels of another length',
    words: (p) => train(p, stage.data, '--noise-labels', p.file('noisy.txt', 'square\ncircle\n')),
    says: /noisy\.txt: 2 labels of 12 pairs in .*pairs\.csv; give one for each/,
  },
  {
    what: 'a noisy label of no class',
    words: (p) => train(p, stage.data, '--noise-labels', p.file('noisy.txt', 'cube\n'.repeat(12))),
    says: /noisy\.txt: label 1: found "cube"; give one of 3 classes, or its number/,
  },
  {
    what: 'noise beyond all pairs',
    words: (p) => train(p, stage.data, '--noise', '1.5'),
    says: /--noise: found "1\.5"; give a number ≥ 0 and ≤ 1/,
  },
  {
    what: 'ids to leave out that are of no pair',
    words: (p) => train(p, stage.data, '--without', p.file('ids.txt', 'red-sqare\n')),
    says: /no pair "red-sqare" \(did you mean "red-square"\?\); give ids of its 12 pairs/,
  },
  {
    what: 'all ids left out',
    words: (p) =>
      train(
        p,
        stage.data,
        '--without',
        p.file(
          'ids.json',
          JSON.stringify(
            ['red', 'green', 'blue', 'yellow'].flatMap((c) => ['square', 'circle', 'triangle'].map((s) => `${c}-${s}`)),
          ),
        ),
      ),
    says: /pairs\.csv: no pair is left; a contrastive loss needs two or more/,
  },
  {
    what: 'an evaluation on a bad list',
    words: (p) => ['evaluate', p.list('none.png,b\n'), '--model', stage.model],
    says: /none\.png: cannot be read/,
  },
];

misuses('a list of pairs', stage, LISTS);
misuses('a picture', stage, PICTURES);
misuses('a container', stage, CONTAINERS);
misuses('what is asked of data', stage, CHOICES);

it('names in a tar that would leave its folder are names alone', async () => {
  const place = stage.place();
  const picture = readFileSync(join(stage.home, 'pictures', 'red-square.png'));
  const files = ['../../out', '/etc/ecif'].flatMap((name, i) => [
    tarFile({ name: `${name}.png` }, picture),
    tarFile({ name: `${name}.txt` }, `caption ${i}`),
  ]);
  const list = place.file('x.tar', tarBytes(...files));
  const before = snapshot(stage.home);
  expect((await stage.must(['evaluate', list, '--model', stage.model])).stdout).toContain('2 pictures, 2 captions');
  expect(snapshot(stage.home)).toEqual(before);
});
