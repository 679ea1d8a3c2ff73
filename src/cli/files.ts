// Reading and writing the files people name on the command line.

import { existsSync, readFileSync, type Stats, statSync } from 'node:fs';
import { EcifError } from '../array/errors.ts';
import { unreadable, unwritable } from '../array/messages.ts';
import { tryWriting } from '../array/whole-file.node.ts';
import { UsageError } from './args.ts';

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

/** A file that a command writes. */
export interface OutputKind {
  /** What it is, such as `page of ecif report`. */
  readonly what: string;
  /** How its name ends. */
  readonly ending: string;
  /** Whether a text is one. */
  is(text: string): boolean;
}

/** The page of a command. */
export const pageOf = (command: string): OutputKind => ({
  ...{ what: `page of ecif ${command}`, ending: '.html' },
  is: (text) => text.includes(`<p class="eyebrow">ecif ${command}</p>`),
});

/**
 * Makes sure that a file can be written, and that nothing else is lost by it, before work is spent on it.
 * @throws UsageError for another ending, or where there is something that the command did not write
 */
export function requireOutput(path: string, { what, ending, is }: OutputKind): void {
  requireWritable(path);
  if (!path.toLowerCase().endsWith(ending)) {
    throw new UsageError(`${path}: a ${what} is written there; give a name that ends with ${ending}`);
  }
  const found = existsSync(path) ? readText(path) : '';
  if (found !== '' && !is(found)) throw notOwn(path, what);
}

/** Says that a file that is there is not to be written over. */
export const notOwn = (path: string, what: string): UsageError =>
  new UsageError(`${path}: is there and no ${what}; give another name, or remove it first`);

/** What `write` does to a file, or an error that names it. */
export function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw unwritable(path, error);
  }
}

export {
  /** Writes a file whole or not at all. */
  writeWholeSync as writeText,
  /** Writes files all or none, each whole. */
  writeTogetherSync as writeTexts,
} from '../array/whole-file.node.ts';
