// The footer of a Parquet file: its columns, and where each row group keeps them, checked against the file.

import { oneLine } from '../array/messages.ts';
import { EcifError } from '../array/errors.ts';
import { CODECS, Damaged, EndsEarly, MAGIC } from './parquet-format.ts';
import { type Leaf, leavesOf } from './parquet-schema.ts';
import { type Fields, ThriftReader } from './parquet-thrift-read.ts';

/** Named bytes of known size, read piece by piece; a `ByteSource` is one. */
export interface ParquetSource {
  readonly name: string;
  readonly size: number;
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Where a row group keeps a column. */
export interface Chunk {
  /** Its first page. */
  readonly offset: number;
  /** Bytes of all its pages with their headers. */
  readonly length: number;
  readonly codec: string;
}

/** Some rows that are stored together, with a chunk for each leaf. */
export interface RowGroup {
  readonly rows: number;
  readonly chunks: readonly Chunk[];
}

/** What a footer says. */
export interface Footer {
  readonly rows: number;
  readonly leaves: readonly Leaf[];
  readonly groups: readonly RowGroup[];
  /** What the writer noted, by key. */
  readonly notes: ReadonlyMap<string, string>;
}

const LARGEST_FOOTER = 2 ** 24;
const TAIL = 8;

/**
 * Turns what decoding complains about into an error that names the file.
 * @param where file, and column where there is one
 */
export function damageOf(where: string, error: unknown): unknown {
  if (!(error instanceof Damaged)) return error;
  return new EcifError(`${where}: ${oneLine(error.message.slice(0, 300))}; is the file complete, and a Parquet file?`, {
    cause: error,
  });
}

const isMagic = (bytes: Uint8Array): boolean => MAGIC.every((byte, i) => bytes[i] === byte);

async function footerBytes({ size, read }: ParquetSource): Promise<Uint8Array> {
  if (size < MAGIC.length + TAIL) throw new EndsEarly();
  const tail = Uint8Array.from(await read(size - TAIL, TAIL));
  if (!isMagic(await read(0, MAGIC.length)) || !isMagic(tail.subarray(4))) {
    throw new Damaged('does not begin and end with PAR1');
  }
  const length = new DataView(tail.buffer).getUint32(0, true);
  if (length > size - TAIL - MAGIC.length || length > LARGEST_FOOTER) {
    throw new Damaged(`a footer of ${length} bytes, the file has ${size}, at most ${LARGEST_FOOTER} are read`);
  }
  return read(size - TAIL - length, length);
}

function chunkOf(entry: Fields, leaf: Leaf, rows: number, end: number): Chunk {
  const meta = entry.fields(3);
  if (meta === undefined || entry.has(1)) throw new Damaged(`column ${leaf.name} is kept in another file`);
  const path = meta.needTexts(3, 'path of a column').join('.');
  const physical = meta.needCount(1, `type of ${leaf.name}`);
  if (path !== leaf.name || physical !== leaf.physical) throw new Damaged(`${path} stands where ${leaf.name} should`);
  const values = meta.needCount(5, `number of values of ${leaf.name}`);
  if (leaf.kind !== 'repeated' && values !== rows) {
    throw new Damaged(`${values} values of ${leaf.name} in ${rows} rows`);
  }
  const data = meta.needCount(9, `place of ${leaf.name}`);
  const dictionary = meta.count(11, `place of the dictionary of ${leaf.name}`) ?? 0;
  const offset = dictionary > 0 && dictionary < data ? dictionary : data;
  const length = meta.needCount(7, `size of ${leaf.name}`);
  if (offset < MAGIC.length || offset + length > end) {
    throw new Damaged(`${leaf.name} at bytes ${offset}…${offset + length}, pages end at ${end}`);
  }
  const codec = meta.needCount(4, `codec of ${leaf.name}`);
  return { offset, length, codec: CODECS.at(codec) ?? String(codec) };
}

function groupOf(group: Fields, leaves: readonly Leaf[], end: number): RowGroup {
  const rows = group.needCount(3, 'number of rows of a group');
  const entries = group.needStructs(1, 'columns of a group');
  if (entries.length !== leaves.length) throw new Damaged(`${entries.length} columns in a group of ${leaves.length}`);
  return { rows, chunks: entries.map((entry, i) => chunkOf(entry, leaves[i], rows, end)) };
}

/** Keys and values that the writer noted. */
const notesOf = (file: Fields): Map<string, string> =>
  new Map(
    (file.has(5) ? file.needStructs(5, 'notes') : []).map((note) => [
      note.needText(1, 'key of a note'),
      note.has(2) ? note.needText(2, 'value of a note') : '',
    ]),
  );

/**
 * Reads and checks the footer of a Parquet file; nothing of the columns is read.
 * @throws EcifError that names the file and what is wrong
 */
export async function readFooter(source: ParquetSource): Promise<Footer> {
  try {
    const bytes = await footerBytes(source);
    const file = new ThriftReader(bytes).struct();
    const leaves = leavesOf(file.needStructs(2, 'schema'));
    const names = leaves.map(({ name }) => name);
    if (new Set(names).size < names.length) throw new Damaged('two columns have one name');
    const rows = file.needCount(3, 'number of rows');
    const end = source.size - TAIL - bytes.length;
    const groups = file.needStructs(4, 'row groups').map((group) => groupOf(group, leaves, end));
    const held = groups.reduce((sum, group) => sum + group.rows, 0);
    if (held !== rows) throw new Damaged(`${held} rows in its groups, ${rows} in its footer`);
    return { rows, leaves, groups, notes: notesOf(file) };
  } catch (error) {
    throw damageOf(source.name, error);
  }
}
