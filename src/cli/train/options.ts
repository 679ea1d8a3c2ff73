// The options of `ecif train`, and the settings they stand for.

import { EcifError } from '../../array/errors.ts';
import type { ClipConfig, TowerName } from '../../models/clip/config.ts';
import { chooseLora, type Lora, LORA_TARGETS, type LoraTarget } from '../../models/clip/lora.ts';
import { NOISE_KINDS } from '../../data/noise.ts';
import { SAMPLERS } from '../../data/sampler.ts';
import {
  type OptionSpec,
  type OptionSpecs,
  type OptionValue,
  type OptionValues,
  UsageError,
  withDefaults,
} from '../args.ts';
import { READ_OPTIONS } from '../runs/data-options.ts';

const most32 = 2 ** 32 - 1;

/** What an adapter is. */
export const LORA_OPTIONS = {
  rank: { kind: 'number', whole: true, least: 1, most: 4096, default: 8, help: 'rank of the LoRA updates' },
  alpha: { kind: 'number', least: 1e-9, default: 16, help: 'LoRA alpha; the updates are scaled by alpha/rank' },
  targets: {
    kind: 'text',
    label: 'LIST',
    default: 'q_proj,v_proj',
    help: `modules to adapt, of ${LORA_TARGETS.join(',')}`,
  },
  'text-layers': { kind: 'text', label: 'LIST', default: 'all', help: 'layers to adapt: all, none, 0,2-4 or last:2' },
  'vision-layers': { kind: 'text', label: 'LIST', default: 'all', help: 'layers to adapt: all, none, 0,2-4 or last:2' },
  dropout: { kind: 'number', least: 0, most: 0.99, default: 0, help: 'share of the LoRA inputs that is dropped' },
  'root-scaling': { kind: 'flag', help: 'scale by alpha/√rank' },
} as const satisfies OptionSpecs;

/** What is trained, and from where. */
const MODEL_OPTIONS = {
  model: { kind: 'text', label: 'DIR', help: 'CLIP folder to adapt with LoRA' },
  'from-scratch': {
    kind: 'text',
    label: 'CONFIG',
    help: 'config.json of a model to train all weights of; tokenizer beside it',
  },
  out: { kind: 'text', label: 'DIR', help: 'run folder to write' },
  resume: { kind: 'flag', help: 'go on with the run in --out, with the options it was begun with' },
  without: {
    kind: 'text',
    label: 'FILE',
    help: 'ids to leave out of the batches, one a line or a JSON array in a .json file; the batches stay those of all pairs',
  },
  ...LORA_OPTIONS,
  temperature: { kind: 'flag', help: 'train the temperature with the adapter' },
} as const satisfies OptionSpecs;

/** Which pairs it is trained on, besides where they are read from. */
const PAIR_OPTIONS = {
  shots: { kind: 'number', whole: true, least: 0, default: 0, help: 'pairs of each class, drawn; 0 for all' },
  sampler: {
    kind: 'choice',
    choices: SAMPLERS,
    default: 'random',
    help: 'batches drawn at random, or without two pairs of a class as far as that can be',
  },
  noise: { kind: 'number', least: 0, most: 1, default: 0, help: 'share of the pairs that trade captions' },
  'noise-kind': {
    kind: 'choice',
    choices: NOISE_KINDS,
    default: 'across',
    help: 'trade between pairs of different classes, or of one class',
  },
  'noise-labels': {
    kind: 'text',
    label: 'FILE',
    help: 'labels to take captions from: one a line by row of DATA, or JSON; the truth goes to OUT/truth.csv',
  },
} as const satisfies OptionSpecs;

/** How it is trained. */
const LOOP_OPTIONS = {
  epochs: { kind: 'number', whole: true, least: 0, most: 1e6, default: 10, help: 'passes over the pairs' },
  batch: { kind: 'number', whole: true, least: 2, default: 64, help: 'pairs of a batch at most' },
  rate: { kind: 'number', least: 0, default: 1e-3, help: 'largest step size' },
  schedule: { kind: 'choice', choices: ['cosine', 'constant'], default: 'cosine', help: 'step size after the warm-up' },
  warmup: { kind: 'number', whole: true, least: 0, default: 0, help: 'steps over which the step size rises' },
  optimizer: { kind: 'choice', choices: ['adam', 'adamw'], default: 'adam', help: 'Adam, or AdamW with --decay' },
  decay: { kind: 'number', least: 0, default: 0.01, help: 'decay of AdamW, apart from the gradient' },
  l2: { kind: 'number', least: 0, default: 0.01, help: 'δ of the objective Σ L_Batch + δ/2·‖θ − θ₀‖²' },
  toward: {
    kind: 'choice',
    choices: ['start', 'zero'],
    default: 'start',
    help: 'θ₀: the start, or zero as in the paper',
  },
  clip: { kind: 'number', least: 0, default: 1, help: 'longest gradient of the mean loss; 0 for any' },
  crop: { kind: 'number', least: 0.05, most: 1, default: 1, help: 'smallest share of each side a random crop keeps' },
  flip: { kind: 'number', least: 0, most: 1, default: 0, help: 'probability of mirroring a picture' },
  partitions: {
    kind: 'number',
    whole: true,
    least: 0,
    most: 1e6,
    default: 0,
    help: 'different partitions into batches; 0 for one an epoch',
  },
  seed: {
    kind: 'number',
    whole: true,
    least: 0,
    most: most32,
    default: 0,
    help: 'equal seeds give equal runs on one device',
  },
  'checkpoint-every': { kind: 'number', whole: true, least: 1, default: 100, help: 'steps between checkpoints' },
  'keep-checkpoints': { kind: 'flag', help: 'keep the parameters of every checkpoint, which TracIn and TRAK ask for' },
  'to-stationarity': {
    kind: 'number',
    least: 0,
    help: 'train on until the norm of the objective’s gradient is below this',
  },
  iterations: {
    kind: 'number',
    whole: true,
    least: 1,
    default: 300,
    help: 'L-BFGS iterations at most, for --to-stationarity',
  },
  'newton-steps': { kind: 'number', whole: true, least: 0, default: 50, help: 'Newton steps at most after them' },
  'cache-mb': {
    kind: 'number',
    least: 0,
    default: 2048,
    help: 'memory for pictures, frozen layers (more goes to disk) and forward passes that are kept',
  },
} as const satisfies OptionSpecs;

