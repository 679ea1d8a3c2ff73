// Emoji pictures and their names from the packages @twemoji/svg, unicode-emoji-json and sharp, as image-text pairs.

import { existsSync, mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Sharp } from 'sharp';
import { EcifError } from '../array/errors.ts';
import { writeWholeSync } from '../array/whole-file.node.ts';
import { csvLine } from './score-text.ts';

/** An emoji that has a picture. */
export interface Emoji {
  readonly emoji: string;
  /** The name Unicode gives it, as plain text. */
  readonly caption: string;
  readonly group: string;
  /** Its SVG file. */
  readonly file: string;
}

/** One picture with its caption. */
export interface EmojiPair extends Emoji {
  /** side × side × 3 values in 0…1, 0 for white. */
  readonly pixels: Float32Array;
}

/** Settings of {@link readEmoji}. */
export interface EmojiOptions {
  /** Unicode groups to read, for example `Food & Drink`. */
  readonly groups: readonly string[];
  /** Pixels a side. */
  readonly side: number;
}

/** Draws the file or the text of a picture on white, as a square of so many pixels. */
type Draw = (picture: string | Buffer, side: number) => Sharp;

const PACKAGES = ['@twemoji/svg', 'unicode-emoji-json', 'sharp'];
const JOINER = '200d';
const PRESENTATION = 'fe0f';
const AT_ONCE = 16;

const missing = (name: string): EcifError =>
  new EcifError(`emoji: the package ${name} is not installed; npm install --save-dev ${PACKAGES.join(' ')}`);

/** The file of a package, found the way Node finds it from here. */
function locate(name: string, file: string): string {
  try {
    return createRequire(import.meta.url).resolve(`${name}/${file}`);
  } catch {
    throw missing(name);
  }
}

/** What draws pictures. */
async function openDraw(): Promise<Draw> {
  const { default: sharp } = await import('sharp').catch(() => {
    throw missing('sharp');
  });
  const background = '#fff';
  return (picture, side) =>
    sharp(picture).resize(side, side, { fit: 'contain', background }).flatten({ background }).removeAlpha();
}

/** Code points of an emoji as Twemoji names files: hexadecimal, the presentation selector only in joined sequences. */
export function emojiCodes(emoji: string): string[] {
  const codes = Array.from(emoji, (c) => (c.codePointAt(0) ?? 0).toString(16));
  return codes.includes(JOINER) ? codes : codes.filter((c) => c !== PRESENTATION);
}

/**
 * The picture of some code points.
 * @throws EcifError for a name that leaves the folder
 */
export function pictureFile(folder: string, codes: readonly string[]): string {
  const file = join(folder, `${codes.join('-')}.svg`);
  const inside = relative(folder, file);
  if (isAbsolute(inside) || inside.startsWith('..') || inside.includes(sep)) {
    throw new EcifError(`emoji: ${JSON.stringify(codes.join('-'))} is no file name; use hexadecimal code points`);
  }
  return file;
}

/**
 * The emoji that have a picture, in the order of Unicode.
 * @throws EcifError when a package is missing, with what to install
 */
export async function listEmoji(): Promise<Emoji[]> {
  const folder = dirname(locate('@twemoji/svg', 'package.json'));
  const path = locate('unicode-emoji-json', 'data-by-emoji.json');
  const entries = JSON.parse(await readFile(path, 'utf8')) as Record<string, { name?: unknown; group?: unknown }>;
  const all = Object.entries(entries).map(([emoji, { name: caption, group }]) => {
    if (typeof caption !== 'string' || typeof group !== 'string') {
      throw new EcifError(`emoji: ${path}: ${JSON.stringify(emoji)} lacks name or group; reinstall the package`);
    }
    return { emoji, caption, group, file: pictureFile(folder, emojiCodes(emoji)) };
  });
  return all.filter(({ file }) => existsSync(file));
}

/** What `f` gives for each item, a few at once. */
async function eachOf<T, R>(items: readonly T[], f: (item: T) => Promise<R>): Promise<R[]> {
  const found: R[] = [];
  for (let i = 0; i < items.length; i += AT_ONCE) {
    found.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map(f))));
  }
  return found;
}

/**
 * Reads the emoji of some groups that have a picture, in the order of Unicode.
 * @throws EcifError when a package is missing, with what to install
 * @example const pairs = await readEmoji({ groups: ['Food & Drink'], side: 16 });
 */
export async function readEmoji({ groups, side }: EmojiOptions): Promise<EmojiPair[]> {
  const [draw, all] = [await openDraw(), await listEmoji()];
  const chosen = all.filter(({ group }) => groups.includes(group));
  return eachOf(chosen, async (one) => ({
    ...one,
    pixels: Float32Array.from(await draw(one.file, side).raw().toBuffer(), (value) => 1 - value / 255),
  }));
}

/** A pair to be drawn. */
export interface PairToDraw {
  /** Path of the picture in the folder of the list, with `/` between its parts. */
  readonly image: string;
  readonly caption: string;
  readonly id: string;
  /** SVG or another picture, by its file or as it is. */
  readonly picture: string | Buffer;
}

/**
 * Draws pictures as PNG files, and then lists them with their captions, as `ecif train` reads them.
 * @returns the path of the list
 */
export async function drawList(
  folder: string,
  list: string,
  pairs: readonly PairToDraw[],
  side: number,
): Promise<string> {
  const draw = await openDraw();
  for (const place of new Set(pairs.map(({ image }) => dirname(join(folder, image))))) {
    mkdirSync(place, { recursive: true });
  }
  await eachOf(pairs, async ({ image, picture }) => {
    writeWholeSync(join(folder, image), await draw(picture, side).png().toBuffer());
  });
  const path = join(folder, list);
  const rows = pairs.map(({ image, caption, id }) => csvLine([image, caption, id]));
  writeWholeSync(path, [csvLine(['image', 'caption', 'id']), ...rows].join(''));
  return path;
}
