// The pages of one column in a row group, read one after the other, a page in memory at a time.

import { EcifError } from '../array/errors.ts';
import { oneLine } from '../array/messages.ts';
import { shown } from './dataset.ts';
import { type Chunk, damageOf, type ParquetSource } from './parquet-footer.ts';
import { Damaged, EndsEarly, ENCODING, PAGE } from './parquet-format.ts';
import { HybridReader } from './parquet-hybrid.ts';
import type { Leaf } from './parquet-schema.ts';
import { type Fields, ThriftReader } from './parquet-thrift-read.ts';
import { dictionaryOf, type NextValue, type ParquetValue, valuesOf } from './parquet-values.ts';

/** Decompresses the bytes of a page to exactly `size` bytes. */
export type Decompress = (bytes: Uint8Array, size: number) => Uint8Array;

/** A codec: how to decompress, and how many times larger the result can be. */
export interface Codec {
  readonly decompress: Decompress;
  readonly ratio: number;
}

/** Codecs by Parquet's names for them. */
export type Codecs = ReadonlyMap<string, Codec>;

const LARGEST_PAGE = 2 ** 29;
const FIRST_WINDOW = 2 ** 10;
const LARGEST_HEADER = 2 ** 24;

/** Bits of a number up to `most`. */
const bitsOf = (most: number): number => 32 - Math.clz32(most);

/** How messages name a column. */
const whereOf = ({ name }: ParquetSource, leaf: Leaf): string => `${name}: column ${shown(leaf.name)}`;

/** Reads the values of a column, page after page. */
export class ColumnCursor {
  readonly #source: ParquetSource;
  readonly #leaf: Leaf;
  readonly #codec: Codec;
  readonly #end: number;
  #at: number;
  #dictionary: Exclude<ParquetValue, null>[] | null = null;
  #levels: HybridReader | null = null;
  #values: NextValue | null = null;
  /** Values left in the page at hand. */
  left = 0;

  constructor(source: ParquetSource, leaf: Leaf, { offset, length, codec }: Chunk, codecs: Codecs) {
    const known = codecs.get(codec);
    if (known === undefined) {
      const names = [...codecs.keys()].join(', ');
      const found = `compressed by ${oneLine(codec)}, only ${names} are read here`;
      throw new EcifError(`${whereOf(source, leaf)}: ${found}; write it anew with one of them`);
    }
    this.#source = source;
    this.#leaf = leaf;
    this.#codec = known;
    this.#at = offset;
    this.#end = offset + length;
  }

  /** The header at hand, for which as much is read as it takes. */
  async #header(): Promise<Fields> {
    const room = Math.min(this.#end - this.#at, LARGEST_HEADER);
    for (let window = FIRST_WINDOW; ; window *= 8) {
      const reader = new ThriftReader(await this.#source.read(this.#at, Math.min(window, room)));
      try {
        const header = reader.struct();
        this.#at += reader.at;
        return header;
      } catch (error) {
        if (!(error instanceof EndsEarly) || window >= room) throw error;
      }
    }
  }

  /** Decompresses, after the sizes were found plausible. */
  #unpacked(bytes: Uint8Array, size: number): Uint8Array {
    if (size > LARGEST_PAGE || size > bytes.length * this.#codec.ratio + 64) {
      throw new Damaged(`a page of ${bytes.length} bytes that says it holds ${size}`);
    }
    const out = this.#codec.decompress(bytes, size);
    if (out.length !== size) throw new Damaged(`a page holds ${out.length} bytes where its header says ${size}`);
    return out;
  }

