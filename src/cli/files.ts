// Reading and writing the files people name on the command line.

import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { EcifError } from '../array/errors.ts';
import { unreadable, unwritable } from '../array/messages.ts';

/** Problem and reference files beyond this are not what they seem. */
const LARGEST = 64 * 2 ** 20;

/** The text of a file, or an error that names it. */
export function readText(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > LARGEST) throw new EcifError(`${path}: ${size} bytes, at most ${LARGEST}; is this the right file?`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw error instanceof EcifError ? error : unreadable(path, error);
  }
}

/** Makes sure that a file can be written, before work is spent on it. */
export function requireWritable(path: string): void {
  try {
    accessSync(dirname(path), constants.W_OK);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error('it is no regular file');
  } catch (error) {
    throw unwritable(path, error);
  }
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
