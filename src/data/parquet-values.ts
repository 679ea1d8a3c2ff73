// The values of a page, one after the other: plain, from a dictionary, or booleans in runs.

import { Damaged, EndsEarly, ENCODING, PHYSICAL } from './parquet-format.ts';
import { HybridReader } from './parquet-hybrid.ts';
import type { Leaf } from './parquet-schema.ts';

/** A value of a Parquet file; null is no value. */
export type ParquetValue = string | number | boolean | Uint8Array | null;

/** Gives the next value. */
export type NextValue = () => Exclude<ParquetValue, null>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Damaged('a text is not UTF-8');
  }
}

function safe(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)) {
    throw new Damaged(`${value} is no number that a double holds`);
  }
  return Number(value);
}

/** Values that stand as they are; what is given are copies. */
function plainValues({ physical, width, kind, unsigned }: Leaf, bytes: Uint8Array): NextValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const take = (length: number): number => {
    if (length > bytes.length - at) throw new EndsEarly();
    at += length;
    return at - length;
  };
  const piece = (length: number): Uint8Array => {
    const begin = take(length);
    return bytes.subarray(begin, begin + length);
  };
  switch (physical) {
    case PHYSICAL.boolean: {
      let bit = 0;
      return () => {
        if (bit >>> 3 >= bytes.length) throw new EndsEarly();
        const value = (bytes[bit >>> 3] >> (bit & 7)) & 1;
        bit++;
        return value === 1;
      };
    }
    case PHYSICAL.int32:
      return unsigned ? () => view.getUint32(take(4), true) : () => view.getInt32(take(4), true);
    case PHYSICAL.int64:
      return unsigned ? () => safe(view.getBigUint64(take(8), true)) : () => safe(view.getBigInt64(take(8), true));
    case PHYSICAL.float:
      return () => view.getFloat32(take(4), true);
    case PHYSICAL.double:
      return () => view.getFloat64(take(8), true);
    case PHYSICAL.fixed:
      return () => piece(width).slice();
    default: {
      const next = (): Uint8Array => piece(view.getUint32(take(4), true));
      return kind === 'text' ? () => textOf(next()) : () => next().slice();
    }
  }
}

/**
 * The values of a dictionary page.
 * @throws Damaged for more values than its bytes can hold
 */
export function dictionaryOf(leaf: Leaf, bytes: Uint8Array, count: number): Exclude<ParquetValue, null>[] {
  if (leaf.physical === PHYSICAL.boolean || count > bytes.length) {
    throw new Damaged(`a dictionary of ${count} values in ${bytes.length} bytes`);
  }
  const next = plainValues(leaf, bytes);
  return Array.from({ length: count }, next);
}

function dictionaryValues(dictionary: readonly Exclude<ParquetValue, null>[], bytes: Uint8Array): NextValue {
  const places = bytes.length === 0 ? null : new HybridReader(bytes.subarray(1), bytes[0]);
  return () => {
    if (places === null) throw new EndsEarly();
    const place = places.next();
    if (place >= dictionary.length) throw new Damaged(`value ${place} of a dictionary of ${dictionary.length}`);
    return dictionary[place];
  };
}

/** Booleans in runs, their length in front. */
function booleanRuns(bytes: Uint8Array): NextValue {
  const runs = new HybridReader(bytes.subarray(4), 1);
  return () => runs.next() === 1;
}

/**
 * Decodes the values of a data page.
 * @param dictionary of the chunk, null where it has none
 * @throws Damaged for an encoding that is not read
 */
export function valuesOf(
  leaf: Leaf,
  encoding: number,
  bytes: Uint8Array,
  dictionary: readonly Exclude<ParquetValue, null>[] | null,
): NextValue {
  if (encoding === ENCODING.plain) return plainValues(leaf, bytes);
  if (encoding === ENCODING.rle && leaf.physical === PHYSICAL.boolean) return booleanRuns(bytes);
  if (encoding === ENCODING.rleDictionary || encoding === ENCODING.plainDictionary) {
    if (dictionary === null) throw new Damaged('a page refers to a dictionary that is not there');
    return dictionaryValues(dictionary, bytes);
  }
  throw new Damaged(`encoding ${encoding} is not read, only PLAIN and dictionaries are`);
}
