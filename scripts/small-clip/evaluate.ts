// Measures models/small-clip on the vendor that was kept out; no other vendor's pictures are needed for it.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { drawPairs, HELD_OUT, readHeldOut } from './emoji.ts';
import { command, root } from './publish.ts';

/**
 * Draws the held-out pairs and runs `ecif evaluate` on them, which prints what it found; its exit code becomes ours.
 * @param words further options of `ecif evaluate`, such as the device
 */
export async function evaluateHeldOut(cache: string, words: readonly string[]): Promise<void> {
  const model = join(root, 'models', 'small-clip');
  const list = await drawPairs(join(cache, 'pairs'), 'held-out.csv', readHeldOut(join(model, 'concepts.csv')), [
    HELD_OUT,
  ]);
  const args = [...command, 'evaluate', list, '--model', model, ...words];
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}
