// The options by which commands read datasets.

import { FORMATS } from '../../data/readers/formats.node.ts';
import { SPLITS } from '../../data/readers/source.ts';
import { TEMPLATE } from '../../data/dataset.ts';
import type { OptionSpecs, OptionValues } from '../args.ts';

/** What kinds of datasets there are, for the help of an operand. */
export const DATA_HELP =
  'CSV, TSV or JSONL list, folder of class folders, CIFAR, IDX, Parquet or tar files (see the README)';

/** Which part of a dataset to read, and as what. */
export const PART_OPTIONS = {
  split: {
    kind: 'choice',
    choices: ['auto', ...SPLITS],
    default: 'auto',
    help: 'part to read, of data that come in parts; auto takes train',
  },
  format: {
    kind: 'choice',
    choices: FORMATS,
    default: 'auto',
    help: 'what the data are, where their names do not tell',
  },
} as const satisfies OptionSpecs;

/** All that is asked of a dataset, whoever reads it. */
export const READ_OPTIONS = {
  ...PART_OPTIONS,
  'class-names': { kind: 'text', label: 'FILE', help: 'names of classes, one a line by their number' },
  templates: {
    kind: 'text',
    label: 'LIST',
    default: TEMPLATE,
    help: 'caption of a class, for pairs without one, {} for its name; of several with | between, one is drawn a pair',
  },
  limit: { kind: 'number', whole: true, least: 0, default: 0, help: 'pairs to take, drawn; 0 for all' },
  'bad-images': {
    kind: 'choice',
    choices: ['fail', 'skip'],
    default: 'fail',
    help: 'stop at pictures that cannot be decoded, or leave them out, which takes a look at all of them',
  },
} as const satisfies OptionSpecs;

/** Their values, and the dataset. */
export type ReadSettings = OptionValues<typeof READ_OPTIONS> & { readonly data: string; readonly seed: number };
