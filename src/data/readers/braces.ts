// Names of many files written as one: `name-{000..003}.tar`.

import { EcifError } from '../../array/errors.ts';

const MOST = 100_000;

/**
 * The names that a range in braces stands for, its numbers as wide as they are written.
 * @throws EcifError for braces that hold no range
 * @example expandBraces('a-{08..10}.tar'); // ['a-08.tar', 'a-09.tar', 'a-10.tar']
 */
export function expandBraces(path: string): string[] {
  const found = /^([^{}]*)\{(\d{1,9})\.\.(\d{1,9})\}([^{}]*)$/s.exec(path);
  if (found === null) throw new EcifError(`${path}: no range in braces; write {000..003}`);
  const [, front, first, last, end] = found;
  const many = Number(last) - Number(first) + 1;
  if (many < 1 || many > MOST) throw new EcifError(`${path}: ${many} files; give 1 to ${MOST}, the lower number first`);
  return Array.from({ length: many }, (_, i) => {
    const digits = String(Number(first) + i).padStart(first.length, '0');
    return `${front}${digits}${end}`;
  });
}
