// Image-text pairs as people list them: rows of CSV, TSV or JSONL, every field checked.

import { EcifError } from '../array/errors.ts';
import { oneLine } from '../array/messages.ts';
import { parseCsv } from './csv.ts';

/** One listed pair. */
export interface DatasetRow {
  /** Its own id, or its number from 0. */
  readonly id: string;
  /** Path of the picture, relative to the list. */
  readonly image: string;
  readonly caption: string;
  /** Its class, where the list names one. */
  readonly label: string | null;
}

/** Pairs with where they come from. */
export interface Dataset {
  /** File or folder. */
  readonly source: string;
  /** Folder in which the pictures lie. */
  readonly root: string;
  readonly rows: readonly DatasetRow[];
}

/** Fields of a row as found, with their place. */
interface Found {
  readonly line: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

const COLUMNS = ['image', 'caption', 'id', 'label'] as const;
const LONGEST = { image: 4096, caption: 65_536, id: 512, label: 512 };

/** A value from a file in a few words, safe to print. */
export const shown = (value: unknown): string =>
  value === undefined ? 'nothing' : oneLine((JSON.stringify(value) ?? typeof value).slice(0, 80));

/** Complains about one field of one line. */
function bad(file: string, line: number, field: string, found: string, fix: string): never {
  throw new EcifError(oneLine(`${file}: line ${line}: ${field}: ${found}; ${fix}`));
}

/** Refuses a path that could leave the folder of the list. */
function requireInside(file: string, line: number, path: string): void {
  const parts = path.split(/[/\\]/);
  if (/^[/\\]|^[A-Za-z]:|\0/.test(path) || parts.includes('..')) {
    bad(file, line, 'image', `${shown(path)} leaves the folder of the list`, 'give a path inside it');
  }
}

function textOf(file: string, { line, fields }: Found, name: (typeof COLUMNS)[number]): string | null {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return null;
  const text = typeof value === 'number' && name !== 'image' && name !== 'caption' ? String(value) : value;
  if (typeof text !== 'string') bad(file, line, name, `found ${shown(value)}`, 'give a text');
  if (text.length > LONGEST[name]) bad(file, line, name, `${text.length} letters`, `give ${LONGEST[name]} at most`);
  return text;
}

function rowOf(file: string, found: Found, index: number): DatasetRow {
  const need = (name: 'image' | 'caption'): string =>
    textOf(file, found, name) ??
    bad(file, found.line, name, 'found nothing', `give every row ${name === 'image' ? 'an image' : 'a caption'}`);
  const image = need('image');
  requireInside(file, found.line, image);
  return {
    image,
    caption: need('caption'),
    id: textOf(file, found, 'id') ?? String(index),
    label: textOf(file, found, 'label'),
  };
}

/** Rows of a table whose first record names its columns. */
function tableRows(file: string, text: string, separator: ',' | '\t'): Found[] {
  const [head, ...records] = parseCsv(file, text, separator);
  if (head === undefined) throw new EcifError(`${file}: empty; give a first line with image and caption`);
  const names = head.fields.map((name) => name.trim().toLowerCase());
  for (const name of ['image', 'caption']) {
    if (!names.includes(name))
      bad(file, head.line, name, `no such column among ${shown(names)}`, 'name it in the first line');
  }
  const twice = COLUMNS.find((name) => names.filter((n) => n === name).length > 1);
  if (twice !== undefined) bad(file, head.line, twice, 'the column is there twice', 'keep one');
  return records.map(({ line, fields }) => {
    if (fields.length !== names.length) {
      bad(
        file,
        line,
        'fields',
        `found ${fields.length}, the first line has ${names.length}`,
        'quote fields that hold separators',
      );
    }
    return { line, fields: Object.fromEntries(COLUMNS.map((name) => [name, fields[names.indexOf(name)]])) };
  });
}

/** Rows of a file of one JSON object a line. */
function jsonRows(file: string, text: string): Found[] {
  return text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((source, i): Found[] => {
      if (source.trim() === '') return [];
      let value: unknown;
      try {
        value = JSON.parse(source);
      } catch {
        bad(file, i + 1, 'row', 'no JSON', 'give one object a line');
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        bad(file, i + 1, 'row', `found ${shown(value)}`, 'give one object a line');
      }
      return [{ line: i + 1, fields: value as Record<string, unknown> }];
    });
}

/** Refuses an id that is there twice. */
function requireDistinct(file: string, found: readonly Found[], rows: readonly DatasetRow[]): void {
  const lines = new Map<string, number>();
  rows.forEach(({ id }, i) => {
    const first = lines.get(id);
    if (first !== undefined)
      bad(file, found[i].line, 'id', `${shown(id)} is also that of line ${first}`, 'give every row its own');
    lines.set(id, found[i].line);
  });
}

/**
 * The rows of a list of pairs.
 * @param file its name; `.tsv` and `.jsonl` say the form, all else is CSV
 * @throws EcifError with file, line and field, what was found and what to do
 * @example parseDataset('pairs.csv', 'image,caption\ncat.png,a cat');
 */
export function parseDataset(file: string, text: string): DatasetRow[] {
  const json = /\.(?:jsonl|ndjson)$/i.test(file);
  const found = json ? jsonRows(file, text) : tableRows(file, text, /\.tsv$/i.test(file) ? '\t' : ',');
  if (found.length === 0) throw new EcifError(`${file}: no rows; list at least one pair`);
  const rows = found.map((one, i) => rowOf(file, one, i));
  requireDistinct(file, found, rows);
  return rows;
}

/**
 * The caption of a class.
 * @param template with `{}` where the class goes
 * @throws EcifError for a template without `{}`
 * @example captionOf('a photo of a {}', 'tabby_cat'); // 'a photo of a tabby cat'
 */
export function captionOf(template: string, label: string): string {
  if (!template.includes('{}')) {
    throw new EcifError(`template: found ${shown(template)}; put {} where the class goes, as in "a photo of a {}"`);
  }
  return template.replaceAll('{}', () => label.replaceAll('_', ' '));
}
