// npm run small-clip: fetches emoji of eight vendors, trains the small CLIP of models/small-clip, measures and writes it.
// npm run small-clip -- --evaluate: measures the model that is there on the pictures it never saw.
// Other words go to `ecif train` and `ecif evaluate`, such as --device cpu.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRun, runFile } from '../../src/cli/runs/run-folder.ts';
import { TRAIN_WORDS } from './config.ts';
import { evaluateHeldOut } from './evaluate.ts';
import { prepare } from './prepare.ts';
import { ecif, publish, root } from './publish.ts';

const EVALUATE = '--evaluate';
const cache = join(root, '.cache', 'small-clip');
const words = process.argv.slice(2).filter((word) => word !== EVALUATE);

/** Whether a folder holds a run that was cut short. */
const isUnfinished = (run: string): boolean => existsSync(runFile(run, 'run')) && readRun(run).status === 'running';

/** Trains, or goes on where training was cut short, measures and writes the model. */
async function make(): Promise<void> {
  const run = join(cache, 'run');
  const { concepts, trained, heldOut, config } = await prepare(cache);
  process.stderr.write(`${concepts.length} concepts\n`);
  const resume = isUnfinished(run) ? ['--resume'] : [];
  if (resume.length === 0) rmSync(run, { recursive: true, force: true });
  ecif(['train', trained, '--from-scratch', config, '--out', run, ...resume, ...TRAIN_WORDS, ...words]);
  const summary = await publish(run, join(root, 'models', 'small-clip'), concepts, { trained, heldOut }, words);
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
}

mkdirSync(cache, { recursive: true });
writeFileSync(join(cache, '.gitignore'), '*\n');
await (process.argv.includes(EVALUATE) ? evaluateHeldOut(cache, words) : make());
