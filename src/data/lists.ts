// Lists of image-text pairs: rows of CSV, TSV or JSONL, every field checked.

import { EcifError } from '../array/errors.ts';
import { createRng } from '../array/rng.ts';
import { parseCsv } from './csv.ts';
import { type DatasetRow, type FoundRow, shown, TEMPLATE, withPrompts } from './dataset.ts';
import { bad, FIELDS, type FoundFields, requireDistinct, requireInside, rowOf } from './rows.ts';

/** Rows of a table whose first record names its columns. */
function tableRows(file: string, text: string, separator: ',' | '\t'): FoundFields[] {
  const [head, ...records] = parseCsv(file, text, separator);
  if (head === undefined) throw new EcifError(`${file}: empty; give a first line with image and caption`);
  const names = head.fields.map((name) => name.trim().toLowerCase());
  for (const name of names.includes('label') ? ['image'] : ['image', 'caption']) {
    if (!names.includes(name))
      bad(file, `line ${head.line}`, name, `no such column among ${shown(names)}`, 'name it in the first line');
  }
  const twice = FIELDS.find((name) => names.filter((n) => n === name).length > 1);
  if (twice !== undefined) bad(file, `line ${head.line}`, twice, 'the column is there twice', 'keep one');
  return records.map(({ line, fields }) => {
    if (fields.length !== names.length) {
      bad(
        file,
        `line ${line}`,
        'fields',
        `found ${fields.length}, the first line has ${names.length}`,
        'quote fields that hold separators',
      );
    }
    return {
      place: `line ${line}`,
      fields: Object.fromEntries(FIELDS.map((name) => [name, fields[names.indexOf(name)]])),
    };
  });
}

/** Rows of a file of one JSON object a line. */
function jsonRows(file: string, text: string): FoundFields[] {
  return text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((source, i): FoundFields[] => {
      if (source.trim() === '') return [];
      let value: unknown;
      try {
        value = JSON.parse(source);
      } catch {
        bad(file, `line ${i + 1}`, 'row', 'no JSON', 'give one object a line');
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        bad(file, `line ${i + 1}`, 'row', `found ${shown(value)}`, 'give one object a line');
      }
      return [{ place: `line ${i + 1}`, fields: value as Record<string, unknown> }];
    });
}

/**
 * The rows of a list of pairs, as they stand there.
 * @throws EcifError with file, line and field, what was found and what to do
 */
export function parseList(file: string, text: string): FoundRow[] {
  const json = /\.(?:jsonl|ndjson)$/i.test(file);
  const found = json ? jsonRows(file, text) : tableRows(file, text, /\.tsv$/i.test(file) ? '\t' : ',');
  if (found.length === 0) throw new EcifError(`${file}: no rows; list at least one pair`);
  const rows = found.map((one, i) => rowOf(file, one, i));
  rows.forEach(({ image }, i) => requireInside(file, found[i].place, image));
  requireDistinct(file, found, rows);
  return rows;
}

/**
 * The pairs of a list.
 * @param file its name; `.tsv` and `.jsonl` say the form, all else is CSV
 * @param templates for captions of rows that have only a label, drawn by `seed`
 * @throws EcifError with file, line and field, what was found and what to do
 * @example parseDataset('pairs.csv', 'image,caption\ncat.png,a cat');
 */
export const parseDataset = (file: string, text: string, templates = [TEMPLATE], seed = 0): DatasetRow[] =>
  withPrompts(parseList(file, text), templates, createRng(seed));
