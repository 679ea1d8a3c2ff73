// Parquet: files that pyarrow wrote, and files that are cut off, damaged or made to harm.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EcifError } from '../src/array/errors.ts';
import { PHYSICAL } from '../src/data/parquet-format.ts';
import { HybridReader } from '../src/data/parquet-hybrid.ts';
import type { Codecs } from '../src/data/parquet-pages.ts';
import { openParquet } from '../src/data/parquet-reader.ts';
import { unsnappy } from '../src/data/parquet-snappy.ts';
import { ThriftReader } from '../src/data/parquet-thrift-read.ts';
import { type Encoded, i32, i64, list, struct, text } from '../src/data/parquet-thrift-write.ts';
import type { ParquetValue } from '../src/data/parquet-values.ts';
import { CODECS_HERE, openParquetFile } from '../src/data/parquet.node.ts';
import { bytesSource } from '../src/models/clip/byte-source.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/parquet/${name}.parquet`, import.meta.url));
const NAMES = ['snappy-dictionary', 'gzip-v2', 'plain'] as const;
const COLUMNS = ['image.bytes', 'image.path', 'caption', 'score', 'small', 'count', 'batch', 'good'];
const WORDS = ['cat', '', 'a "quoted"\nline', 'ünï 😀', '\ufeffmark'];

/** Row `i` of the fixtures, as their README makes it. */
function fixtureRow(i: number): ParquetValue[] {
  const image = i % 7 !== 3;
  return [
    image ? Uint8Array.from({ length: 3 * (i % 4) }, (_, k) => [i, 255, 0][k % 3]) : null,
    image && i % 5 !== 1 ? `${i}.png` : null,
    i % 6 === 5 ? null : WORDS[i % 5],
    i % 4 === 2 ? null : (i - 20) / 8,
    i / 4,
    (i % 2 === 0 ? 1 : -1) * (Number.MAX_SAFE_INTEGER - i),
    Math.floor(i / 8),
    i % 9 === 4 ? null : i % 3 === 0,
  ];
}

/** All rows of a file in memory, with a limit for what no small file may hold. */
async function rowsOf(bytes: Uint8Array, columns: readonly string[], codecs: Codecs = CODECS_HERE) {
  const file = await openParquet(bytesSource('f.parquet', bytes), codecs);
  const rows: ParquetValue[][] = [];
  for await (const row of file.read(columns)) {
    rows.push(row);
    expect(rows.length).toBeLessThan(10_000);
  }
  return rows;
}

