// Numbers and names of the Parquet format that reading and writing share.

/** Four letters at both ends of a file. */
export const MAGIC = Uint8Array.of(0x50, 0x41, 0x52, 0x31);

/** How a value is stored. */
export const PHYSICAL = {
  boolean: 0,
  int32: 1,
  int64: 2,
  int96: 3,
  float: 4,
  double: 5,
  bytes: 6,
  fixed: 7,
} as const;

/** Whether a field must, may or may often be there. */
export const REPETITION = { required: 0, optional: 1, repeated: 2 } as const;

/** How the values of a page are written. */
export const ENCODING = { plain: 0, plainDictionary: 2, rle: 3, rleDictionary: 8 } as const;

/** What a page holds. */
export const PAGE = { data: 0, index: 1, dictionary: 2, dataV2: 3 } as const;

/** Names of the codecs by their number. */
export const CODECS = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'LZO', 'BROTLI', 'LZ4', 'ZSTD', 'LZ4_RAW'] as const;

/** Annotation of texts in UTF-8, as files of every age have it. */
export const UTF8 = 0;

/** Bytes that are no Parquet; who reads the file says which file and which column. */
export class Damaged extends Error {
  override name = 'Damaged';
}

/** Bytes that end too early. */
export class EndsEarly extends Damaged {
  constructor() {
    super('ends too early');
  }
}

/** Some bytes, one after the other. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
