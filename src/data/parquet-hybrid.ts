// Parquet's small whole numbers: runs of one value and groups of eight packed in bits, decoded one at a time.

import { Damaged, EndsEarly } from './parquet-format.ts';

const WIDEST = 32;

/** Reads levels and places in a dictionary; memory does not depend on how many there are. */
export class HybridReader {
  readonly #bytes: Uint8Array;
  readonly #width: number;
  #at = 0;
  /** Values left in the run or the packed groups. */
  #left = 0;
  #packed = false;
  #value = 0;
  /** The next bit of packed groups. */
  #bit = 0;

  /** @param width bits of a value */
  constructor(bytes: Uint8Array, width: number) {
    if (width > WIDEST) throw new Damaged(`numbers of ${width} bits, at most ${WIDEST}`);
    this.#bytes = bytes;
    this.#width = width;
  }

  #byte(): number {
    if (this.#at >= this.#bytes.length) throw new EndsEarly();
    return this.#bytes[this.#at++];
  }

  #header(): number {
    let value = 0;
    for (let scale = 1, n = 0; n < 5; scale *= 128, n++) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new Damaged('a run has more than 2^32 values');
  }

  #begin(): void {
    const header = this.#header();
    const count = Math.floor(header / 2);
    this.#packed = header % 2 === 1;
    if (count === 0) throw new Damaged('a run of no values');
    if (this.#packed) {
      this.#bit = this.#at * 8;
      this.#left = count * 8;
      this.#at = Math.min(this.#at + count * this.#width, this.#bytes.length);
    } else {
      this.#left = count;
      this.#value = 0;
      for (let i = 0; i < this.#width; i += 8) this.#value += this.#byte() * 2 ** i;
    }
  }

  #unpack(): number {
    if (this.#bit + this.#width > this.#at * 8) throw new EndsEarly();
    let value = 0;
    for (let taken = 0; taken < this.#width;) {
      const offset = this.#bit & 7;
      const bits = Math.min(8 - offset, this.#width - taken);
      value += ((this.#bytes[this.#bit >>> 3] >> offset) & ((1 << bits) - 1)) * 2 ** taken;
      taken += bits;
      this.#bit += bits;
    }
    return value;
  }

  next(): number {
    if (this.#left === 0) this.#begin();
    this.#left--;
    return this.#packed ? this.#unpack() : this.#value;
  }
}
