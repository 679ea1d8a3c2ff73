// The sizes of the demo, and the options of every command of its story.

import { join } from 'node:path';
import type { Device } from '../../device/open.ts';
import type { OptionValue } from '../args.ts';

/** Sizes of the demo. */
export interface DemoSettings {
  /** Pairs to train on. */
  readonly pairs: number;
  /** Pairs that accuracy is measured on, none of them trained on. */
  readonly held: number;
  /** Share of the captions that are swapped. */
  readonly noise: number;
  readonly batch: number;
  readonly epochs: number;
  /** δ of the objective: how hard it is to learn a single pair by heart, however many there are. */
  readonly l2: number;
  /** ‖∇L‖ for each pair at which training ends. */
  readonly stationarity: number;
  /** Relative residual of solves for scores and traces. */
  readonly tolerance: number;
  /** Which pairs are left out for the curves, and what shares of all: each is a training run. */
  readonly curves: { readonly shares: string; readonly ends: string };
}

const COMMON = {
  noise: 0.2,
  batch: 16,
  epochs: 10,
  l2: 12_800,
  stationarity: 2e-5,
  tolerance: 0.1,
};

/** Sizes that suit two cores with software Vulkan, and one in float64. */
export const SETTINGS: Readonly<Record<Device['kind'], DemoSettings>> = {
  webgpu: { ...COMMON, pairs: 256, held: 400, curves: { shares: '0.1,0.2', ends: 'harmful,valuable' } },
  cpu: { ...COMMON, pairs: 96, held: 300, curves: { shares: '0.2', ends: 'harmful,valuable,random' } },
};

/** Where everything is. */
export interface DemoPlaces {
  /** CLIP folder. */
  readonly model: string;
  /** Folder of the pictures. */
  readonly pictures: string;
  /** List of the pairs to train on. */
  readonly trained: string;
  /** List of the pairs kept from training. */
  readonly held: string;
  /** Run folder. */
  readonly run: string;
}

/** Where everything is in a folder. */
export const placesIn = (out: string, model: string): DemoPlaces => ({
  ...{ model, pictures: join(out, 'pairs'), trained: join(out, 'pairs', 'trained.csv') },
  ...{ held: join(out, 'pairs', 'held-out.csv'), run: join(out, 'run') },
});

type Options = Readonly<Record<string, OptionValue>>;

/** Removals that are compared, from one solve to one with the curvature after removal. */
export const RUNGS_SHOWN = ['corrected', 'newton'] as const;

/** Options of the commands before pairs are removed, the operand among them. */
export function findingCommands(places: DemoPlaces, settings: DemoSettings, seed: number) {
  const { model, trained, held, run } = places;
  const { pairs, noise, batch, epochs, l2, stationarity, tolerance } = settings;
  const lora = {
    ...{ rank: 8, alpha: 512, targets: 'out_proj,fc2', rate: 3e-4 },
    ...{ 'text-layers': 'last:1', 'vision-layers': 'last:1' },
  };
  const rounded = (x: number): number => Number(x.toPrecision(3));
  const end = { l2, 'to-stationarity': rounded(stationarity * pairs) };
  return {
    evaluate: { data: held, model },
    train: { data: trained, model, out: run, noise, ...lora, batch, epochs, partitions: 1, ...end, seed },
    score: { run, validation: held, tolerance },
    detect: { run, validation: held, tolerance },
    trace: { run, queries: held, most: 1, top: 5, probes: 5, rung: 'newton', tolerance },
  } as const satisfies Record<string, Options>;
}

/**
 * Options of the removals, of training again beside predictions, and of the report.
 * @param flagged pairs that were flagged; where there are none, as many as were swapped are removed
 */
export function endingCommands(
  { held, run }: DemoPlaces,
  { noise, tolerance, curves }: DemoSettings,
  { flagged, seed }: { flagged: number; seed: number },
) {
  const where = flagged > 0 ? "flagged = 'yes'" : `highest ${100 * noise}% by suspicion`;
  const removal = { run, where, scores: join(run, 'detect.csv'), validation: held, verify: true };
  const by = (rung: (typeof RUNGS_SHOWN)[number]) => ({
    ...{ ...removal, rung, tolerance, out: join(run, 'removals', rung) },
  });
  return {
    corrected: { ...by('corrected'), 'dry-run': true },
    newton: by('newton'),
    curves: { run, validation: held, ...curves, seed },
    report: { run },
  } as const satisfies Record<string, Options>;
}
