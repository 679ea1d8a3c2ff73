// Experiment 2: accuracy as more and more of the valuable, or of the harmful pairs are left out of training.

import { swapped } from '../bench.ts';
import { atRandom, firstBy, shareOf } from '../chosen.ts';
import type { Measures } from '../measure.ts';
import type { RunAbout } from '../runs.ts';
import { SWAPPED } from '../settings.ts';
import type { Retrained, Subject } from '../subject.ts';
import type { Experiment } from './experiment.ts';

/** Ends of the scores. */
export const CURVE_ENDS = ['valuable', 'harmful'] as const;
export type CurveEnd = (typeof CURVE_ENDS)[number];
/** What pairs are chosen by. */
export const CURVES_BY = ['ecif', 'clipscore', 'random'] as const;

/** Accuracy without some pairs. */
export interface CurvePoint {
  /** Of the pairs with positive, or with negative scores. */
  readonly share: number;
  readonly removed: number;
  readonly retrained: Retrained;
}

/** What the experiment finds. */
export interface Curves {
  readonly base: RunAbout;
  readonly trained: Measures;
  /** Pairs with positive and with negative scores. */
  readonly counts: Readonly<Record<CurveEnd, number>>;
  readonly curves: Readonly<Record<CurveEnd, Readonly<Record<(typeof CURVES_BY)[number], readonly CurvePoint[]>>>>;
}

/** Curves of a model, whatever its noise. */
export async function curvesOf(
  subject: Subject,
  seed: number,
  shares: Readonly<Record<CurveEnd, readonly number[]>>,
): Promise<Curves> {
  const scores = {
    ecif: (await subject.scores('ecif')).values,
    clipscore: (await subject.scores('clipscore')).values,
  };
  const counts = {
    valuable: scores.ecif.filter((x) => x > 0).length,
    harmful: scores.ecif.filter((x) => x < 0).length,
  };
  const curve = async (end: CurveEnd, by: (typeof CURVES_BY)[number]): Promise<CurvePoint[]> => {
    const points: CurvePoint[] = [];
    for (const [i, share] of shares[end].entries()) {
      const removed = shareOf(share, counts[end]);
      const rows =
        by === 'random'
          ? atRandom(subject.count, removed, seed, 1 + i + 100 * CURVE_ENDS.indexOf(end))
          : firstBy(scores[by], end === 'valuable' ? 'highest' : 'lowest', removed);
      points.push({ share, removed, retrained: await subject.retrain(rows) });
    }
    return points;
  };
  const curves = { valuable: {}, harmful: {} } as Record<CurveEnd, Record<(typeof CURVES_BY)[number], CurvePoint[]>>;
  for (const end of CURVE_ENDS) for (const by of CURVES_BY) curves[end][by] = await curve(end, by);
  return { base: subject.trained.about, trained: await subject.measure(subject.run.theta), counts, curves };
}

export const removalCurves: Experiment<Curves> = {
  number: 2,
  name: 'curves',
  about: 'accuracy without more and more of the valuable, and of the harmful pairs',
  run: async ({ sizes: { valuable, harmful } }, subjectOf, { seed }) =>
    curvesOf(await subjectOf(swapped(SWAPPED)), seed, { valuable, harmful }),
};