describe('files of pyarrow', () => {
  it.each(NAMES)(
    '%s: texts, bytes in a struct, numbers, booleans and nulls are those that were written',
    async (name) => {
      const file = await openParquetFile(fixture(name));
      const rows: ParquetValue[][] = [];
      for await (const row of file.read(COLUMNS)) rows.push(row);
      await file.close();
      expect(rows).toEqual(Array.from({ length: 40 }, (_, i) => fixtureRow(i)));
      expect(file.leaves.map(({ name: leaf, kind }) => [leaf, kind]).at(-1)).toEqual(['tags.list.element', 'repeated']);
    },
  );

  it('columns come in the order asked for, and a column that is not read is refused by name', async () => {
    const bytes = readFileSync(fixture('plain'));
    expect((await rowsOf(bytes, ['batch', 'caption']))[13]).toEqual([1, 'ünï 😀']);
    await expect(rowsOf(bytes, ['tags.list.element'])).rejects.toThrow(
      'f.parquet: column "tags.list.element": is a list',
    );
    await expect(rowsOf(bytes, ['image'])).rejects.toThrow(/^f\.parquet: column "image": not among \["image\.bytes"/);
    await expect(openParquetFile('/nowhere/x.parquet')).rejects.toThrow(/^\/nowhere\/x\.parquet: cannot be read/);
  });
});

describe('a damaged file', () => {
  /** Codecs that see to it that no more is asked for than the bytes can give. */
  const watched: Codecs = new Map(
    [...CODECS_HERE].map(([name, { decompress, ratio }]) => [
      name,
      {
        ratio,
        decompress: (bytes: Uint8Array, size: number) => {
          expect(size).toBeLessThan(bytes.length * ratio + 65);
          return decompress(bytes, size);
        },
      },
    ]),
  );

  /** What became of reading: the number of rows, or an error of one line that begins with the file. */
  async function outcome(bytes: Uint8Array): Promise<number | string> {
    try {
      return (await rowsOf(bytes, COLUMNS, watched)).length;
    } catch (error) {
      if (!(error instanceof EcifError)) throw error;
      expect(error.message).toMatch(/^f\.parquet: [^\n]+; [^\n]+$/);
      return error.message;
    }
  }

  it.each(NAMES)('%s: cut off anywhere is refused', async (name) => {
    const bytes = readFileSync(fixture(name));
    for (let length = 0; length < bytes.length; length += 17) {
      expect(typeof (await outcome(bytes.subarray(0, length)))).toBe('string');
    }
  });

  it.each(NAMES)('%s: any bit flipped gives values or an error', async (name) => {
    const bytes = readFileSync(fixture(name));
    const seen = { values: 0, errors: 0 };
    for (let bit = 0; bit < bytes.length * 8; bit += 31) {
      const flipped = Uint8Array.from(bytes);
      flipped[bit >> 3] ^= 1 << (bit & 7);
      seen[typeof (await outcome(flipped)) === 'string' ? 'errors' : 'values']++;
    }
    expect(Math.min(seen.values, seen.errors)).toBeGreaterThan(10);
  });

  it('random bytes in the footer or in the pages give values or an error', async () => {
    const file = readFileSync(fixture('snappy-dictionary'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 12 }),
        async (changes) => {
          const bytes = Uint8Array.from(file);
          for (const [at, value] of changes) bytes[at] = value;
          expect(await outcome(bytes)).toBeDefined();
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** A file with one column of optional texts, whose claims can be set. */
function crafted(claims: {
  rows?: number;
  size?: number;
  count?: number;
  codec?: number;
  column?: Encoded;
  page?: number;
}) {
  const { rows = 1, size = 8, count = 1, codec = 0, page = 0 } = claims;
  const values = struct({ 1: i32(count), 2: i32(0), 3: i32(3), 4: i32(3) });
  const header = struct({ 1: i32(page), 2: i32(size), 3: i32(8), 5: values, 7: struct({ 1: i32(count), 2: i32(0) }) });
  const pages = [...header.bytes, 2, 0, 0, 0, 2, 0, 9, 9];
  const meta = struct({
    ...{ 1: i32(PHYSICAL.bytes), 2: list([]), 3: list([text('a')]), 4: i32(codec) },
    ...{ 5: i64(rows), 6: i64(pages.length), 7: i64(pages.length), 9: i64(4) },
  });
  const group = struct({ 1: list([struct({ 2: i64(4), 3: meta })]), 2: i64(pages.length), 3: i64(rows) });
  const leaf = claims.column ?? struct({ 1: i32(PHYSICAL.bytes), 3: i32(1), 4: text('a'), 6: i32(0) });
  const schema = list([struct({ 4: text('schema'), 5: i32(1) }), leaf]);
  const footer = struct({ 1: i32(1), 2: schema, 3: i64(rows), 4: list([group]) }).bytes;
  const length = [footer.length & 255, footer.length >> 8, 0, 0];
  const magic = [...new TextEncoder().encode('PAR1')];
  return Uint8Array.from([...magic, ...pages, ...footer, ...length, ...magic]);
}

describe('a file made to harm', () => {
  it('is as good as any other without its claims', async () => {
    expect(await rowsOf(crafted({}), ['a'])).toEqual([[null]]);
  });

  it.each([
    ['rows that its pages do not hold', { rows: 2 ** 40 }, 'column "a": its pages hold fewer values than rows'],
    ['more values in a page than it has', { rows: 2 ** 40, count: 2 ** 30 }, 'column "a": ends too early'],
    ['a page of half a gigabyte in 8 bytes', { size: 2 ** 29, codec: 2 }, 'a page of 8 bytes that says it holds'],
    ['a page beyond all limits', { size: 2 ** 31, codec: 1 }, 'a page of 8 bytes that says it holds 2147483648'],
    ['a dictionary of a thousand million texts', { page: 2, count: 2 ** 30 }, 'a dictionary of 1073741824 values in 8'],
    ['a codec that is not read', { codec: 3 }, 'compressed by LZO, only UNCOMPRESSED, SNAPPY, GZIP'],
    ['a codec that is none', { codec: 99 }, 'compressed by 99'],
    ['a page of no known type', { page: 9 }, 'a page of type 9'],
    [
      'fields that its tree does not have',
      { column: struct({ 3: i32(0), 4: text('a'), 5: i32(7) }) },
      'does not add up',
    ],
    [
      'a name with line breaks',
      { column: struct({ 1: i32(6), 3: i32(1), 4: text('b\n\u001b[2J') }) },
      'a stands where b\ufffd',
    ],
    ['values of no bytes', { column: struct({ 1: i32(7), 2: i32(0), 3: i32(1), 4: text('a') }) }, 'length of a is 0'],
  ])('that claims %s is refused', async (_, claims, message) => {
    const error = await rowsOf(crafted(claims), ['a']).then(
      () => null,
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(EcifError);
    expect((error as Error).message).toMatch(/^f\.parquet: \P{Cc}+$/u);
    expect((error as Error).message).toContain(message);
  });

  it('nested without end, or with lists longer than itself, is refused', () => {
    expect(() => new ThriftReader(new Uint8Array(1000).fill(0x1c)).struct()).toThrow('nested deeper than 16');
    expect(() => new ThriftReader(Uint8Array.of(0x19, 0xf5, 0xff, 0xff, 0xff, 0x7f, 0)).struct()).toThrow('too early');
    expect(() => new ThriftReader(Uint8Array.of(0x18, 0xff, 0xff, 0xff, 0xff, 0x7f)).struct()).toThrow('too early');
  });
});

describe('parts of the format', () => {
  it('runs and packed groups give the numbers of the specification', () => {
    const packed = new HybridReader(Uint8Array.of(0b11, 0b10001000, 0b11000110, 0b11111010, 0b1010, 5), 3);
    expect(Array.from({ length: 13 }, () => packed.next())).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 5, 5, 5, 5, 5]);
    const wide = new HybridReader(Uint8Array.of(4, 0xff, 0xff, 0xff, 0xff), 32);
    expect([wide.next(), wide.next()]).toEqual([2 ** 32 - 1, 2 ** 32 - 1]);
    expect(() => wide.next()).toThrow('too early');
    expect(() => new HybridReader(Uint8Array.of(0), 3).next()).toThrow('a run of no values');
  });

  it('Snappy: literals, copies of each width, and copies that repeat themselves', () => {
    const of = (size: number, ...bytes: number[]): string =>
      new TextDecoder().decode(unsnappy(Uint8Array.from(bytes), size));
    const abc = [97, 98, 99];
    expect(of(3, 3, 2 << 2, ...abc)).toBe('abc');
    expect(of(8, 8, 2 << 2, ...abc, (1 << 2) | 1, 3)).toBe('abcabcab');
    expect(of(9, 9, 2 << 2, ...abc, (5 << 2) | 2, 1, 0)).toBe('abccccccc');
    expect(of(6, 6, 2 << 2, ...abc, (2 << 2) | 3, 3, 0, 0, 0)).toBe('abcabc');
    expect(of(61, 61, 60 << 2, 60, ...Array.from({ length: 61 }, () => 120))).toBe('x'.repeat(61));
    expect(() => of(4, 3, 2 << 2, ...abc)).toThrow('3 bytes, its page has 4');
    expect(() => of(8, 8, 2 << 2, ...abc, (1 << 2) | 1, 4)).toThrow('a copy from nowhere');
    expect(() => of(3, 3, 7 << 2, ...abc)).toThrow('ends too early');
  });
});
