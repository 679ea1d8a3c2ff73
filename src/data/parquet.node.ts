// Parquet files on disk, with the codecs that Node has and Snappy.

import { type FileHandle, open } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { EcifError } from '../array/errors.ts';
import { unreadable } from '../array/messages.ts';
import { Damaged } from './parquet-format.ts';
import type { ParquetSource } from './parquet-footer.ts';
import type { Codecs, Decompress } from './parquet-pages.ts';
import { openParquet, type ParquetFile } from './parquet-reader.ts';
import { unsnappy } from './parquet-snappy.ts';

/** A decompressor of Node, held to the size that it may give. */
const bounded =
  (name: string, decompress: typeof gunzipSync | typeof brotliDecompressSync): Decompress =>
  (bytes, size) => {
    if (size === 0 && bytes.length === 0) return new Uint8Array(0);
    try {
      const out = decompress(bytes, { maxOutputLength: Math.max(size, 1) });
      return new Uint8Array(out.buffer, out.byteOffset, out.length);
    } catch (error) {
      throw new Damaged(`${name}: ${(error as Error).message}`);
    }
  };

/** Codecs of Parquet, with the most that a byte can become. */
export const CODECS_HERE: Codecs = new Map([
  ['UNCOMPRESSED', { decompress: (bytes) => bytes, ratio: 1 }],
  ['SNAPPY', { decompress: unsnappy, ratio: 32 }],
  ['GZIP', { decompress: bounded('GZIP', gunzipSync), ratio: 1040 }],
  ['BROTLI', { decompress: bounded('BROTLI', brotliDecompressSync), ratio: 2 ** 16 }],
]);

function sourceOf(path: string, handle: FileHandle, size: number): ParquetSource {
  return {
    name: path,
    size,
    read: async (offset, length) => {
      const bytes = new Uint8Array(length);
      for (let done = 0; done < length;) {
        const { bytesRead } = await handle.read(bytes, done, length - done, offset + done);
        if (bytesRead === 0) throw new EcifError(`${path}: ends at byte ${offset + done}; was it changed meanwhile?`);
        done += bytesRead;
      }
      return bytes;
    },
  };
}

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
  const handle = await open(path, 'r').catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    const { size } = await handle.stat();
    const file = await openParquet(sourceOf(path, handle, size), CODECS_HERE);
    return { ...file, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error instanceof EcifError ? error : unreadable(path, error);
  }
}
