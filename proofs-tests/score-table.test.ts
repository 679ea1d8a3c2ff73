// Tables of scores in three formats: what was written is read, the bytes depend on the rows alone, memory is bounded.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { parquetEncoder } from '../src/data/parquet-writer.ts';
import { openParquetFile } from '../src/data/parquet.node.ts';
import { SCORE_COLUMNS, scoreCells, scoreRow } from '../src/data/score-columns.ts';
import { readTable } from '../src/data/score-reader.node.ts';
import type { Column, Row } from '../src/data/score-table.ts';
import { openTable, type TableOptions } from '../src/data/score-writer.node.ts';

const folder = mkdtempSync(join(tmpdir(), 'ecif-table-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FORMATS = ['csv', 'jsonl', 'parquet'] as const;
const COLUMNS: readonly Column[] = [
  { name: 'id', type: 'string' },
  { name: 'note, "quoted"\nand broken', type: 'string', nullable: true },
  { name: 'score', type: 'float64', nullable: true },
  { name: 'exact', type: 'float64' },
  { name: 'batch', type: 'int32' },
  { name: '__proto__', type: 'int64', nullable: true },
];

/** Writes rows in pieces of the given lengths, the last one as often as it takes. */
async function write(path: string, rows: readonly Row[], pieces: readonly number[] = [], options: TableOptions = {}) {
  const table = await openTable(path, COLUMNS, options);
  let at = 0;
  for (const length of pieces) {
    await table.write(rows.slice(at, at + length));
    at += length;
  }
  await table.write(rows.slice(at));
  return table.close();
}

async function read(path: string, columns: readonly Column[] = COLUMNS): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of readTable(path, columns)) rows.push(row);
  return rows;
}

const letters = fc.constantFrom(
  '"',
  ',',
  '\n',
  '\r',
  '\r\n',
  '',
  ' ',
  'é',
  '😀',
  '\ufeff',
  '\0',
  '\u2028',
  'null',
  '=1+1',
  'NaN',
);
const words = fc.array(letters, { maxLength: 6 }).map((parts) => parts.join(''));
const float = fc.oneof(
  fc.tuple(fc.integer(), fc.integer({ min: -1074, max: 900 })).map(([m, e]) => m * 2 ** e),
  fc.constantFrom(0, -0, Number.MAX_VALUE, Number.MIN_VALUE, 0.1, 1e21, 1e-7),
);
const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { nil: null });
const int64 = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER));
const row: fc.Arbitrary<Row> = fc.tuple(words, maybe(words), maybe(float), float, fc.integer(), maybe(int64));
const rows = fc.array(row, { maxLength: 40 });

