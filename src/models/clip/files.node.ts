// Files and folders under Node: read in pieces, written whole or not at all.

import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { unreadable } from '../../array/messages.ts';
import { writePieces } from '../../array/whole-file.node.ts';
import { type ByteFolder, type ByteSource, checkedSource, isPlainName } from './byte-source.ts';
import { bytesOf, encodeTensor, planSafetensors, type TensorPlan } from './safetensors.ts';

/** An open file. */
export interface FileSource extends ByteSource {
  close(): Promise<void>;
}

/** Reads a range of an open file; short where the file has become shorter. */
async function readRange(file: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(bytes, done, length - done, offset + done);
    if (bytesRead === 0) return bytes.subarray(0, done);
    done += bytesRead;
  }
  return bytes;
}

/**
 * Opens a file for reading in pieces.
 * @throws EcifError for a path that is no readable file
 * @example
 * const source = await fileSource('model.safetensors');
 * const weights = await openSafetensors(source);
 * await source.close();
 */
export async function fileSource(path: string): Promise<FileSource> {
  try {
    const { size, isFile } = await stat(path).then((s) => ({ size: s.size, isFile: s.isFile() }));
    if (!isFile) throw new EcifError(`${path}: not a file; name a file`);
    const file = await open(path, 'r');
    return {
      ...checkedSource(path, size, (offset, length) => readRange(file, offset, length)),
      close: () => file.close(),
    };
  } catch (error) {
    throw error instanceof EcifError ? error : unreadable(path, error);
  }
}

/** An open folder. */
export interface FileFolder extends ByteFolder {
  /** Closes every file opened in it. */
  close(): Promise<void>;
}

/**
 * A folder whose files are opened by name.
 * @throws EcifError for a path that is no folder
 * @example const folder = await fileFolder('clip-vit-base-patch32');
 */
export async function fileFolder(path: string): Promise<FileFolder> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (!found.isDirectory()) throw new EcifError(`${path}: not a folder; name the folder of the model`);
  const opened: FileSource[] = [];
  return {
    name: path,
    open: async (file) => {
      if (!isPlainName(file))
        throw new EcifError(`${path}: ${JSON.stringify(file)} leaves the folder; name a file in it`);
      const there = await stat(join(path, file)).catch(() => null);
      if (there === null) return null;
      const source = await fileSource(join(path, file));
      opened.push(source);
      return source;
    },
    close: async () => {
      await Promise.all(opened.splice(0).map((source) => source.close()));
    },
  };
}

/** Writes bytes or text to a file, whole or not at all. */
export { writeWhole as saveFile } from '../../array/whole-file.node.ts';

/** A tensor whose values are made when their turn comes. */
export interface LazyTensor extends TensorPlan {
  values(): Promise<ArrayLike<number>>;
}

/**
 * Writes a safetensors file tensor by tensor, so that one at a time is in memory.
 * @throws EcifError for tensors that cannot be written, or a path that cannot
 * @example
 * const copy = [...file.tensors.values()].map((t) => ({ ...t, dtype: 'F16' as const, values: () => file.values(t.name) }));
 * await saveSafetensors('half.safetensors', copy);
 */
export async function saveSafetensors(
  path: string,
  tensors: Iterable<LazyTensor>,
  metadata?: Record<string, string>,
): Promise<void> {
  const { head, order } = planSafetensors(tensors, metadata);
  await writePieces(path, async (file) => {
    await file.writeFile(head);
    for (const { name, shape, dtype = 'F32', values } of order) {
      const bytes = new Uint8Array(bytesOf({ name, shape, dtype }));
      encodeTensor({ name, shape, dtype, values: await values() }, bytes);
      await file.writeFile(bytes);
    }
  });
}
