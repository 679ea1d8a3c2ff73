// Emoji as 32 × 32 pictures with their names: of several vendors to train on, of one to keep out.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseCsv } from '../../src/data/csv.ts';
import { drawList } from '../../src/data/emoji.node.ts';
import { heldOutPictures, keyOf, type Picture, TRAINED, trainedPictures } from './vendors.ts';

/** The vendor that is kept out. */
export const HELD_OUT = 'twemoji';

/** Left out: at this size most are three stripes. */
const FLAGS = 'Flags';
const SIDE = 32;

const require = createRequire(import.meta.url);

/** One concept: an emoji that the vendor kept out and those that must have it have drawn. */
export interface Concept {
  readonly key: string;
  readonly name: string;
  /** Picture by vendor; not every vendor has each. */
  readonly pictures: ReadonlyMap<string, Picture>;
}

/** The concepts, in the order of Unicode. */
export function readConcepts(cache: string): Concept[] {
  const vendors = new Map([[HELD_OUT, heldOutPictures()], ...trainedPictures(cache)]);
  const required = [HELD_OUT, ...TRAINED.filter((vendor) => vendor.required).map(({ name }) => name)];
  const table = JSON.parse(readFileSync(require.resolve('unicode-emoji-json/data-by-emoji.json'), 'utf8')) as Record<
    string,
    { name: string; group: string }
  >;
  return Object.entries(table).flatMap(([emoji, { name, group }]) => {
    if (group === FLAGS) return [];
    const key = keyOf(Array.from(emoji, (c) => (c.codePointAt(0) ?? 0).toString(16)));
    const found = [...vendors].flatMap(([vendor, index]): [string, Picture][] => {
      const picture = index.get(key);
      return picture === undefined ? [] : [[vendor, picture]];
    });
    const pictures = new Map(found);
    return required.every((vendor) => pictures.has(vendor)) ? [{ key, name, pictures }] : [];
  });
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Draws the pictures of some vendors and lists them; returns the list. */
export function drawPairs(
  folder: string,
  list: string,
  concepts: readonly Concept[],
  vendors: readonly string[],
): Promise<string> {
  const pairs = vendors.flatMap((vendor) =>
    concepts.flatMap(({ key, name: caption, pictures }) => {
      const picture = pictures.get(vendor);
      return picture === undefined ? [] : [{ image: `${vendor}/${key}.png`, caption, id: `${vendor}-${key}`, picture }];
    }),
  );
  return drawList(folder, list, pairs, SIDE);
}

/** Keeps the list of concepts, so that the held-out pairs can be drawn again without the other vendors. */
export function writeConcepts(path: string, concepts: readonly Concept[]): void {
  writeFileSync(path, `key,name\n${concepts.map(({ key, name }) => `${key},${quoted(name)}\n`).join('')}`);
}

/** The concepts of a list, with the held-out vendor's pictures. */
export function readHeldOut(path: string): Concept[] {
  const index = heldOutPictures();
  return parseCsv(path, readFileSync(path, 'utf8'), ',')
    .slice(1)
    .map(({ fields: [key, name] }) => {
      const picture = index.get(key);
      if (picture === undefined) throw new Error(`${path}: ${key}: not in @twemoji/svg; install version 15`);
      return { key, name, pictures: new Map([[HELD_OUT, picture]]) };
    });
}
