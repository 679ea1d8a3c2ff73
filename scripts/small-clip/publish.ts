// What came of a run of the small CLIP: its weights in half precision, its tokenizer, and a summary with measurements.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashOfFile } from '../../src/data/score-files.node.ts';
import { fileSource, saveSafetensors } from '../../src/models/clip/files.node.ts';
import { openSafetensors } from '../../src/models/clip/safetensors.ts';
import { TRAIN_WORDS } from './config.ts';
import { type Concept, writeConcepts } from './emoji.ts';

/** The repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

const COPIED = ['config.json', 'preprocessor_config.json', 'tokenizer_config.json', 'vocab.json', 'merges.txt'];

/** Words of Node that run `ecif`. */
export const command: readonly string[] = ['--import', 'tsx', join(root, 'src/cli/main.ts')];

/** Runs `ecif` and gives the document it printed; its progress goes to stderr. */
export function ecif(words: readonly string[]): Record<string, unknown> {
  const printed = execFileSync(process.execPath, [...command, ...words, '--json'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(printed) as Record<string, unknown>;
}

/** The weights in half precision. */
async function writeHalf(run: string, model: string): Promise<void> {
  const source = await fileSource(join(run, 'model.safetensors'));
  const file = await openSafetensors(source);
  const half = [...file.tensors.values()].map(({ name, shape }) => ({
    ...{ name, shape, dtype: 'F16' as const },
    values: () => file.values(name),
  }));
  await saveSafetensors(join(model, 'model.safetensors'), half);
  await source.close();
}

/** Mean loss of every tenth of a run. */
function lossSummary(run: string): { step: number; loss: number }[] {
  const lines = readFileSync(join(run, 'log.jsonl'), 'utf8').trim().split('\n');
  const records = lines.map((line) => JSON.parse(line) as { step: number; loss: number });
  const part = Math.ceil(records.length / 10);
  return Array.from({ length: Math.ceil(records.length / part) }, (_, i) => {
    const some = records.slice(i * part, (i + 1) * part);
    return { step: some[some.length - 1].step, loss: some.reduce((sum, { loss }) => sum + loss, 0) / some.length };
  });
}

/**
 * Writes the model of a run to a folder, measures it there, and writes the summary beside it.
 * @param lists the pairs that were trained on, and those that were kept out
 * @param words further options of `ecif evaluate`, such as the device
 */
export async function publish(
  run: string,
  model: string,
  concepts: readonly Concept[],
  lists: { readonly trained: string; readonly heldOut: string },
  words: readonly string[],
): Promise<unknown> {
  mkdirSync(model, { recursive: true });
  for (const name of COPIED) copyFileSync(join(run, name), join(model, name));
  await writeHalf(run, model);
  writeConcepts(join(model, 'concepts.csv'), concepts);
  const measure = (list: string): unknown => ecif(['evaluate', list, '--model', model, ...words]).retrieval;
  const record = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as Record<string, unknown>;
  const { device, versions, steps, parameters, seconds, dataset, resumedAt } = record;
  const summary = {
    ...{
      words: TRAIN_WORDS.join(' '),
      device,
      versions,
      dataset,
      concepts: concepts.length,
      steps,
      parameters,
      // The seconds of a resumed run are those of its last process.
      ...(resumedAt === 0 ? { seconds } : {}),
    },
    bytes: statSync(join(model, 'model.safetensors')).size,
    sha256: await hashOfFile(join(model, 'model.safetensors')),
    loss: lossSummary(run),
    heldOut: { vendor: 'twemoji', retrieval: measure(lists.heldOut) },
    trained: { retrieval: measure(lists.trained) },
  };
  writeFileSync(join(model, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  return summary;
}
