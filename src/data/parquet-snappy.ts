// Decompression of Snappy's raw format: literals and copies of what was decompressed before.

import { Damaged, EndsEarly } from './parquet-format.ts';

/** The length in front, and the place after it. */
function preamble(bytes: Uint8Array): [length: number, at: number] {
  let length = 0;
  for (let at = 0; at < 5; at++) {
    if (at >= bytes.length) throw new EndsEarly();
    length += (bytes[at] & 127) * 128 ** at;
    if (bytes[at] < 128) return [length, at + 1];
  }
  throw new Damaged('Snappy: its length has more than 32 bits');
}

/** A number of some bytes, the low ones first. */
function little(bytes: Uint8Array, at: number, count: number): number {
  if (at + count > bytes.length) throw new EndsEarly();
  let value = 0;
  for (let i = 0; i < count; i++) value += bytes[at + i] * 256 ** i;
  return value;
}

/** Copies within the output; a copy may overlap its source, and then repeats it. */
function copyWithin(out: Uint8Array, to: number, offset: number, length: number): void {
  if (offset === 0 || offset > to || to + length > out.length) throw new Damaged('Snappy: a copy from nowhere');
  if (offset >= length) out.copyWithin(to, to - offset, to - offset + length);
  else for (let i = 0; i < length; i++) out[to + i] = out[to + i - offset];
}

/**
 * Decompresses Snappy.
 * @param size bytes it must give
 * @throws Damaged for anything else
 */
export function unsnappy(bytes: Uint8Array, size: number): Uint8Array {
  const [length, begin] = preamble(bytes);
  if (length !== size) throw new Damaged(`Snappy: ${length} bytes, its page has ${size}`);
  const out = new Uint8Array(size);
  let at = begin;
  let to = 0;
  while (at < bytes.length) {
    const tag = bytes[at++];
    if ((tag & 3) === 0) {
      const extra = Math.max(0, (tag >> 2) - 59);
      const count = (extra === 0 ? tag >> 2 : little(bytes, at, extra)) + 1;
      at += extra;
      if (at + count > bytes.length || to + count > size) throw new EndsEarly();
      out.set(bytes.subarray(at, at + count), to);
      at += count;
      to += count;
      continue;
    }
    const wide = [0, 1, 2, 4][tag & 3];
    const short = wide === 1;
    const offset = little(bytes, at, wide) + (short ? (tag >> 5) * 256 : 0);
    const count = short ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    at += wide;
    copyWithin(out, to, offset, count);
    to += count;
  }
  if (to !== size) throw new EndsEarly();
  return out;
}
