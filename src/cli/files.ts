// Reading the files people name on the command line.

import { readFileSync, statSync } from 'node:fs';
import { EcifError } from '../array/errors.ts';

/** Problem and reference files beyond this are not what they seem. */
const LARGEST = 64 * 2 ** 20;

/** The text of a file, or an error that names it. */
export function readText(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > LARGEST) throw new EcifError(`${path}: ${size} bytes, at most ${LARGEST}; is this the right file?`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof EcifError) throw error;
    throw new EcifError(`${path}: cannot be read, ${(error as Error).message}; check the path`, { cause: error });
  }
}
