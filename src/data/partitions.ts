// Which pairs met in which batch: partitions of the pairs, drawn, and kept as a compact file.

import { EcifError } from '../array/errors.ts';
import type { Rng } from '../array/rng.ts';

/** Rows of the pairs of each batch; every pair lies in one of them. */
export type Partition = readonly Uint32Array[];

/** Batches that `count` pairs make. */
export const batchesOf = (count: number, size: number): number => Math.ceil(count / Math.min(size, count));

/**
 * A random partition: a permutation cut into batches whose sizes differ by one at most, so that no pair is left out and
 * no batch is a small rest.
 * @param size pairs of a batch at most
 * @example drawPartition(createRng(0), 10, 4).map((rows) => rows.length); // [4, 3, 3]
 */
export function drawPartition(rng: Rng, count: number, size: number): Partition {
  const order = rng.permutation(count);
  const n = batchesOf(count, size);
  const [least, larger] = [Math.floor(count / n), count % n];
  const begin = (i: number): number => i * least + Math.min(i, larger);
  return Array.from({ length: n }, (_, i) => order.slice(begin(i), begin(i + 1)));
}

/** `ECIFSEG1`, then little-endian u32: pairs, partitions; of each partition the number of batches and their sizes, then its rows. */
const MAGIC = 'ECIFSEG1';

/** Bytes of a row number: two where they suffice. */
const widthOf = (count: number): 2 | 4 => (count <= 2 ** 16 ? 2 : 4);

/**
 * Partitions as bytes: 2 bytes a pair up to 65,536 pairs, 4 beyond.
 * @param count pairs in all
 */
export function encodePartitions(count: number, partitions: readonly Partition[]): Uint8Array {
  const width = widthOf(count);
  const heads = partitions.reduce((n, batches) => n + 4 + 4 * batches.length, 0);
  const bytes = new Uint8Array(MAGIC.length + 8 + heads + partitions.length * count * width);
  bytes.set(new TextEncoder().encode(MAGIC));
  const view = new DataView(bytes.buffer);
  let at = MAGIC.length;
  const put = (value: number, size: 2 | 4): void => {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  };
  put(count, 4);
  put(partitions.length, 4);
  for (const batches of partitions) {
    put(batches.length, 4);
    for (const rows of batches) put(rows.length, 4);
    for (const rows of batches) for (const row of rows) put(row, width);
  }
  return bytes;
}

/** Refuses rows that are no partition of the pairs. */
function requirePartition(file: string, count: number, batches: Partition, index: number): void {
  const seen = new Uint8Array(count);
  for (const row of batches.flatMap((rows) => [...rows])) {
    if (row >= count || seen[row] === 1) {
      throw new EcifError(`${file}: partition ${index}: pair ${row} is not one of ${count} once; is the file damaged?`);
    }
    seen[row] = 1;
  }
}

/**
 * Reads what {@link encodePartitions} wrote.
 * @param file its name, for messages
 * @throws EcifError for bytes that hold no partitions
 */
export function decodePartitions(file: string, bytes: Uint8Array): { count: number; partitions: Partition[] } {
  const damaged = (what: string): never => {
    throw new EcifError(`${file}: ${what}; is this the partitions file of a run?`);
  };
  if (new TextDecoder().decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) damaged(`does not begin with ${MAGIC}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = MAGIC.length;
  const take = (size: 2 | 4): number => {
    if (at + size > bytes.length) damaged(`ends after ${bytes.length} bytes`);
    const value = size === 2 ? view.getUint16(at, true) : view.getUint32(at, true);
    at += size;
    return value;
  };
  const [count, n] = [take(4), take(4)];
  const width = widthOf(count);
  if (n * count * width > bytes.length) damaged(`${n} partitions of ${count} pairs in ${bytes.length} bytes`);
  const partitions = Array.from({ length: n }, (_, index) => {
    const many = take(4);
    if (many > count) damaged(`partition ${index} of ${many} batches for ${count} pairs`);
    const sizes = Array.from({ length: many }, () => take(4));
    if (sizes.reduce((a, b) => a + b, 0) !== count) damaged(`partition ${index} does not hold ${count} pairs`);
    const batches = sizes.map((size) => Uint32Array.from({ length: size }, () => take(width)));
    requirePartition(file, count, batches, index);
    return batches;
  });
  return { count, partitions };
}
