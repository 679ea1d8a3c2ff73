// Names of classes: a file with one a line.

import { EcifError } from '../../array/errors.ts';
import { readUtf8 } from '../ranges.node.ts';

const LARGEST = 2 ** 20;

/**
 * Names of classes by their number.
 * @throws EcifError for a file without names, or with one twice
 */
export async function readClassNames(path: string): Promise<string[]> {
  const text = await readUtf8(path, LARGEST, 'give one name a line');
  const names = text
    .split(/\r?\n/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw new EcifError(`${path}: no names of classes; give one a line`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new EcifError(`${path}: the class ${JSON.stringify(twice)} is there twice; keep one`);
  return names;
}