describe.each(FORMATS)('%s', (format) => {
  const path = join(folder, `t.${format}`);

  it('what was written is read: quotes, line breaks, empty texts, no values, every bit of a number', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (written) => {
        const { rows: count } = await write(path, written, [], { groupRows: 7 });
        expect(count).toBe(written.length);
        expect(await read(path)).toEqual(written);
      }),
      { numRuns: 60 },
    );
  });

  it('the bytes are the same however the rows arrive', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.array(fc.nat(9), { maxLength: 9 }), async (written, pieces) => {
        const options = { groupRows: 5 };
        const whole = await write(path, written, [], options);
        expect(await write(path, written, pieces, options)).toEqual(whole);
        expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(whole.sha256);
      }),
      { numRuns: 40 },
    );
  });

  it('numbers that are not finite are no values, and half a surrogate pair is U+FFFD', async () => {
    const odd = [NaN, Infinity, -Infinity].map((x): Row => ['a\ud800b', '\udc00', x, 1, -0, -0]);
    await write(path, odd);
    expect(await read(path)).toEqual(odd.map(() => ['a\ufffdb', '\ufffd', null, 1, 0, 0]));
  });

  it('a value that a column cannot hold is refused by row and name, and no file is left', async () => {
    const good: Row = ['a', null, 1, 1, 1, 1];
    const cases: [number, unknown, string][] = [
      [0, null, '"id": found null; give a text'],
      [3, NaN, '"exact": found NaN; give a finite number'],
      [4, 2 ** 31, '"batch": found 2147483648; give a whole number of 32 bits'],
      [5, 2 ** 53, '"__proto__": found 9007199254740992; give a whole number of at most 2^53 - 1 or no value'],
      [2, 'x', '"score": found "x"; give a finite number or no value'],
    ];
    rmSync(path, { force: true });
    for (const [column, value, message] of cases) {
      const bad = good.with(column, value as number);
      await expect(write(path, [good, bad])).rejects.toThrow(`${path}: row 1: ${message}`);
    }
    const broken = function* (): Generator<Row> {
      yield good;
      throw new RangeError('of the caller');
    };
    await expect(openTable(path, COLUMNS).then((table) => table.write(broken()))).rejects.toThrow(RangeError);
    await expect(write(path, [good.slice(1)])).rejects.toThrow('found 5 values; give one for each of 6 columns');
    expect(readdirSync(folder).filter((name) => name.endsWith('.part') || name === `t.${format}`)).toEqual([]);
  });

  it('a table of one column keeps its rows without a value, and one of no rows is a table', async () => {
    const one: Column[] = [{ name: 'only', type: 'string', nullable: true }];
    for (const written of [[], [[null], [''], ['x'], [null]]]) {
      const table = await openTable(path, one);
      await table.write(written);
      await table.close();
      expect(await read(path, one)).toEqual(written);
    }
  });

  it('columns are found by name, and one that is not there is named', async () => {
    await write(path, [['a', 'b', 1, 2, 3, 4]]);
    expect(await read(path, [COLUMNS[5], COLUMNS[0]])).toEqual([[4, 'a']]);
    await expect(read(path, [{ name: 'other', type: 'string' }])).rejects.toThrow(/^.*t\.\w+: .*"other": /);
  });

  it('memory does not grow with the number of rows', async () => {
    setFlagsFromString('--expose_gc');
    const collect = runInNewContext('gc') as () => void;
    const columns: Column[] = [{ name: 'id', type: 'string' }, COLUMNS[3]];
    let peak = 0;
    const sample = (i: number): void => {
      if (i % 30_000 !== 29_999) return;
      collect();
      const { heapUsed, external } = process.memoryUsage();
      peak = Math.max(peak, heapUsed + external);
    };
    const measure = async (count: number): Promise<{ peak: number; bytes: number }> => {
      peak = 0;
      const table = await openTable(path, columns);
      const some = function* (): Generator<Row> {
        for (let i = 0; i < count; i++) {
          yield [`${'an image and a caption '.repeat(8)}${i}`, i / 7];
          sample(i);
        }
      };
      await table.write(some());
      const { bytes } = await table.close();
      let read = 0;
      for await (const _ of readTable(path, columns)) sample(read++);
      expect(read).toBe(count);
      return { peak, bytes };
    };
    const small = await measure(70_000);
    const large = await measure(250_000);
    expect(large.bytes - small.bytes).toBeGreaterThan(32e6);
    expect(large.peak - small.peak).toBeLessThan(8e6);
  });
});

describe('the file of scores', () => {
  const scores = scoreRow([
    'a',
    3,
    4,
    'a cat',
    0.5,
    0.25,
    0.25,
    0.1,
    0.4,
    null,
    null,
    0.3,
    'harmful',
    'validation',
    ...[null, 0.01, null],
  ]);

  it('has the columns of the documentation, and a row by name', () => {
    const names =
      'id, batch, position, caption, score, positive, negative, t2i, i2t, relative, self, clipscore, flag, target, error, self_error, relative_error';
    expect(SCORE_COLUMNS.map(({ name }) => name).join(', ')).toBe(names);
    expect([scores.position, scores.relative, scores.flag]).toEqual([4, null, 'harmful']);
    expect(scoreRow(scoreCells(scores))).toEqual(scores);
  });

  it('as Parquet has row groups of 65,536 rows, and these bytes, which pyarrow reads as they were written', async () => {
    const path = join(folder, 'scores.parquet');
    const columns = SCORE_COLUMNS.slice(0, 13);
    const table = await openTable(path, columns);
    await table.write(
      Array.from({ length: 65_537 }, (_, i) =>
        scoreCells({ ...scores, position: i, flag: i % 3 ? null : 'x' }).slice(0, columns.length),
      ),
    );
    const { sha256 } = await table.close();
    expect(sha256).toBe('048176ef87fdb06eb01f1b0fa09c694c27d59f7ddee0b1ede76f5413e2d1e4d0');
    const file = await openParquetFile(path);
    await file.close();
    expect(file.rows).toBe(65_537);
    expect(existsSync(`${path}.part`)).toBe(false);
  });

  it('as Parquet ends a row group at 64 MiB of long texts', () => {
    const encoder = parquetEncoder([{ name: 'id', type: 'string' }]);
    const long = 'x'.repeat(2 ** 24);
    expect([1, 2, 3, 4, 5].map(() => encoder.add([long]).length)).toEqual([0, 0, 0, 2, 0]);
  });

  it('is refused where columns have no names of their own, or the folder is not there', async () => {
    await expect(openTable('a.csv', [])).rejects.toThrow('a.csv: columns: found []; give each column a name');
    await expect(openTable('a.csv', [COLUMNS[0], COLUMNS[0]])).rejects.toThrow('columns: found "id" twice');
    await expect(openTable('/nowhere/a.csv', COLUMNS)).rejects.toThrow(/^\/nowhere\/a\.csv: cannot be written, ENOENT/);
  });
});
