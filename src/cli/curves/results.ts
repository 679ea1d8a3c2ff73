// What training again without groups of pairs says: curves of a measure, predictions beside it, and how they agree.

import { summarise } from '../../ecif/metrics/interval.ts';
import { pearson, spearman } from '../../ecif/metrics/ranks.ts';
import type { CurvesRecord, LeftOutGroup, ModelMeasures, PredictedActual, RemovalCurve } from '../../report/records.ts';
import { UsageError } from '../args.ts';
import type { CurvesSettings } from './options.ts';

/** A group on its curve. */
export type FoundGroup = LeftOutGroup & { readonly curve: string };

/** Measures as a figure names them. */
const NAMES = { accuracy: 'accuracy', r1: 'R@1', r5: 'R@5', loss: 'validation loss' } as const;

/**
 * The measure that curves show.
 * @throws UsageError for accuracy of pairs without labels
 */
export function measureOf(
  asked: CurvesSettings['measure'],
  { accuracy }: Pick<ModelMeasures, 'accuracy'>,
): keyof typeof NAMES {
  if (asked === 'auto') return accuracy === null ? 'r5' : 'accuracy';
  if (asked !== 'accuracy' || accuracy !== null) return asked;
  throw new UsageError('--measure accuracy: not every validation pair has a label; give labels, or another --measure');
}

/** A measure over the share of the pairs that are left out, the mean of several draws with its standard error. */
export function curvesOf(
  groups: readonly FoundGroup[],
  measure: keyof typeof NAMES,
  { before, pairs }: Pick<CurvesRecord, 'before' | 'pairs'>,
): RemovalCurve[] {
  const valueOf = (measures: ModelMeasures): number => measures[measure] as number;
  return [...new Set(groups.map(({ curve }) => curve))].map((name) => {
    const there = groups.filter(({ curve }) => curve === name);
    const points = [...new Set(there.map((group) => group.pairs))].map((removed) => {
      const values = there.filter((group) => group.pairs === removed).map(({ measures }) => valueOf(measures));
      const { mean, sd, count } = summarise(values);
      return { share: removed / pairs, value: mean, error: count < 2 ? null : sd / Math.sqrt(count) };
    });
    return { name, measure: NAMES[measure], points: [{ share: 0, value: valueOf(before), error: null }, ...points] };
  });
}

/** Predicted changes beside those of training again: sums of scores, and edits by a rung where there are some. */
export function predictionsOf(groups: readonly LeftOutGroup[], rung: string): PredictedActual[] {
  const pointsOf = (predict: (group: LeftOutGroup) => number | null): PredictedActual['points'] =>
    groups.flatMap((group) => {
      const predicted = predict(group);
      return predicted === null ? [] : [{ id: group.name, predicted, actual: group.actual }];
    });
  return [
    { name: 'sum of scores', points: pointsOf(({ predicted }) => predicted) },
    { name: rung, points: pointsOf(({ edited }) => edited) },
  ].filter(({ points }) => points.length > 0);
}

const orNone = (x: number): number | null => (Number.isNaN(x) ? null : x);

/** How predictions go with training again. */
export const correlationsOf = (all: readonly PredictedActual[]): CurvesRecord['correlations'] =>
  all.map(({ name, points }) => {
    const [x, y] = [points.map(({ predicted }) => predicted), points.map(({ actual }) => actual)];
    // Two points lie on a line whatever they are.
    if (points.length < 3) return { name, linear: null, ranks: null };
    return { name, linear: orNone(pearson(x, y)), ranks: orNone(spearman(x, y)) };
  });
