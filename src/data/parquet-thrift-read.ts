// Thrift's compact protocol, read: structs by the numbers of their fields, with limits on depth and number of values.

import { Damaged, EndsEarly } from './parquet-format.ts';

/** A value of a struct or a list. */
type Value = boolean | number | Uint8Array | readonly Value[] | Fields;

const DEEPEST = 16;
const MOST_VALUES = 2 ** 22;

/** A struct whose fields are asked for by number, each with the type it must have. */
export class Fields {
  readonly #values = new Map<number, Value>();

  set(id: number, value: Value): void {
    this.#values.set(id, value);
  }

  has(id: number): boolean {
    return this.#values.has(id);
  }

  /** A whole number ≥ 0, or undefined where there is none. */
  count(id: number, what: string): number | undefined {
    const value = this.#values.get(id);
    if (value === undefined) return undefined;
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Damaged(`${what} is no whole number ≥ 0`);
    return value as number;
  }

  /** A whole number ≥ 0 that must be there. */
  needCount(id: number, what: string): number {
    const value = this.count(id, what);
    if (value === undefined) throw new Damaged(`${what} is missing`);
    return value;
  }

  /** A truth value, or undefined where there is none. */
  flag(id: number): boolean | undefined {
    const value = this.#values.get(id);
    return typeof value === 'boolean' ? value : undefined;
  }

  /** A text that must be there. */
  needText(id: number, what: string): string {
    return textOf(this.#values.get(id), what);
  }

  /** A struct, or undefined where there is none. */
  fields(id: number): Fields | undefined {
    const value = this.#values.get(id);
    return value instanceof Fields ? value : undefined;
  }

  #needList(id: number, what: string): readonly Value[] {
    const value = this.#values.get(id);
    if (!Array.isArray(value)) throw new Damaged(`${what} is no list`);
    return value as readonly Value[];
  }

  /** A list of structs that must be there. */
  needStructs(id: number, what: string): readonly Fields[] {
    const list = this.#needList(id, what);
    if (!list.every((item) => item instanceof Fields)) throw new Damaged(`${what} is no list of structs`);
    return list;
  }

  /** A list of texts that must be there. */
  needTexts(id: number, what: string): string[] {
    return this.#needList(id, what).map((item) => textOf(item, what));
  }
}

function textOf(value: Value | undefined, what: string): string {
  if (!(value instanceof Uint8Array)) throw new Damaged(`${what} is no text`);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(value);
}

/** Reads one struct from the front of some bytes. */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  #values = 0;
  /** Bytes read so far. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  #byte(): number {
    if (this.at >= this.#bytes.length) throw new EndsEarly();
    return this.#bytes[this.at++];
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1, n = 0; n < 10; scale *= 128, n++) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new Damaged('a number has more than 64 bits');
  }

  /** Exact up to 2^53, beyond which no size or count is accepted. */
  #integer(): number {
    const n = this.#varint();
    return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.at) throw new EndsEarly();
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  #list(depth: number): Value[] {
    const head = this.#byte();
    const length = head >> 4 === 15 ? this.#varint() : head >> 4;
    if (length > this.#bytes.length - this.at) throw new EndsEarly();
    const out: Value[] = [];
    for (let i = 0; i < length; i++) out.push(this.#value(head & 15, depth, true));
    return out;
  }

  /** Keys and values one after the other. */
  #map(depth: number): Value[] {
    const length = this.#varint();
    if (length === 0) return [];
    const types = this.#byte();
    if (length > this.#bytes.length - this.at) throw new EndsEarly();
    const out: Value[] = [];
    for (let i = 0; i < 2 * length; i++) out.push(this.#value(i % 2 === 0 ? types >> 4 : types & 15, depth, true));
    return out;
  }

  #value(type: number, depth: number, listed: boolean): Value {
    if (++this.#values > MOST_VALUES) throw new Damaged(`more than ${MOST_VALUES} values`);
    switch (type) {
      case 1:
      case 2:
        return (listed ? this.#byte() : type) === 1;
      case 3:
        return (this.#byte() << 24) >> 24;
      case 4:
      case 5:
      case 6:
        return this.#integer();
      case 7: {
        const bytes = this.#take(8);
        return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
      }
      case 8:
        return this.#take(this.#varint());
      case 9:
      case 10:
        return this.#list(depth + 1);
      case 11:
        return this.#map(depth + 1);
      case 12:
        return this.struct(depth + 1);
      default:
        throw new Damaged(`no type ${type} in Thrift`);
    }
  }

  /** The struct at which the reading stands. */
  struct(depth = 0): Fields {
    if (depth > DEEPEST) throw new Damaged(`nested deeper than ${DEEPEST}`);
    const out = new Fields();
    for (let id = 0; ;) {
      const head = this.#byte();
      if (head === 0) return out;
      id = head >> 4 === 0 ? this.#integer() : id + (head >> 4);
      out.set(id, this.#value(head & 15, depth, false));
    }
  }
}
