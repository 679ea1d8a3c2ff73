// The figures of a run: how well scores tell swapped pairs, predictions against retraining, removal, training.

import { pearson } from '../ecif/metrics/ranks.ts';
import type { Figure } from '../verify/result.ts';
import type { LoggedStep } from './findings.ts';
import { formatNumber } from './numbers.ts';
import type { DetectionMeasures, PredictedActual, RemovalCurve } from './records.ts';

/** Points of the training curve at most. */
const THINNED = 400;

const linear = (label: string): Figure['x'] => ({ label, log: false });

/** True positives over false ones. */
export const rocFigure = (measures: readonly DetectionMeasures[]): Figure => ({
  ...{ id: 'roc', title: 'Receiver operating characteristic', kind: 'lines', diagonal: true },
  caption: 'In the legend the area under each curve (AUROC): 1 tells every swapped pair, 0.5 is chance.',
  ...{ x: linear('false positive rate'), y: linear('true positive rate') },
  series: measures.map(({ name, auroc, roc }) => ({ name: `${name}, ${formatNumber(auroc)}`, points: roc })),
});

/** Precision over recall. */
export const prFigure = (measures: readonly DetectionMeasures[], share: number): Figure => ({
  ...{ id: 'pr', title: 'Precision and recall', kind: 'lines', diagonal: false },
  caption: `In the legend the average precision; chance is ${formatNumber(share)}, the share of swapped pairs.`,
  ...{ x: linear('recall'), y: linear('precision') },
  series: measures.map(({ name, auprc, pr }) => ({ name: `${name}, ${formatNumber(auprc)}`, points: pr })),
});

/** Predicted changes of the loss beside those of retraining. */
export const predictedFigure = (all: readonly PredictedActual[]): Figure => ({
  ...{ id: 'predicted', title: 'Predicted against retrained', kind: 'points', diagonal: true },
  caption:
    'Change of the evaluation loss by removal: as predicted, and as training again gives it. r is the correlation.',
  ...{ x: linear('predicted change of the loss'), y: linear('change by retraining') },
  series: all.map(({ name, points }) => {
    const [a, b] = [points.map(({ predicted }) => predicted), points.map(({ actual }) => actual)];
    const r = points.length < 3 ? NaN : pearson(a, b);
    return { name: Number.isNaN(r) ? name : `${name}, r ${formatNumber(r)}`, points: a.map((x, i) => [x, b[i]]) };
  }),
});

/** What a caption says of bands, where there are some. */
const bandText = (curves: readonly RemovalCurve[]): string =>
  curves.some(({ points }) => points.some(({ error }) => error !== null))
    ? ' Bands are one standard error to either side.'
    : '';

/** Accuracy, or whatever was measured, as pairs are removed in the order of each score. */
export const curvesFigure = (curves: readonly RemovalCurve[]): Figure => ({
  ...{ id: 'curves', title: 'Removing more and more pairs', kind: 'lines', diagonal: false },
  caption: `Of models trained again without the pairs.${bandText(curves)}`,
  ...{ x: linear('share of the pairs removed'), y: linear(`${curves[0]?.measure ?? 'accuracy'} after removal`) },
  series: curves.map(({ name, points }) => ({
    name,
    points: points.map(({ share, value }) => [share, value]),
    band: points.flatMap(({ share, value, error }): [number, number, number][] =>
      error === null ? [] : [[share, value - error, value + error]],
    ),
  })),
});

/** Loss over the steps; means over equal numbers of steps where there are many. */
export function lossFigure(log: readonly LoggedStep[]): Figure {
  const size = Math.ceil(log.length / THINNED);
  const points = Array.from({ length: Math.ceil(log.length / Math.max(1, size)) }, (_, k): [number, number] => {
    const group = log.slice(k * size, (k + 1) * size);
    const mean = (of: (step: LoggedStep) => number): number => group.reduce((sum, s) => sum + of(s) / group.length, 0);
    return [mean(({ step }) => step), mean(({ loss }) => loss)];
  });
  return {
    ...{ id: 'loss', title: 'Training loss', kind: 'lines', diagonal: false },
    caption: `Per pair and direction, ${size > 1 ? `each point the mean of ${size} steps` : 'at every step'}.`,
    ...{ x: linear('step'), y: linear('loss') },
    series: [{ name: 'loss', points }],
  };
}
