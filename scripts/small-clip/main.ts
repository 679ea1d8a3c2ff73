// npm run small-clip: fetches emoji of three vendors, trains the small CLIP of models/small-clip, measures and writes it.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileSource, saveSafetensors } from '../../src/models/clip/files.node.ts';
import { openSafetensors } from '../../src/models/clip/safetensors.ts';
import { TRAIN_WORDS } from './config.ts';
import { writeConcepts } from './emoji.ts';
import { prepare, type Prepared } from './prepare.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, '.cache', 'small-clip');
const model = join(root, 'models', 'small-clip');
const COPIED = ['config.json', 'preprocessor_config.json', 'tokenizer_config.json', 'vocab.json', 'merges.txt'];

/** Runs `ecif` and gives what it printed; its progress goes to stderr. */
function ecif(words: readonly string[]): string {
  const args = ['--import', 'tsx', join(root, 'src/cli/main.ts'), ...words];
  return execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The weights in half precision. */
async function writeHalf(run: string): Promise<void> {
  const source = await fileSource(join(run, 'model.safetensors'));
  const file = await openSafetensors(source);
  const half = [...file.tensors.values()].map(({ name, shape }) => ({
    ...{ name, shape, dtype: 'F16' as const },
    values: () => file.values(name),
  }));
  await saveSafetensors(join(model, 'model.safetensors'), half);
  await source.close();
}

/** Copies what came of a run to `models/small-clip`. */
async function publish(run: string, { concepts }: Prepared): Promise<void> {
  mkdirSync(model, { recursive: true });
  for (const name of COPIED) copyFileSync(join(run, name), join(model, name));
  await writeHalf(run);
  writeConcepts(join(model, 'concepts.csv'), concepts);
}

/** Mean loss of every tenth of the run. */
function lossSummary(run: string): { step: number; loss: number }[] {
  const lines = readFileSync(join(run, 'log.jsonl'), 'utf8').trim().split('\n');
  const records = lines.map((line) => JSON.parse(line) as { step: number; loss: number });
  const part = Math.ceil(records.length / 10);
  return Array.from({ length: Math.ceil(records.length / part) }, (_, i) => {
    const some = records.slice(i * part, (i + 1) * part);
    return { step: some[some.length - 1].step, loss: some.reduce((sum, { loss }) => sum + loss, 0) / some.length };
  });
}

mkdirSync(cache, { recursive: true });
writeFileSync(join(cache, '.gitignore'), '*\n');
const prepared = await prepare(cache);
process.stderr.write(`${prepared.concepts.length} concepts\n`);
const run = join(cache, 'run');
rmSync(run, { recursive: true, force: true });
const words = [prepared.trained, '--from-scratch', prepared.config, '--out', run, ...TRAIN_WORDS];
const record = JSON.parse(ecif(['train', ...words, '--json', ...process.argv.slice(2)])) as Record<string, unknown>;
await publish(run, prepared);
const measured = JSON.parse(
  ecif(['evaluate', prepared.heldOut, '--model', model, '--json', ...process.argv.slice(2)]),
) as unknown;
const { device, versions, steps, parameters, seconds } = record;
const bytes = statSync(join(model, 'model.safetensors')).size;
const summary = {
  device,
  versions,
  words: TRAIN_WORDS.join(' '),
  steps,
  parameters,
  bytes,
  seconds,
  loss: lossSummary(run),
  heldOut: measured,
};
writeFileSync(join(model, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
