// Versions of this package and of the packages beside it.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EcifError } from '../array/errors.ts';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

/** The version in the nearest package.json called `name`, looking upwards from `from`. */
function versionAbove(from: string, name: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
      if (manifest.name === name) return manifest.version ?? null;
    } catch {
      // no manifest in this folder
    }
    if (folder === dirname(folder)) return null;
  }
}

/** Version of this package. */
export function ownVersion(): string {
  const version = versionAbove(dirname(fileURLToPath(import.meta.url)), 'ecif');
  if (version === null) throw new EcifError('version: no package.json of ecif above this program; reinstall it');
  return version;
}

/** Version of an installed package, null where there is none. */
export function packageVersion(name: string): string | null {
  try {
    return versionAbove(dirname(createRequire(import.meta.url).resolve(name)), name);
  } catch {
    return null;
  }
}
