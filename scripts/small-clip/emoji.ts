// Emoji of three vendors as 32 × 32 pictures with their names: two to train on, one to keep out.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { parseCsv } from '../../src/data/csv.ts';

/** A vendor: its package, and where the pictures lie in it. */
interface Vendor {
  readonly name: string;
  readonly spec: string;
  readonly folder: string;
}

/** Vendors whose pictures are trained on; fetched by npm into the cache. */
export const TRAINED: readonly Vendor[] = [
  { name: 'openmoji', spec: 'openmoji@17.0.0', folder: 'openmoji/color/svg' },
  { name: 'fluent-3d', spec: '@lobehub/fluent-emoji-3d@1.1.0', folder: '@lobehub/fluent-emoji-3d/assets' },
];
/** The vendor that is kept out; a development dependency. */
export const HELD_OUT = 'twemoji';

/** Left out: at this size most are three stripes. */
const FLAGS = 'Flags';
const SIDE = 32;
const AT_ONCE = 16;
/** Packages have changed names of files by this sign and by leading zeros. */
const PRESENTATION = 'fe0f';

const require = createRequire(import.meta.url);

/** Code points of a file name, in one form for all vendors. */
const keyOf = (codes: readonly string[]): string =>
  codes
    .map((code) => code.toLowerCase().replace(/^0+/, ''))
    .filter((code) => code !== PRESENTATION)
    .join('-');

/** Picture by key. */
function indexOf(folder: string): Map<string, string> {
  const files = readdirSync(folder).filter((name) => /^[0-9a-f-]+\.(?:svg|webp)$/i.test(name));
  return new Map(files.sort().map((name) => [keyOf(name.replace(/\..*$/, '').split('-')), join(folder, name)]));
}

/** Fetches the packages that are not dependencies; their scripts are not run. */
function fetchPackages(cache: string): void {
  const missing = TRAINED.filter(({ folder }) => !existsSync(join(cache, 'node_modules', folder)));
  if (missing.length === 0) return;
  mkdirSync(cache, { recursive: true });
  const words = ['install', '--prefix', cache, '--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
  execFileSync('npm', [...words, ...missing.map(({ spec }) => spec)], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** One concept: an emoji that every vendor has drawn. */
export interface Concept {
  readonly key: string;
  readonly name: string;
  /** Picture by vendor. */
  readonly files: Readonly<Record<string, string>>;
}

/** The emoji that every vendor has drawn, in the order of Unicode. */
export function readConcepts(cache: string): Concept[] {
  fetchPackages(cache);
  const folders = new Map<string, Map<string, string>>([
    [HELD_OUT, indexOf(dirname(require.resolve('@twemoji/svg/package.json')))],
    ...TRAINED.map(({ name, folder }) => [name, indexOf(join(cache, 'node_modules', folder))] as const),
  ]);
  const table = JSON.parse(readFileSync(require.resolve('unicode-emoji-json/data-by-emoji.json'), 'utf8')) as Record<
    string,
    { name: string; group: string }
  >;
  return Object.entries(table).flatMap(([emoji, { name, group }]) => {
    if (group === FLAGS) return [];
    const key = keyOf(Array.from(emoji, (c) => (c.codePointAt(0) ?? 0).toString(16)));
    const files = [...folders].map(([vendor, index]) => [vendor, index.get(key)] as const);
    if (files.some(([, file]) => file === undefined)) return [];
    return [{ key, name, files: Object.fromEntries(files) as Record<string, string> }];
  });
}

async function draw(file: string, to: string): Promise<void> {
  const image = sharp(file).resize(SIDE, SIDE, { fit: 'contain', background: '#fff' }).flatten({ background: '#fff' });
  await image.png().toFile(to);
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Draws the pictures of some vendors and lists them; returns the list. */
export async function drawPairs(
  folder: string,
  list: string,
  concepts: readonly Concept[],
  vendors: readonly string[],
): Promise<string> {
  const pairs = vendors.flatMap((vendor) => concepts.map((concept) => ({ vendor, concept })));
  for (const vendor of vendors) mkdirSync(join(folder, vendor), { recursive: true });
  for (let i = 0; i < pairs.length; i += AT_ONCE) {
    await Promise.all(
      pairs
        .slice(i, i + AT_ONCE)
        .map(({ vendor, concept: { key, files } }) => draw(files[vendor], join(folder, vendor, `${key}.png`))),
    );
  }
  const rows = pairs.map(({ vendor, concept: { key, name } }) =>
    [`${vendor}/${key}.png`, quoted(name), `${vendor}-${key}`].join(','),
  );
  const path = join(folder, list);
  writeFileSync(path, `image,caption,id\n${rows.join('\n')}\n`);
  return path;
}

/** Keeps the list of concepts, so that the held-out pairs can be drawn again without the other vendors. */
export function writeConcepts(path: string, concepts: readonly Concept[]): void {
  writeFileSync(path, `key,name\n${concepts.map(({ key, name }) => `${key},${quoted(name)}\n`).join('')}`);
}

/** The concepts of a list, with the held-out vendor's pictures. */
export function readHeldOut(path: string): Concept[] {
  const index = indexOf(dirname(require.resolve('@twemoji/svg/package.json')));
  return parseCsv(path, readFileSync(path, 'utf8'), ',')
    .slice(1)
    .map(({ fields: [key, name] }) => {
      const file = index.get(key);
      if (file === undefined) throw new Error(`${path}: ${key}: not in @twemoji/svg; install version 15`);
      return { key, name, files: { [HELD_OUT]: file } };
    });
}
