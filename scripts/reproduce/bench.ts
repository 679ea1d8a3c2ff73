// What all experiments work with: device, folder of results, sizes, datasets, and the models that they share.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../../src/cli/progress.ts';
import type { TrainSettings } from '../../src/cli/train/options.ts';
import type { Device } from '../../src/device/open.ts';
import { type DatasetName, type Parts, prepare } from './data.ts';
import { recipeOf, type Sizes } from './settings.ts';

/** What experiments work with. */
export interface Bench {
  readonly device: Device;
  /** Of the commands that do the work. */
  readonly progress: Progress;
  /** Folder of all results. */
  readonly out: string;
  /** Folder of the data. */
  readonly data: string;
  /** CLIP folder that is adapted. */
  readonly model: string;
  readonly sizes: Sizes;
  /** Folder of CIFAR-10N, where there is one. */
  readonly cifar10n: string | undefined;
}

/** A model that is to be trained. */
export interface Posed {
  readonly dataset: DatasetName;
  readonly seed: number;
  readonly parts: Parts;
  readonly settings: TrainSettings;
}

/** How a model is told from others of its dataset and seed. */
export interface Kind {
  readonly name: string;
  readonly more: Partial<TrainSettings>;
}

/** The data as they are, trained to a smaller gradient than others: parameters are compared there. */
export const cleanOf = ({ sizes: { tolerance } }: Bench): Kind => ({
  name: 'clean',
  more: { 'to-stationarity': tolerance / 4 },
});

/** Some captions traded. */
export const swapped = (noise: number): Kind => ({ name: `swapped-${Math.round(100 * noise)}`, more: { noise } });

/** Poses a model. */
export async function pose(bench: Bench, dataset: DatasetName, seed: number, kind: Kind): Promise<Posed> {
  mkdirSync(bench.data, { recursive: true });
  const parts = await prepare(dataset, bench.data);
  const out = join(bench.out, 'runs', `${dataset}-${seed}-${kind.name}`);
  return {
    dataset,
    seed,
    parts,
    settings: recipeOf(dataset, seed, bench.sizes, { ...kind.more, model: bench.model, data: parts.pool, out }),
  };
}
