// The fields of pairs as files have them, every one checked.

import { EcifError } from '../array/errors.ts';
import { oneLine } from '../array/messages.ts';
import { type FoundRow, shown } from './dataset.ts';

/** Fields of a row as found, with their place. */
export interface FoundFields {
  /** Where in the file, as `line 3`. */
  readonly place: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Fields of a pair. */
export const FIELDS = ['image', 'caption', 'id', 'label'] as const;
const LONGEST = { image: 4096, caption: 65_536, id: 512, label: 512 };

/** Complains about one field of one place. */
export function bad(file: string, place: string, field: string, found: string, fix: string): never {
  throw new EcifError(oneLine(`${file}: ${place}: ${field}: ${found}; ${fix}`));
}

/** Refuses a path that could leave the folder of the list. */
export function requireInside(file: string, place: string, path: string): void {
  const parts = path.split(/[/\\]/);
  if (/^[/\\]|^[A-Za-z]:|\0/.test(path) || parts.includes('..')) {
    bad(file, place, 'image', `${shown(path)} leaves the folder of the list`, 'give a path inside it');
  }
}

/** Nothing but white space and letters of no width. */
const BLANK = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

function textOf(file: string, { place, fields }: FoundFields, name: (typeof FIELDS)[number]): string | null {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return null;
  const text = typeof value === 'number' && name !== 'image' && name !== 'caption' ? String(value) : value;
  if (typeof text !== 'string') bad(file, place, name, `found ${shown(value)}`, 'give a text');
  if ((name === 'caption' || name === 'label') && BLANK.test(text)) return null;
  if (text.length > LONGEST[name]) bad(file, place, name, `${text.length} letters`, `give ${LONGEST[name]} at most`);
  return text;
}

/**
 * A pair from its fields: an image, and a caption or a label.
 * @param index its number, which is its id where it has none
 * @throws EcifError with file, place and field, what was found and what to do
 */
export function rowOf(file: string, found: FoundFields, index: number): FoundRow {
  const [image, caption, label] = [
    textOf(file, found, 'image'),
    textOf(file, found, 'caption'),
    textOf(file, found, 'label'),
  ];
  if (image === null) bad(file, found.place, 'image', 'found nothing', 'give every row an image');
  if (caption === null && label === null) {
    bad(file, found.place, 'caption', 'found nothing', 'give every row a caption');
  }
  return { image, caption, label, id: textOf(file, found, 'id') ?? String(index) };
}

/** Refuses an id that is there twice. */
export function requireDistinct(file: string, found: readonly FoundFields[], rows: readonly FoundRow[]): void {
  const places = new Map<string, string>();
  rows.forEach(({ id }, i) => {
    const first = places.get(id);
    if (first !== undefined)
      bad(file, found[i].place, 'id', `${shown(id)} is also that of ${first}`, 'give every row its own');
    places.set(id, found[i].place);
  });
}
