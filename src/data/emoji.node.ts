// Emoji pictures and their names from the packages @twemoji/svg, unicode-emoji-json and sharp, as image-text pairs.

import { access, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { EcifError } from '../array/errors.ts';

/** One picture with its caption. */
export interface EmojiPair {
  readonly emoji: string;
  /** The name Unicode gives it, as plain text. */
  readonly caption: string;
  readonly group: string;
  /** side × side × 3 values in 0…1, 0 for white. */
  readonly pixels: Float32Array;
  /** The same picture with another skin tone, where there is one. */
  readonly variant: Float32Array | null;
}

/** Settings of {@link readEmoji}. */
export interface EmojiOptions {
  /** Unicode groups to read, for example `Food & Drink`. */
  readonly groups: readonly string[];
  /** Pixels a side. */
  readonly side: number;
  /** Code point of the skin tone of the variants; medium-dark unless told. */
  readonly tone?: number;
}

const PACKAGES = ['@twemoji/svg', 'unicode-emoji-json', 'sharp'];
const JOINER = '200d';
const PRESENTATION = 'fe0f';
const MEDIUM_DARK = 0x1f3fe;
const AT_ONCE = 16;

type Raster = (file: string, side: number) => Promise<Float32Array>;

const missing = (name: string): EcifError =>
  new EcifError(`readEmoji: the package ${name} is not installed; npm install --save-dev ${PACKAGES.join(' ')}`);

/** The file of a package, found the way Node finds it from here. */
function locate(name: string, file: string): string {
  try {
    return createRequire(import.meta.url).resolve(`${name}/${file}`);
  } catch {
    throw missing(name);
  }
}

/** A function that draws an SVG file on white and gives 1 − value for every channel. */
async function loadRaster(): Promise<Raster> {
  const { default: sharp } = await import('sharp').catch(() => {
    throw missing('sharp');
  });
  return async (file, side) => {
    const image = sharp(file).resize(side, side).flatten({ background: '#fff' }).removeAlpha();
    return Float32Array.from(await image.raw().toBuffer(), (value) => 1 - value / 255);
  };
}

/** Code points of an emoji as Twemoji names files: hexadecimal, the presentation selector only in joined sequences. */
export function emojiCodes(emoji: string): string[] {
  const codes = Array.from(emoji, (c) => (c.codePointAt(0) ?? 0).toString(16));
  return codes.includes(JOINER) ? codes : codes.filter((c) => c !== PRESENTATION);
}

/** The codes with a skin tone after the first one. */
function tonedCodes([first, ...rest]: readonly string[], tone: number): string[] {
  return [first, tone.toString(16), ...(rest[0] === PRESENTATION ? rest.slice(1) : rest)];
}

/**
 * The picture of some code points.
 * @throws EcifError for a name that leaves the folder
 */
export function pictureFile(folder: string, codes: readonly string[]): string {
  const file = join(folder, `${codes.join('-')}.svg`);
  const inside = relative(folder, file);
  if (isAbsolute(inside) || inside.startsWith('..') || inside.includes(sep)) {
    throw new EcifError(`readEmoji: ${JSON.stringify(codes.join('-'))} is no file name; use hexadecimal code points`);
  }
  return file;
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

interface Entry {
  readonly name: string;
  readonly group: string;
  readonly skin_tone_support: boolean;
}

/** The table of emoji, checked. */
async function readTable(): Promise<[string, Entry][]> {
  const file = locate('unicode-emoji-json', 'data-by-emoji.json');
  const table = JSON.parse(await readFile(file, 'utf8')) as Record<string, Partial<Entry>>;
  return Object.entries(table).map(([emoji, { name, group, skin_tone_support = false }]) => {
    if (typeof name !== 'string' || typeof group !== 'string') {
      throw new EcifError(`readEmoji: ${file}: ${JSON.stringify(emoji)} lacks name or group; reinstall the package`);
    }
    return [emoji, { name, group, skin_tone_support }];
  });
}

/**
 * Reads the emoji of some groups that have a picture, in the order of Unicode.
 * @throws EcifError when a package is missing, with what to install
 * @example const pairs = await readEmoji({ groups: ['Food & Drink'], side: 16 });
 */
export async function readEmoji({ groups, side, tone = MEDIUM_DARK }: EmojiOptions): Promise<EmojiPair[]> {
  const folder = dirname(locate('@twemoji/svg', 'package.json'));
  const [raster, table] = [await loadRaster(), await readTable()];
  const draw = async (codes: readonly string[]): Promise<Float32Array | null> => {
    const file = pictureFile(folder, codes);
    return (await exists(file)) ? raster(file, side) : null;
  };
  const read = async ([emoji, { name, group, skin_tone_support }]: [string, Entry]): Promise<EmojiPair[]> => {
    const codes = emojiCodes(emoji);
    const pixels = await draw(codes);
    if (pixels === null) return [];
    return [
      { emoji, caption: name, group, pixels, variant: skin_tone_support ? await draw(tonedCodes(codes, tone)) : null },
    ];
  };
  const chosen = table.filter(([, { group }]) => groups.includes(group));
  const pairs: EmojiPair[] = [];
  for (let i = 0; i < chosen.length; i += AT_ONCE)
    pairs.push(...(await Promise.all(chosen.slice(i, i + AT_ONCE).map(read))).flat());
  return pairs;
}
