// Experiment 7: labels that people gave to CIFAR-10 (CIFAR-10N, the worse of three), found and removed.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../../../src/array/errors.ts';
import { writeText } from '../../../src/cli/files.ts';
import { readDataset } from '../../../src/data/dataset.node.ts';
import type { Bench, Kind } from '../bench.ts';
import { prepare } from '../data.ts';
import { type Curves, curvesOf } from './curves.ts';
import { type Detected, detectIn } from './detection.ts';
import type { Experiment } from './experiment.ts';

/** Labels by picture of CIFAR-10's training set, a byte each: the true ones, and those of the worse of three people. */
const FILES = { clean: 'cifar10n_clean_label.u8', worse: 'cifar10n_worse_label.u8' };

/** What the experiment finds. */
export interface Human {
  readonly detected: Detected;
  readonly curves: Curves;
}

const labelsIn = (folder: string, file: string): Uint8Array => readFileSync(join(folder, file));

/**
 * Writes the labels for the pictures of the pool, one a line, where `ecif train` reads them.
 * @throws EcifError where the true labels are not those of the pool
 */
async function noisyLabels({ data, out }: Bench, folder: string): Promise<string> {
  const { pool } = await prepare('cifar10', data);
  const { rows, classes } = await readDataset(pool);
  const [clean, worse] = [labelsIn(folder, FILES.clean), labelsIn(folder, FILES.worse)];
  const odd = rows.findIndex(({ label }, i) => label !== classes[clean[i]]);
  if (odd >= 0) {
    throw new EcifError(
      `${join(folder, FILES.clean)}: label ${odd} is ${String(classes[clean[odd]])}, the picture is ${rows[odd].label}; are they in the order of the training set?`,
    );
  }
  const path = join(out, 'cifar10n-worse.txt');
  writeText(path, `${[...worse.subarray(0, rows.length)].join('\n')}\n`);
  return path;
}

export const human: Experiment<Human> = {
  number: 7,
  name: 'human',
  about: 'labels that people gave to CIFAR-10, found and removed',
  datasets: ['cifar10'],
  missing: ({ cifar10n }) => {
    if (cifar10n === undefined) return 'CIFAR-10N is for non-commercial use and not fetched; give --cifar10n DIR';
    const absent = Object.values(FILES).find((file) => !existsSync(join(cifar10n, file)));
    return absent === undefined ? null : `${absent} is not in ${cifar10n}; give the folder of the .u8 files`;
  },
  run: async (bench, subjectOf, { seed }) => {
    const kind: Kind = {
      name: 'human',
      more: { 'noise-labels': await noisyLabels(bench, bench.cifar10n as string) },
    };
    const subject = await subjectOf(kind);
    return {
      detected: await detectIn(bench, subject),
      curves: await curvesOf(subject, seed, { valuable: [], harmful: bench.sizes.harmful }),
    };
  },
};
