// Experiment 3: swapped captions found, by the signals of `ecif detect` and by every method of scoring.

import { withDefaults } from '../../../src/cli/args.ts';
import { DETECT_OPTIONS, type DetectSettings } from '../../../src/cli/detect/options.ts';
import { runDetection } from '../../../src/cli/detect/run.ts';
import { auroc, averagePrecision, inspect } from '../../../src/ecif/metrics/detection.ts';
import { type Bench, swapped } from '../bench.ts';
import type { RunAbout } from '../runs.ts';
import { COMPARED } from '../settings.ts';
import type { Subject } from '../subject.ts';
import type { Experiment } from './experiment.ts';

/** How well wrong pairs are found. */
export interface Found {
  readonly auroc: number;
  readonly auprc: number;
  /** Wrong pairs among the ten most suspicious. */
  readonly top10: number;
  /** What the scores took; null for signals of `ecif detect`. */
  readonly seconds: number | null;
}

/** A model with wrong pairs, and how they are found. */
export interface Detected {
  readonly base: RunAbout;
  readonly pairs: number;
  readonly wrong: number;
  /** By signal of `ecif detect`. */
  readonly detect: Readonly<Record<string, Found>>;
  /** By method. */
  readonly methods: Readonly<Record<string, Found>>;
}

/** Random probes of self-influence. */
const PROBES = 16;

/** Wrong pairs of a model found in every way. */
export async function detectIn(bench: Bench, subject: Subject): Promise<Detected> {
  const { device, progress } = bench;
  const bad = subject.bad ?? [];
  const settings = withDefaults({ probes: PROBES }, DETECT_OPTIONS) as unknown as DetectSettings;
  const { truth } = await runDetection(subject.trained.folder, settings, device, progress);
  const signals = (truth?.measures ?? []).map(({ name, auroc: area, auprc, top10 }): [string, Found] => [
    name,
    { auroc: area, auprc, top10, seconds: null },
  ]);
  const methods: Record<string, Found> = {};
  for (const name of COMPARED) {
    const { values, seconds } = await subject.scores(name);
    methods[name] = {
      auroc: auroc(values, bad, 'lowest'),
      auprc: averagePrecision(values, bad, 'lowest'),
      top10: inspect(values, bad, 'lowest', { pairs: Math.min(10, values.length) }).found,
      seconds,
    };
  }
  return {
    ...{ base: subject.trained.about, pairs: subject.count, wrong: bad.filter(Boolean).length },
    detect: Object.fromEntries(signals),
    methods,
  };
}

/** Shares of swapped pairs in percent, and what was found. */
export type Detection = Readonly<Record<string, Detected>>;

export const detection: Experiment<Detection> = {
  number: 3,
  name: 'detection',
  about: 'swapped captions found, by every signal and method',
  run: async (bench, subjectOf) => {
    const found: Record<string, Detected> = {};
    for (const noise of bench.sizes.noise)
      found[String(Math.round(100 * noise))] = await detectIn(bench, await subjectOf(swapped(noise)));
    return found;
  },
};
