// The files in a tar archive, in the forms ustar, pax and GNU: their names and places, not their bytes.

import { oneLine } from '../../array/messages.ts';
import { EcifError } from '../../array/errors.ts';
import type { ParquetSource } from '../parquet-footer.ts';

/** A file in an archive. */
export interface TarEntry {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
}

const BLOCK = 512;
/** Bytes of a long name or of pax records at most. */
const LARGEST_EXTRA = 2 ** 20;
const utf8 = new TextDecoder();

/** What a header says. */
interface Header {
  readonly name: string;
  readonly size: number;
  readonly type: string;
}

/** Text up to the first zero byte. */
function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return utf8.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Octal digits, or a number in base 256 where the first bit is set. */
function numberOf(bytes: Uint8Array): number {
  if (bytes[0] >= 128) return bytes.reduce((n, byte, i) => (i === 0 ? byte & 127 : n * 256 + byte), 0);
  const digits = textOf(bytes).trim();
  return /^[0-7]*$/.test(digits) ? parseInt(digits === '' ? '0' : digits, 8) : NaN;
}

/** The sum over a header, its own field taken for spaces. */
const checksum = (block: Uint8Array): number =>
  block.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 32 : byte), 0);

function headerOf(block: Uint8Array): Header {
  if (numberOf(block.subarray(148, 156)) !== checksum(block)) throw new Error('a header with a wrong checksum');
  const size = numberOf(block.subarray(124, 136));
  if (!Number.isSafeInteger(size)) throw new Error('a size that is no number');
  const prefix = utf8.decode(block.subarray(257, 263)) === 'ustar\0' ? textOf(block.subarray(345, 500)) : '';
  const name = textOf(block.subarray(0, 100));
  return { size, name: prefix === '' ? name : `${prefix}/${name}`, type: String.fromCharCode(block[156]) };
}

/** The records `length key=value` of a pax header. */
function paxOf(bytes: Uint8Array): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(32, at);
    const length = space < 0 ? NaN : Number(utf8.decode(bytes.subarray(at, space)));
    const whole = Number.isInteger(length) && length > space + 1 - at && at + length <= bytes.length;
    const record = whole ? utf8.decode(bytes.subarray(space + 1, at + length)) : '';
    const cut = record.indexOf('=');
    if (cut < 0 || !record.endsWith('\n')) {
      throw new Error('a pax record that does not add up');
    }
    records.set(record.slice(0, cut), record.slice(cut + 1, -1));
    at += length;
  }
  return records;
}

/** The size in pax records, where they have one. */
function paxSize(records: ReadonlyMap<string, string>): number | undefined {
  const size = records.get('size');
  if (size === undefined) return undefined;
  if (!/^\d{1,15}$/.test(size)) throw new Error('a pax size that is no number');
  return Number(size);
}

async function* entriesOf({ size: end, read }: ParquetSource): AsyncGenerator<TarEntry> {
  let [long, pax] = ['', new Map<string, string>()];
  const extra = (offset: number, size: number): Promise<Uint8Array> => {
    if (size > LARGEST_EXTRA) throw new Error(`a name of ${size} bytes, at most ${LARGEST_EXTRA}`);
    return read(offset, size);
  };
  for (let at = 0; at + BLOCK <= end;) {
    const block = await read(at, BLOCK);
    if (block.every((byte) => byte === 0)) return;
    const header = headerOf(block);
    const size = paxSize(pax) ?? header.size;
    const offset = at + BLOCK;
    if (offset + size > end) throw new Error(`${oneLine(header.name)}: ${size} bytes at ${offset}, it ends at ${end}`);
    at = offset + Math.ceil(size / BLOCK) * BLOCK;
    if (header.type === 'L') long = textOf(await extra(offset, size));
    else if (header.type === 'x') pax = paxOf(await extra(offset, size));
    else if (header.type !== 'g' && header.type !== 'K') {
      const name = pax.get('path') ?? (long === '' ? header.name : long);
      if (['0', '\0', '7'].includes(header.type) && !name.endsWith('/')) yield { name, offset, size };
      [long, pax] = ['', new Map()];
    }
  }
  if (end % BLOCK !== 0) throw new Error(`${end} bytes are no blocks of ${BLOCK}`);
}

/**
 * The files of an archive in their order; links, folders and devices are left out.
 * @throws EcifError that names the archive, for one that is cut off or damaged
 */
export async function* tarEntries(source: ParquetSource): AsyncGenerator<TarEntry> {
  try {
    yield* entriesOf(source);
  } catch (error) {
    if (error instanceof EcifError) throw error;
    throw new EcifError(`${source.name}: ${(error as Error).message}; is the file complete, and a tar archive?`, {
      cause: error,
    });
  }
}
