// What the experiments are made of: sizes, recipes of training, shares of pairs, methods.

import { join } from 'node:path';
import { withDefaults } from '../../src/cli/args.ts';
import { TRAIN_OPTIONS, type TrainSettings } from '../../src/cli/train/options.ts';
import { root } from '../small-clip/publish.ts';
import type { DatasetName } from './data.ts';

/** How much of everything there is. */
export interface Sizes {
  /** Pairs to train on, of emoji in all, of other data a class. */
  readonly emoji: number;
  readonly ofClass: number;
  readonly epochs: number;
  /** Shares of swapped pairs. */
  readonly noise: readonly number[];
  /** Shares of the pairs with positive scores, and with negative ones, that are removed. */
  readonly valuable: readonly number[];
  readonly harmful: readonly number[];
  /** Shares of all pairs that are removed at random. */
  readonly several: readonly number[];
  /** Mistakes that are traced. */
  readonly queries: number;
  /** Times the δ of each dataset. */
  readonly decay: number;
  /** ‖∇F‖ at which training ends. */
  readonly tolerance: number;
  /** L-BFGS iterations and Newton steps at most. */
  readonly iterations: number;
  readonly newtonSteps: number;
}

/** Sizes as they are reported, and for a look. */
export const SIZES: Readonly<Record<'full' | 'quick', Sizes>> = {
  full: {
    ...{ emoji: 256, ofClass: 16, epochs: 3, noise: [0.1, 0.2, 0.3] },
    ...{ valuable: [0.1, 0.3], harmful: [0.3, 0.6, 0.9], several: [0.01, 0.04, 0.07], queries: 10 },
    ...{ decay: 1, tolerance: 20, iterations: 300, newtonSteps: 10 },
  },
  quick: {
    ...{ emoji: 32, ofClass: 4, epochs: 2, noise: [0.2], valuable: [0.3], harmful: [0.9], several: [0.05], queries: 2 },
    ...{ decay: 1, tolerance: 20, iterations: 20, newtonSteps: 0 },
  },
};

/** The model that is adapted. */
export const MODEL = join(root, 'models', 'small-clip');

/** The share of swapped pairs where harm is to be removed and mistakes are traced. */
export const SWAPPED = 0.2;
/** The share of pairs that is removed in experiments 1 and 5. */
export const REMOVED = 0.1;

/** Methods of scoring that are compared, by their names in `METHODS`. */
export const COMPARED = [
  ...['ecif', 'ecif-published', 'if-ekfac', 'tracin', 'trak'],
  ...['clipscore', 'loss', 'ecif+loss', 'random'],
] as const;

/** Those by which pairs are removed in experiment 5. */
export const REMOVING = [
  'ecif',
  'ecif-published',
  'if-ekfac',
  'tracin',
  'trak',
  'clipscore',
  'loss',
  'random',
] as const;

/**
 * The recipe: an adapter on the last layer of each tower. Its scale is large and δ grows with its square, which holds the
 * first factor of every product near its start: the objective is then nearly that of a model linear in its parameters,
 * and settles. Captions are the bare names of the classes: so the model knows the names of emoji.
 */
const RECIPE = {
  ...{ templates: '{}', partitions: 1, 'text-layers': 'last:1', 'vision-layers': 'last:1' },
  ...{ rank: 8, alpha: 512, targets: 'out_proj,fc2', rate: 3e-4 },
} as const;

/** What differs between the datasets. */
const OF_DATASET: Readonly<Record<DatasetName, (sizes: Sizes) => Partial<TrainSettings>>> = {
  emoji: ({ emoji }) => ({ limit: emoji, batch: Math.min(32, emoji), l2: 16384 }),
  cifar10: ({ ofClass }) => ({ shots: ofClass, sampler: 'distinct', batch: 10, l2: 8192 }),
  fashion: ({ ofClass }) => ({ shots: ofClass, sampler: 'distinct', batch: 10, l2: 10240 }),
};

/** Settings of `ecif train` for a dataset and seed. */
export function recipeOf(
  dataset: DatasetName,
  seed: number,
  sizes: Sizes,
  more: Partial<TrainSettings> & Pick<TrainSettings, 'data' | 'model' | 'out'>,
): TrainSettings {
  const { epochs, decay, tolerance, iterations, newtonSteps } = sizes;
  const own = OF_DATASET[dataset](sizes);
  const pairs = own.limit ?? 10 * (own.shots ?? 0);
  const asked = {
    ...{ ...RECIPE, ...own, seed, epochs, iterations, 'newton-steps': newtonSteps },
    l2: decay * (own.l2 ?? 0),
    'to-stationarity': tolerance,
    'keep-checkpoints': true,
    'checkpoint-every': Math.ceil(pairs / (own.batch ?? 1) / 2),
    ...more,
  };
  return { ...withDefaults(asked, TRAIN_OPTIONS), data: more.data } as TrainSettings;
}
