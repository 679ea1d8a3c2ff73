// Parquet files on disk, with the codecs that Node has and Snappy.

import * as zlib from 'node:zlib';
import { EcifError } from '../array/errors.ts';
import { unreadable } from '../array/messages.ts';
import { Damaged } from './parquet-format.ts';
import type { Codecs, Decompress } from './parquet-pages.ts';
import { openParquet, type ParquetFile } from './parquet-reader.ts';
import { unsnappy } from './parquet-snappy.ts';
import { openFile } from './ranges.node.ts';

/** A decompressor of Node, held to the size that it may give. */
const bounded =
  (name: string, decompress: typeof zlib.gunzipSync): Decompress =>
  (bytes, size) => {
    if (size === 0 && bytes.length === 0) return new Uint8Array(0);
    try {
      const out = decompress(bytes, { maxOutputLength: Math.max(size, 1) });
      return new Uint8Array(out.buffer, out.byteOffset, out.length);
    } catch (error) {
      throw new Damaged(`${name}: ${(error as Error).message}`);
    }
  };

/** Zstandard, which Node has from 22.15 on. */
const zstd = (zlib as { zstdDecompressSync?: typeof zlib.gunzipSync }).zstdDecompressSync;

/** Codecs of Parquet, with the most that a byte can become. */
export const CODECS_HERE: Codecs = new Map([
  ['UNCOMPRESSED', { decompress: (bytes) => bytes, ratio: 1 }],
  ['SNAPPY', { decompress: unsnappy, ratio: 32 }],
  ['GZIP', { decompress: bounded('GZIP', zlib.gunzipSync), ratio: 1040 }],
  ['BROTLI', { decompress: bounded('BROTLI', zlib.brotliDecompressSync), ratio: 2 ** 16 }],
  ...(zstd === undefined ? [] : ([['ZSTD', { decompress: bounded('ZSTD', zstd), ratio: 2 ** 16 }]] as const)),
]);

/** A Parquet file on disk, to be closed in the end. */
export interface ParquetOnDisk extends ParquetFile {
  close(): Promise<void>;
}

/**
 * Opens a Parquet file on disk.
 * @throws EcifError that names the file and what is wrong
 * @example
 * const file = await openParquetFile('train.parquet');
 * for await (const [bytes, caption] of file.read(['image.bytes', 'caption'])) show(bytes, caption);
 * await file.close();
 */
export async function openParquetFile(path: string): Promise<ParquetOnDisk> {
  const file = await openFile(path);
  try {
    return { ...(await openParquet(file, CODECS_HERE)), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error instanceof EcifError ? error : unreadable(path, error);
  }
}
