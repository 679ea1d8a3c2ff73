// Files beside tables: the JSON in small ones, and hashes of large ones.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { unreadable } from '../array/messages.ts';

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
