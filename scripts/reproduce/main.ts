// npm run reproduce: the experiments of the paper in miniature, resumed where they were stopped; --page writes docs/results.md.

import { join, resolve } from 'node:path';
import { EcifError } from '../../src/array/errors.ts';
import { makeFolder } from '../../src/array/whole-file.node.ts';
import {
  type OptionSpecs,
  type OptionValues,
  parseWords,
  type Parsed,
  UsageError,
  withDefaults,
} from '../../src/cli/args.ts';
import { withDevice } from '../../src/cli/devices.ts';
import { commandHelp } from '../../src/cli/help.ts';
import { progressOn } from '../../src/cli/progress.ts';
import { root } from '../small-clip/publish.ts';
import { DATASETS, type DatasetName } from './data.ts';
import { EXPERIMENTS } from './experiments/index.ts';
import { runExperiments } from './run.ts';
import { MODEL, SIZES } from './settings.ts';
import { writePage } from './write.ts';

const OPTIONS = {
  only: { kind: 'text', label: 'LIST', help: 'experiments by number, with commas between; all unless given' },
  seeds: { kind: 'number', whole: true, least: 1, most: 100, default: 3, help: 'seeds of each, from 1' },
  datasets: { kind: 'text', label: 'LIST', default: DATASETS.join(','), help: 'datasets, with commas between' },
  device: { kind: 'choice', choices: ['auto', 'cpu', 'webgpu'], default: 'auto', help: 'where to compute' },
  out: { kind: 'text', label: 'DIR', default: '.cache/reproduce', help: 'folder of results, and of data in it' },
  quick: { kind: 'flag', help: 'much smaller experiments, for a look' },
  cifar10n: { kind: 'text', label: 'DIR', help: 'folder of CIFAR-10N labels (.u8), for experiment 7' },
  page: { kind: 'flag', help: 'write docs/results.md and its figures from the results, and make nothing' },
  help: { kind: 'flag', help: 'print this help' },
} as const satisfies OptionSpecs;

/** Names of a list, each known. */
function listed<T extends string>(option: string, text: string, known: readonly T[]): T[] {
  const names = text.split(',').map((name) => name.trim());
  const odd = names.find((name) => !known.includes(name as T));
  if (odd !== undefined)
    throw new UsageError(`--${option}: found ${JSON.stringify(odd)}; give some of ${known.join(',')}`);
  return known.filter((name) => names.includes(name));
}

const about = EXPERIMENTS.map(({ number, about: what }) => `  ${number}  ${what}`).join('\n');

async function reproduce(words: readonly string[]): Promise<void> {
  const parsed: Parsed = { values: {}, operands: [] };
  parseWords(words, OPTIONS, parsed);
  const values = withDefaults(parsed.values, OPTIONS) as OptionValues<typeof OPTIONS>;
  if (values.help) {
    const text = commandHelp({
      ...{ name: 'reproduce', summary: 'the experiments of the paper in miniature', options: OPTIONS },
      example: 'npm run reproduce -- --only 1,3 --seeds 3',
      run: () => Promise.reject(new Error()),
    });
    // What every command of ecif has besides is not of this script.
    const own = text
      .replace(/\noptions of every command:[\s\S]*?\n\n/, '\n')
      .replaceAll('ecif reproduce', 'npm run reproduce --');
    process.stdout.write(`${own}\n\nexperiments:\n${about}\n`);
    return;
  }
  const [odd] = parsed.operands;
  if (odd !== undefined) throw new UsageError(`reproduce: unexpected ${JSON.stringify(odd)}; see --help`);
  const out = resolve(root, values.out);
  if (values.page) return writePage(out, join(root, 'docs'));
  const known = EXPERIMENTS.map(({ number }) => String(number));
  const only = listed('only', values.only ?? known.join(','), known).map(Number);
  const datasets = listed<DatasetName>('datasets', values.datasets, DATASETS);
  const seeds = Array.from({ length: values.seeds }, (_, i) => i + 1);
  makeFolder(out);
  const { cifar10n, device: kind } = values;
  const size = values.quick ? 'quick' : 'full';
  const asked = { only, datasets, seeds, size, sizes: SIZES[size], model: MODEL, out, cifar10n };
  await withDevice(kind, (device) => runExperiments(asked, device, progressOn(process.stderr)));
}

try {
  await reproduce(process.argv.slice(2));
} catch (error) {
  process.stderr.write(
    `reproduce: ${error instanceof EcifError ? error.message : ((error as Error).stack ?? String(error))}\n`,
  );
  process.exitCode = 2;
}