/** Every option of the command. */
export const TRAIN_OPTIONS = { ...MODEL_OPTIONS, ...READ_OPTIONS, ...PAIR_OPTIONS, ...LOOP_OPTIONS } as const;

/** Their values, and the dataset. */
export type TrainSettings = OptionValues<typeof TRAIN_OPTIONS> & { readonly data: string };

/** Options that the first runs did not have; a record has all of them or none. */
const LATER = Object.keys({ ...READ_OPTIONS, ...PAIR_OPTIONS });

/** The first option with a value in any case that a record lacks; one template had another name. */
function lackingIn(options: Readonly<Record<string, OptionValue>>): string | undefined {
  const older = !LATER.some((name) => options[name] !== undefined);
  return Object.entries<OptionSpec>(TRAIN_OPTIONS).find(
    ([name, spec]) =>
      options[name] === undefined &&
      (spec.kind === 'flag' || spec.default !== undefined) &&
      !(LATER.includes(name) && (older || (name === 'templates' && options.template !== undefined))),
  )?.[0];
}

/**
 * The settings of a run from its record.
 * @param file the record, for messages
 * @throws EcifError for a record without an option that training writes there
 */
export function settingsOfRun(options: Readonly<Record<string, OptionValue>>, file = 'run.json'): TrainSettings {
  const lacking = lackingIn(options);
  if (lacking !== undefined) {
    throw new EcifError(`${file}: options: no ${lacking}, which training writes; restore it, or begin the run anew`);
  }
  const templates = options.templates ?? options.template;
  return { ...withDefaults({ ...options, templates }, TRAIN_OPTIONS), data: options.data } as TrainSettings;
}

/**
 * Layers of a tower from a list such as `0,2-4`, `last:2`, `all` or `none`.
 * @throws UsageError that names the option
 */
export function parseLayers(option: string, text: string, count: number): number[] {
  const all = Array.from({ length: count }, (_, i) => i);
  if (text === 'all') return all;
  if (text === 'none') return [];
  const last = /^last:0*([1-9]\d*)$/.exec(text);
  if (last !== null) return all.slice(Math.max(0, count - Number(last[1])));
  const layers = text.split(',').flatMap((part) => {
    const range = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    const [first, end] = range === null ? [NaN, NaN] : [Number(range[1]), Number(range[2] ?? range[1])];
    if (!(first <= end && end < count)) {
      throw new UsageError(
        `--${option}: found ${JSON.stringify(text)}; give all, none, last:2 or layers in 0…${count - 1}`,
      );
    }
    return all.slice(first, end + 1);
  });
  return [...new Set(layers)].sort((a, b) => a - b);
}

/** The modules that the options choose. */
export function loraOf(config: ClipConfig, settings: OptionValues<typeof LORA_OPTIONS>): Lora {
  const layers = (tower: TowerName): number[] =>
    parseLayers(`${tower}-layers`, settings[`${tower}-layers`], config[tower].layers);
  return chooseLora(config, {
    rank: settings.rank,
    alpha: settings.alpha,
    targets: settings.targets.split(',').map((name) => name.trim()) as LoraTarget[],
    layers: { text: layers('text'), vision: layers('vision') },
    scaling: settings['root-scaling'] ? 'root' : 'rank',
    dropout: settings.dropout,
  });
}

/**
 * Refuses options that would change nothing.
 * @param given names of the options on the command line
 * @throws UsageError
 */
export function requireOfUse(
  { 'from-scratch': scratch, optimizer, noise }: TrainSettings,
  given: ReadonlySet<string>,
): void {
  const idle = scratch === undefined ? [] : [...Object.keys(LORA_OPTIONS), 'temperature'];
  const odd = idle.find((name) => given.has(name));
  if (odd !== undefined) throw new UsageError(`--${odd}: all weights are trained --from-scratch; leave it out`);
  if (given.has('decay') && optimizer !== 'adamw') {
    throw new UsageError('--decay: only of --optimizer adamw; leave it out, or give --l2');
  }
  if (given.has('noise-kind') && noise === 0) throw new UsageError('--noise-kind: only of --noise; give a share');
}

/**
 * Refuses settings that do not go together.
 * @throws UsageError
 */
export function requireConsistent(settings: TrainSettings): void {
  const { model, 'from-scratch': scratch, out, data } = settings;
  if (out === undefined) throw new UsageError('train: no run folder; give --out DIR');
  if (data === '') throw new UsageError('train: DATA is missing; name a list of pairs or a folder of class folders');
  if (settings.noise > 0 && settings['noise-labels'] !== undefined) {
    throw new UsageError('train: noise twice; give either --noise or --noise-labels');
  }
  if ((model === undefined) === (scratch === undefined)) {
    const found = model === undefined ? 'no model' : 'two models';
    throw new UsageError(`train: ${found}; give either --model DIR or --from-scratch CONFIG`);
  }
  if (settings['to-stationarity'] !== undefined && settings.l2 === 0) {
    throw new UsageError('train: --to-stationarity without L2 has no minimiser; give --l2 above 0');
  }
}