  #begin(count: number, levels: HybridReader | null, encoding: number, bytes: Uint8Array): void {
    this.left = count;
    this.#levels = levels;
    this.#values = valuesOf(this.#leaf, encoding, bytes, this.#dictionary);
  }

  #readV1(data: Fields, packed: Uint8Array, size: number): void {
    const bytes = this.#unpacked(packed, size);
    const count = data.needCount(1, 'number of values');
    const encoding = data.needCount(2, 'encoding');
    if (this.#leaf.optional === 0) {
      this.#begin(count, null, encoding, bytes);
      return;
    }
    if (data.count(3, 'encoding of levels') !== ENCODING.rle) throw new Damaged('levels that are not in runs');
    if (bytes.length < 4) throw new EndsEarly();
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    if (length > bytes.length - 4) throw new EndsEarly();
    const levels = new HybridReader(bytes.subarray(4, 4 + length), bitsOf(this.#leaf.optional));
    this.#begin(count, levels, encoding, bytes.subarray(4 + length));
  }

  #readV2(data: Fields, packed: Uint8Array, size: number): void {
    const length = data.needCount(5, 'bytes of levels');
    if (data.needCount(6, 'bytes of repetitions') !== 0) throw new Damaged('repetitions in a column that has none');
    if (length > packed.length || length > size) throw new EndsEarly();
    const { optional } = this.#leaf;
    const levels = optional === 0 ? null : new HybridReader(packed.subarray(0, length), bitsOf(optional));
    const rest = packed.subarray(length);
    const bytes = data.flag(7) === false ? rest : this.#unpacked(rest, size - length);
    this.#begin(data.needCount(1, 'number of values'), levels, data.needCount(4, 'encoding'), bytes);
  }

  #readDictionary(entry: Fields, packed: Uint8Array, size: number): void {
    if (this.#dictionary !== null) throw new Damaged('two dictionaries');
    const bytes = this.#unpacked(packed, size);
    this.#dictionary = dictionaryOf(this.#leaf, bytes, entry.needCount(1, 'number of values'));
  }

  /** The header at hand, and the bytes that follow it. */
  async #page(): Promise<{ header: Fields; length: number }> {
    if (this.#at >= this.#end) throw new Damaged('its pages hold fewer values than rows');
    const header = await this.#header();
    const length = header.needCount(3, 'compressed size of a page');
    if (length > this.#end - this.#at || length > LARGEST_PAGE) throw new EndsEarly();
    return { header, length };
  }

  async #readPage(): Promise<void> {
    const { header, length } = await this.#page();
    const size = header.needCount(2, 'size of a page');
    const [v1, v2, dictionary] = [header.fields(5), header.fields(8), header.fields(7)];
    const type = header.needCount(1, 'type of a page');
    const read = (): Promise<Uint8Array> => this.#source.read(this.#at, length);
    if (type === PAGE.data && v1 !== undefined) this.#readV1(v1, await read(), size);
    else if (type === PAGE.dataV2 && v2 !== undefined) this.#readV2(v2, await read(), size);
    else if (type === PAGE.dictionary && dictionary !== undefined) this.#readDictionary(dictionary, await read(), size);
    else if (type !== PAGE.index) throw new Damaged(`a page of type ${type}`);
    this.#at += length;
  }

  async #naming<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      throw damageOf(whereOf(this.#source, this.#leaf), error);
    }
  }

  /**
   * Goes on to the next page with values.
   * @throws EcifError that names file and column
   */
  load(): Promise<void> {
    return this.#naming(async () => {
      while (this.left === 0) await this.#readPage();
    });
  }

  /**
   * Goes past a page, of which only the header is read.
   * @returns where it begins, and its number of values; 0 for one that holds none
   * @throws EcifError that names file and column
   */
  skip(): Promise<{ at: number; values: number }> {
    return this.#naming(async () => {
      const at = this.#at;
      const { header, length } = await this.#page();
      this.#at += length;
      const data = header.fields(5) ?? header.fields(8);
      return { at, values: data?.needCount(1, 'number of values') ?? 0 };
    });
  }

  /**
   * Goes to a page of the chunk, by way of the dictionary in front where there is one.
   * @param at where it begins
   * @param first where the first page with values begins
   * @throws EcifError that names file and column
   */
  seek(at: number, first: number): Promise<void> {
    return this.#naming(async () => {
      while (this.#at < first) await this.#readPage();
      this.#at = at;
      while (this.left === 0) await this.#readPage();
    });
  }

  /** The next value of the page at hand. */
  next(): ParquetValue {
    try {
      if (this.#values === null || this.left === 0) throw new EndsEarly();
      this.left--;
      const level = this.#levels === null ? 0 : this.#levels.next();
      if (level > this.#leaf.optional) throw new Damaged(`level ${level} of ${this.#leaf.optional}`);
      return this.#levels !== null && level < this.#leaf.optional ? null : this.#values();
    } catch (error) {
      throw damageOf(whereOf(this.#source, this.#leaf), error);
    }
  }
}
