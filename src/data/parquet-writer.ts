// Writing Parquet: row groups of a fixed number of rows, a page a column, plain and uncompressed.

import { CODECS, ENCODING, joined, MAGIC, PAGE, PHYSICAL, REPETITION, UTF8 } from './parquet-format.ts';
import { type Encoded, i32, i64, list, struct, text, varint } from './parquet-thrift-write.ts';
import type { Cell, Column, ColumnType, Row } from './score-table.ts';

const GROUP_ROWS = 65_536;
/** Bytes at which a row group ends even with fewer rows. */
const GROUP_BYTES = 2 ** 26;

const TYPES: Readonly<Record<ColumnType, number>> = {
  string: PHYSICAL.bytes,
  float64: PHYSICAL.double,
  int32: PHYSICAL.int32,
  int64: PHYSICAL.int64,
};

/** The values of one column in a row group. */
class ColumnBuffer {
  readonly #column: Column;
  readonly #encoder = new TextEncoder();
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  /** Bytes of values so far. */
  length = 0;
  /** Runs of rows with a value and without, beginning with a value. */
  #runs = [0];

  constructor(column: Column) {
    this.#column = column;
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.length + more));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  #addText(value: string): void {
    this.#reserve(4 + 3 * value.length);
    const { written } = this.#encoder.encodeInto(value, this.#bytes.subarray(this.length + 4));
    this.#view.setUint32(this.length, written, true);
    this.length += 4 + written;
  }

  #addNumber(value: number): void {
    const { type } = this.#column;
    this.#reserve(8);
    if (type === 'float64') this.#view.setFloat64(this.length, value, true);
    else if (type === 'int64') this.#view.setBigInt64(this.length, BigInt(value), true);
    else this.#view.setInt32(this.length, value, true);
    this.length += type === 'int32' ? 4 : 8;
  }

  add(cell: Cell): void {
    const missing = cell === null ? 1 : 0;
    if ((this.#runs.length - 1) % 2 !== missing) this.#runs.push(0);
    this.#runs[this.#runs.length - 1]++;
    if (typeof cell === 'string') this.#addText(cell);
    else if (cell !== null) this.#addNumber(cell);
  }

  /** Which rows have a value: runs of ones and zeros, their length in front. */
  #levels(): Uint8Array[] {
    if (this.#column.nullable !== true) return [];
    const runs = this.#runs.flatMap((n, i) => (n === 0 ? [] : [varint(2 * n), Uint8Array.of(1 - (i % 2))]));
    const length = new Uint8Array(4);
    const bytes = joined(runs);
    new DataView(length.buffer).setUint32(0, bytes.length, true);
    return [length, bytes];
  }

  /** The page with all of it, and room for the next row group. */
  take(rows: number): Uint8Array {
    const body = [...this.#levels(), this.#bytes.slice(0, this.length)];
    const size = body.reduce((sum, part) => sum + part.length, 0);
    const data = struct({ 1: i32(rows), 2: i32(ENCODING.plain), 3: i32(ENCODING.rle), 4: i32(ENCODING.rle) });
    const header = struct({ 1: i32(PAGE.data), 2: i32(size), 3: i32(size), 5: data });
    this.length = 0;
    this.#runs = [0];
    return joined([header.bytes, ...body]);
  }
}

function schemaOf(columns: readonly Column[]): Encoded {
  const root = struct({ 4: text('schema'), 5: i32(columns.length) });
  const leaves = columns.map(({ name, type, nullable = false }) => {
    const texts = type === 'string';
    return struct({
      1: i32(TYPES[type]),
      3: i32(nullable ? REPETITION.optional : REPETITION.required),
      4: text(name),
      6: texts ? i32(UTF8) : undefined,
      10: texts ? struct({ 1: struct({}) }) : undefined,
    });
  });
  return list([root, ...leaves]);
}

/** What the footer says about one column of a row group. */
function chunkOf({ name, type }: Column, offset: number, size: number, rows: number): Encoded {
  const meta = struct({
    1: i32(TYPES[type]),
    2: list([i32(ENCODING.plain), i32(ENCODING.rle)]),
    3: list([text(name)]),
    4: i32(CODECS.indexOf('UNCOMPRESSED')),
    5: i64(rows),
    6: i64(size),
    7: i64(size),
    9: i64(offset),
  });
  return struct({ 2: i64(offset), 3: meta });
}

/** Turns rows into the bytes of a Parquet file, one row group in memory. */
class ParquetEncoder {
  readonly #columns: readonly Column[];
  readonly #groupRows: number;
  readonly #buffers: readonly ColumnBuffer[];
  readonly #groups: Encoded[] = [];
  #offset = MAGIC.length;
  #inGroup = 0;
  #rows = 0;

  constructor(columns: readonly Column[], groupRows: number) {
    this.#columns = columns;
    this.#groupRows = groupRows;
    this.#buffers = columns.map((column) => new ColumnBuffer(column));
  }

  /** The letters at the front, where nothing was given yet. */
  #front(): Uint8Array[] {
    return this.#groups.length === 0 ? [MAGIC] : [];
  }

  #endGroup(): Uint8Array[] {
    const front = this.#front();
    const rows = this.#inGroup;
    const pages = this.#buffers.map((buffer) => buffer.take(rows));
    const began = this.#offset;
    const chunks = pages.map((page, i) => {
      const chunk = chunkOf(this.#columns[i], this.#offset, page.length, rows);
      this.#offset += page.length;
      return chunk;
    });
    this.#groups.push(struct({ 1: list(chunks), 2: i64(this.#offset - began), 3: i64(rows) }));
    this.#inGroup = 0;
    return [...front, ...pages];
  }

  add(row: Row): Uint8Array[] {
    let bytes = 0;
    this.#buffers.forEach((buffer, i) => {
      buffer.add(row[i]);
      bytes += buffer.length;
    });
    this.#rows++;
    this.#inGroup++;
    return this.#inGroup === this.#groupRows || bytes >= GROUP_BYTES ? this.#endGroup() : [];
  }

  end(): Uint8Array[] {
    const last = this.#inGroup > 0 ? this.#endGroup() : this.#front();
    const schema = schemaOf(this.#columns);
    const footer = struct({ 1: i32(1), 2: schema, 3: i64(this.#rows), 4: list(this.#groups), 6: text('ecif') }).bytes;
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, footer.length, true);
    return [...last, footer, length, MAGIC];
  }
}

/**
 * An encoder of Parquet. A row group ends after `groupRows` rows or at 64 MiB, so bytes depend on the rows alone.
 * @example const encoder = parquetEncoder([{ name: 'id', type: 'string' }]);
 */
export const parquetEncoder = (columns: readonly Column[], groupRows = GROUP_ROWS): ParquetEncoder =>
  new ParquetEncoder(columns, groupRows);
