// The folder of a demo: which demo it holds, and whether another may begin there.

import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { unwritable } from '../../array/messages.ts';
import type { Device } from '../../device/open.ts';
import { UsageError } from '../args.ts';
import type { DemoSettings } from './settings.ts';
import { readText, writeText } from '../files.ts';

/** Which demo it is; kept in `demo.json`. */
export interface DemoIdentity {
  readonly seed: number;
  readonly device: Device['kind'];
  readonly settings: DemoSettings;
}

const FILE = 'demo.json';

/** Everything that a demo writes into its folder. */
const PARTS = ['pairs', 'run', 'start.json', FILE];

/** Another demo in words, as far as its record tells. */
function described(text: string): string {
  try {
    const { seed, device, settings } = JSON.parse(text) as Partial<DemoIdentity>;
    return `a demo of ${String(settings?.pairs)} pairs on ${String(device)} with seed ${String(seed)}`;
  } catch {
    return 'a demo whose record cannot be read';
  }
}

/**
 * Makes the folder of a demo, or finds the same demo there.
 * @param fresh whether a demo that is there is removed
 * @throws UsageError for a folder that holds something else
 */
export function openDemo(out: string, identity: DemoIdentity, fresh: boolean): void {
  const path = join(out, FILE);
  const found = statSync(out, { throwIfNoEntry: false });
  if (found !== undefined && !existsSync(path) && (!found.isDirectory() || readdirSync(out).length > 0)) {
    throw new UsageError(`${out}: holds something that is no demo; give another --out`);
  }
  const text = `${JSON.stringify(identity, null, 2)}\n`;
  const before = existsSync(path) ? readText(path) : null;
  if (before === text && !fresh) return;
  if (before !== null && !fresh) {
    throw new UsageError(`${out}: holds ${described(before)}; give --fresh to begin anew, or another --out`);
  }
  try {
    for (const part of PARTS) rmSync(join(out, part), { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
  } catch (error) {
    throw unwritable(out, error);
  }
  writeText(path, text);
}
