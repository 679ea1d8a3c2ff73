// Reading and writing the files people name on the command line.

import { existsSync, readFileSync, type Stats, statSync } from 'node:fs';
import { EcifError } from '../array/errors.ts';
import { unreadable, unwritable } from '../array/messages.ts';
import { tryWriting } from '../array/whole-file.node.ts';

/** Problem and reference files beyond this are not what they seem. */
const LARGEST = 64 * 2 ** 20;

/** What is known of a file; a device is refused, which may have no end. */
function withEnd(path: string): Stats {
  const found = statSync(path);
  if (found.isCharacterDevice() || found.isBlockDevice()) throw new Error('it is a device');
  return found;
}

/** The text of a file, or an error that names it. */
export function readText(path: string): string {
  try {
    const { size } = withEnd(path);
    if (size > LARGEST) throw new EcifError(`${path}: ${size} bytes, at most ${LARGEST}; is this the right file?`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw error instanceof EcifError ? error : unreadable(path, error);
  }
}

/** The bytes of a file of any size, or an error that names it. */
export function readBytes(path: string): Buffer {
  try {
    withEnd(path);
    return readFileSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Makes sure that a file can be written, before work is spent on it. */
export function requireWritable(path: string): void {
  if (existsSync(path) && !statSync(path).isFile()) throw unwritable(path, new Error('it is no regular file'));
  tryWriting(path);
}

/** What `write` does to a file, or an error that names it. */
export function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Writes a file whole or not at all. */
export { writeWholeSync as writeText } from '../array/whole-file.node.ts';
