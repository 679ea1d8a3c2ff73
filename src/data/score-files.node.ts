// Small files beside tables: written whole or not at all, and hashes of large ones.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { unreadable, unwritable } from '../array/messages.ts';

/** What became of writing a file: a complaint of the system names the file, any other error stays as it is. */
export const writingFailed = (path: string, error: unknown): unknown =>
  (error as Partial<NodeJS.ErrnoException> | null)?.syscall === undefined ? error : unwritable(path, error);

/**
 * Writes a file whole or not at all.
 * @throws EcifError for a file that cannot be written
 */
export async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await writeFile(`${path}.part`, text);
    await rename(`${path}.part`, path);
  } catch (error) {
    throw writingFailed(path, error);
  }
}

/**
 * The JSON in a file, null where there is no file, undefined where it holds none.
 * @throws EcifError for a file that cannot be read
 */
export async function readJson(path: string): Promise<unknown> {
  try {
    return (JSON.parse(await readFile(path, 'utf8')) as unknown) ?? undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unreadable(path, error);
  }
}

/**
 * SHA-256 of a file in hexadecimal digits.
 * @throws EcifError for a file that cannot be read
 */
export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const bytes of createReadStream(path) as AsyncIterable<Uint8Array>) hash.update(bytes);
  } catch (error) {
    throw unreadable(path, error);
  }
  return hash.digest('hex');
}
