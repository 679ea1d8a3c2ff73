// Labels that people or machines gave, right or wrong: a file of one a line, or JSON.

import { EcifError } from '../array/errors.ts';
import { type Dataset, shown } from './dataset.ts';

/** Labels by row, or by id. */
type Given = readonly unknown[] | Readonly<Record<string, unknown>>;

function givenIn(file: string, text: string): Given {
  if (!/^\s*[[{]/.test(text)) {
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  }
  try {
    return JSON.parse(text) as Given;
  } catch {
    throw new EcifError(`${file}: no JSON; give one label a line, a list of labels, or an object from id to label`);
  }
}

/**
 * The class that a file gives each row of a dataset.
 * @param text one label a line, a JSON list in the order of the rows, or a JSON object from id to label; a label is the
 * name of a class or its number
 * @throws EcifError with file and place for labels that do not fit the dataset
 * @example labelsIn('noisy.txt', '3\n0\n', dataset);
 */
export function labelsIn(file: string, text: string, { rows, classes, source }: Dataset): string[] {
  const given = givenIn(file, text);
  if (Array.isArray(given) && given.length !== rows.length) {
    throw new EcifError(`${file}: ${given.length} labels of ${rows.length} pairs in ${source}; give one for each`);
  }
  const known = new Set(classes);
  return rows.map(({ id }, i) => {
    const found: unknown = Array.isArray(given) ? given[i] : (given as Record<string, unknown>)[id];
    const name = typeof found === 'string' || typeof found === 'number' ? String(found) : '';
    const label = known.has(name) ? name : /^\d+$/.test(name) ? classes[Number(name)] : undefined;
    if (label === undefined) {
      const place = Array.isArray(given) ? `label ${i + 1}` : `pair ${shown(id)}`;
      throw new EcifError(
        `${file}: ${place}: found ${shown(found)}; give one of ${classes.length} classes, or its number`,
      );
    }
    return label;
  });
}
