// Emoji pictures of several vendors, from packages: files named by code points, or collections of icons named in words.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A picture: the path of its file, or its SVG. */
export type Picture = string | Buffer;

/** A vendor whose pictures are trained on. */
interface Vendor {
  readonly name: string;
  /** Its package, fetched by npm into the cache. */
  readonly spec: string;
  /** Folder of files in it; none for a collection of icons. */
  readonly folder?: string;
  /** Whether an emoji that it has not drawn is left out for all; else only for this vendor. */
  readonly required?: true;
}

/** Vendors whose pictures are trained on. */
export const TRAINED: readonly Vendor[] = [
  { name: 'openmoji', spec: 'openmoji@17.0.0', folder: 'openmoji/color/svg', required: true },
  {
    name: 'fluent-3d',
    spec: '@lobehub/fluent-emoji-3d@1.1.0',
    folder: '@lobehub/fluent-emoji-3d/assets',
    required: true,
  },
  { name: 'noto', spec: '@iconify-json/noto@1.2.9' },
  { name: 'fluent-flat', spec: '@iconify-json/fluent-emoji-flat@1.2.6' },
  { name: 'noto-v1', spec: '@iconify-json/noto-v1@1.2.5' },
  { name: 'emojione', spec: '@iconify-json/emojione@1.2.3' },
  { name: 'emojione-v1', spec: '@iconify-json/emojione-v1@1.2.3' },
];
/** The collection that names icons for all: it has every code point. */
const NAMING = '@iconify-json/noto';

/** Packages have changed names of files by this sign and by leading zeros. */
const PRESENTATION = 'fe0f';

const require = createRequire(import.meta.url);

/** Code points in one form for all vendors. */
export const keyOf = (codes: readonly string[]): string =>
  codes
    .map((code) => code.toLowerCase().replace(/^0+/, ''))
    .filter((code) => code !== PRESENTATION)
    .join('-');

/** Name of a package without its version. */
const packageOf = ({ spec }: Vendor): string => spec.slice(0, spec.lastIndexOf('@'));

/** Fetches the packages that are not dependencies; their scripts are not run. */
function fetchPackages(cache: string): void {
  const missing = TRAINED.filter((vendor) => !existsSync(join(cache, 'node_modules', packageOf(vendor))));
  if (missing.length === 0) return;
  mkdirSync(cache, { recursive: true });
  const words = ['install', '--prefix', cache, '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', [...words, ...missing.map(({ spec }) => spec)], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Files of a folder by key. */
function filesOf(folder: string): Map<string, Picture> {
  const files = readdirSync(folder).filter((name) => /^[0-9a-f-]+\.(?:svg|webp)$/i.test(name));
  return new Map(files.sort().map((name) => [keyOf(name.replace(/\..*$/, '').split('-')), join(folder, name)]));
}

/** A collection of icons, as far as it is read. */
interface Collection {
  readonly width?: number;
  readonly height?: number;
  readonly icons: Readonly<
    Record<string, { readonly body: string; readonly width?: number; readonly height?: number }>
  >;
}

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** Icons of a collection by key. */
function iconsOf(folder: string, names: Readonly<Record<string, string>>): Map<string, Picture> {
  const { icons, width = 16, height = 16 } = json(join(folder, 'icons.json')) as Collection;
  return new Map(
    Object.entries(names).flatMap(([codes, name]): [string, Picture][] => {
      const icon = icons[name];
      if (icon === undefined) return [];
      const box = `0 0 ${icon.width ?? width} ${icon.height ?? height}`;
      const head = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="${box}"`;
      return [[keyOf(codes.split('-')), Buffer.from(`${head} width="128" height="128">${icon.body}</svg>`)]];
    }),
  );
}

/** Pictures of the vendor that is kept out, a development dependency. */
export const heldOutPictures = (): Map<string, Picture> =>
  filesOf(dirname(require.resolve('@twemoji/svg/package.json')));

/** Pictures by vendor and key; missing packages are fetched. */
export function trainedPictures(cache: string): Map<string, Map<string, Picture>> {
  fetchPackages(cache);
  const names = json(join(cache, 'node_modules', NAMING, 'chars.json')) as Record<string, string>;
  return new Map(
    TRAINED.map((vendor) => {
      const { name, folder } = vendor;
      const place = join(cache, 'node_modules', folder ?? packageOf(vendor));
      return [name, folder === undefined ? iconsOf(place, names) : filesOf(place)];
    }),
  );
}
