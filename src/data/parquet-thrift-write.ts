// Thrift's compact protocol, written: the values of which Parquet's headers and footers are made.

import { joined } from './parquet-format.ts';

/** A value with its type in the protocol. */
export interface Encoded {
  readonly type: number;
  readonly bytes: Uint8Array;
}

/** A number ≥ 0 in groups of seven bits, the low ones first. */
export function varint(n: number): Uint8Array {
  const out: number[] = [];
  let rest = n;
  for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) | 128);
  out.push(rest);
  return Uint8Array.from(out);
}

/** Small numbers of either sign as small numbers ≥ 0. */
const zigzag = (n: number): number => (n < 0 ? -2 * n - 1 : 2 * n);

export const i32 = (n: number): Encoded => ({ type: 5, bytes: varint(zigzag(n)) });

export const i64 = (n: number): Encoded => ({ type: 6, bytes: varint(zigzag(n)) });

/** A text in UTF-8. */
export function text(value: string): Encoded {
  const bytes = new TextEncoder().encode(value);
  return { type: 8, bytes: joined([varint(bytes.length), bytes]) };
}

/** Values of one type; structs where there are none. */
export function list(items: readonly Encoded[]): Encoded {
  const type = items.length === 0 ? 12 : items[0].type;
  const head =
    items.length < 15
      ? Uint8Array.of((items.length << 4) | type)
      : joined([Uint8Array.of(0xf0 | type), varint(items.length)]);
  return { type: 9, bytes: joined([head, ...items.map(({ bytes }) => bytes)]) };
}

/**
 * A struct: values by the number of their field, undefined ones left out.
 * @example struct({ 1: i32(4), 3: text('id') });
 */
export function struct(fields: Readonly<Record<number, Encoded | undefined>>): Encoded {
  const parts: Uint8Array[] = [];
  let before = 0;
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const id = Number(key);
    parts.push(Uint8Array.of(((id - before) << 4) | value.type), value.bytes);
    before = id;
  }
  return { type: 12, bytes: joined([...parts, Uint8Array.of(0)]) };
}
