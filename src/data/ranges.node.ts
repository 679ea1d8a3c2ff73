// Files read in pieces, every piece checked against the file's size before memory is taken.

import { open, stat } from 'node:fs/promises';
import { EcifError } from '../array/errors.ts';
import { unreadable } from '../array/messages.ts';
import type { ParquetSource } from './parquet-footer.ts';

/** A file that is open, to be closed in the end. */
export interface OpenFile extends ParquetSource {
  close(): Promise<void>;
}

/**
 * Opens a file.
 * @throws EcifError that names it, where it cannot be read or a piece lies beyond its end
 */
export async function openFile(path: string): Promise<OpenFile> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const { size } = await handle.stat();
  return {
    name: path,
    size,
    read: async (offset, length) => {
      if (offset + length > size) {
        throw new EcifError(`${path}: ends at byte ${size}, ${offset + length} are needed; is the file complete?`);
      }
      const bytes = new Uint8Array(length);
      for (let done = 0; done < length;) {
        const { bytesRead } = await handle.read(bytes, done, length - done, offset + done).catch((error: unknown) => {
          throw unreadable(path, error);
        });
        if (bytesRead === 0) throw new EcifError(`${path}: ends at byte ${offset + done}; was it changed meanwhile?`);
        done += bytesRead;
      }
      return bytes;
    },
    close: () => handle.close(),
  };
}

/** Opens a file for as long as it is used. */
export async function withFile<T>(path: string, use: (file: ParquetSource) => Promise<T>): Promise<T> {
  const file = await openFile(path);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** A file that is opened for every piece, so that nothing need be closed. */
export async function fileOf(path: string): Promise<ParquetSource> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  return { name: path, size, read: (offset, length) => withFile(path, (file) => file.read(offset, length)) };
}

/**
 * A whole file.
 * @param most bytes it may have
 * @param fix what to do where it has more
 */
export function readWhole(path: string, most: number, fix: string): Promise<Uint8Array> {
  return withFile(path, (file) => {
    if (file.size > most) throw new EcifError(`${path}: ${file.size} bytes, at most ${most}; ${fix}`);
    return file.read(0, file.size);
  });
}

/**
 * A whole file as text.
 * @throws EcifError for one that is not UTF-8
 */
export async function readUtf8(path: string, most: number, fix: string): Promise<string> {
  const bytes = await readWhole(path, most, fix);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new EcifError(`${path}: not UTF-8 text; save it as UTF-8`);
  }
}
