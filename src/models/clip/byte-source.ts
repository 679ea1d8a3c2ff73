// Bytes that can be read in pieces: a file, a blob, an array in memory.

import { EcifError } from '../../array/errors.ts';

/** Separators, drives and control characters. */
// oxlint-disable-next-line no-control-regex
const PATH_MARK = /[/\\:\u0000-\u001f]/;

/** Named bytes of known size, read piece by piece. */
export interface ByteSource {
  /** Name of the file, for messages. */
  readonly name: string;
  /** Bytes in all. */
  readonly size: number;
  /**
   * Reads exactly `length` bytes.
   * @throws EcifError for a range that is not inside the source
   */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** A folder of byte sources, such as a directory, a list of uploaded files or a place on a server. */
export interface ByteFolder {
  /** Name of the folder, for messages. */
  readonly name: string;
  /** The file of that name, or null if there is none. */
  open(file: string): Promise<ByteSource | null>;
}

/**
 * True for the name of a file that stands in a folder itself: no path, no way out of the folder.
 * @example isPlainName('../secret'); // false
 */
export function isPlainName(name: string): boolean {
  return name.length > 0 && name.length <= 255 && !name.startsWith('.') && !PATH_MARK.test(name);
}

/** Refuses a range that is not inside. */
function requireRange({ name, size }: Pick<ByteSource, 'name' | 'size'>, offset: number, length: number): void {
  const whole = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
  if (!whole || offset + length > size) {
    throw new EcifError(`${name}: bytes ${offset}…${offset + length}: the file has ${size}; is it complete?`);
  }
}

/**
 * A source whose ranges are checked before they are read, whatever reads them.
 * @param read reads a range that is known to lie inside
 */
export function checkedSource(
  name: string,
  size: number,
  read: (offset: number, length: number) => Promise<Uint8Array>,
): ByteSource {
  return {
    name,
    size,
    read: async (offset, length) => {
      requireRange({ name, size }, offset, length);
      const bytes = await read(offset, length);
      if (bytes.length !== length) {
        throw new EcifError(`${name}: bytes ${offset}…${offset + length}: got ${bytes.length}; is the file complete?`);
      }
      return bytes;
    },
  };
}

/**
 * A source over bytes in memory; what it reads are views, not copies.
 * @param name for messages
 * @example const file = await openSafetensors(bytesSource('model.safetensors', bytes));
 */
export function bytesSource(name: string, bytes: Uint8Array): ByteSource {
  return checkedSource(name, bytes.length, async (offset, length) => bytes.subarray(offset, offset + length));
}

/**
 * A source over a Blob or File of the browser.
 * @param name for messages
 */
export function blobSource(name: string, blob: Blob): ByteSource {
  return checkedSource(
    name,
    blob.size,
    async (offset, length) => new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer()),
  );
}

/** A folder over a list of files. */
function folderOf<T>(
  name: string,
  files: Readonly<Record<string, T>>,
  open: (name: string, file: T) => ByteSource,
): ByteFolder {
  const entries = new Map(Object.entries(files));
  return {
    name,
    open: async (file) => {
      const found = entries.get(file);
      return found === undefined ? null : open(`${name}/${file}`, found);
    },
  };
}

/**
 * A folder over bytes in memory.
 * @example const folder = bytesFolder('tiny-clip', { 'config.json': bytes });
 */
export const bytesFolder = (name: string, files: Readonly<Record<string, Uint8Array>>): ByteFolder =>
  folderOf(name, files, bytesSource);

/**
 * A folder over Blobs or Files of the browser, such as those a user chose.
 * @example const folder = blobFolder('upload', Object.fromEntries([...input.files].map((file) => [file.name, file])));
 */
export const blobFolder = (name: string, files: Readonly<Record<string, Blob>>): ByteFolder =>
  folderOf(name, files, blobSource);
