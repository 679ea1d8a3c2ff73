// This package and the packages beside it: versions, and where the small CLIP is.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EcifError } from '../array/errors.ts';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

/** The nearest package called `name` at or above `from`, null where there is none. */
function packageAbove(from: string, name: string): { folder: string; version: string | null } | null {
  for (let folder = from; ; folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
      if (manifest.name === name) return { folder, version: manifest.version ?? null };
    } catch {
      // no manifest in this folder
    }
    if (folder === dirname(folder)) return null;
  }
}

const own = () => packageAbove(dirname(fileURLToPath(import.meta.url)), 'ecif');

/** Version of this package. */
export function ownVersion(): string {
  const version = own()?.version;
  if (typeof version !== 'string')
    throw new EcifError('version: no package.json of ecif above this program; reinstall it');
  return version;
}

/** The small CLIP of this package. */
export const smallClipFolder = (): string => join(own()?.folder ?? '.', 'models', 'small-clip');

/** Version of an installed package, null where there is none. */
export function packageVersion(name: string): string | null {
  try {
    return packageAbove(dirname(createRequire(import.meta.url).resolve(name)), name)?.version ?? null;
  } catch {
    return null;
  }
}
