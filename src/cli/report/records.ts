// The files of a run folder, field by field.

import type { LoggedStep, Scored, ScoredPair, TrainedRun } from '../../report/findings.ts';
import type {
  Belonging,
  Counterfactual,
  DetectionMeasures,
  DetectRecord,
  ExplainedPair,
  HardNegative,
  MadeBy,
  ModelMeasures,
  PairName,
  PredictedActual,
  RemovalCurve,
  RemovalRecord,
  TracedQuery,
  TracedSource,
  TraceRecord,
} from '../../report/records.ts';
import { also, anything, type Check, count, flag, listOf, misfit } from './fields.ts';
import { number, objectOf, oneOf, orNull, point, text } from './fields.ts';

/** Most points of a curve and pairs of a batch. */
const [POINTS, BATCH] = [20_000, 2048];

const MADE = { command: text, options: anything, device: text, version: text, seconds: number } satisfies {
  [K in keyof MadeBy]: Check<MadeBy[K]>;
};
const NAME = { id: text, caption: text };
const pairName = objectOf<PairName>(NAME);

const norms = objectOf<NonNullable<TrainedRun['norms']>>({
  ...{ objective: number, gradientNorm: number, partitions: count },
  stationarity: orNull(objectOf({ reached: flag, tolerance: number })),
});

/** `run.json` */
export const trainedRun: Check<TrainedRun> = objectOf<TrainedRun>({
  ...{ status: text, options: anything, device: text },
  dataset: objectOf({ pairs: count, sha256: text, dropped: orNull(listOf(text)) }),
  ...{ versions: orNull(anything), steps: orNull(count), parameters: orNull(count) },
  ...{ norms: orNull(norms), seconds: orNull(objectOf({ steps: number, end: number })) },
});

/** A line of `log.jsonl`. */
export const loggedStep: Check<LoggedStep> = objectOf<LoggedStep>({ step: count, loss: number });

const scoredPair = objectOf<ScoredPair>({ ...NAME, score: number, flag: orNull(text) });

/** `scores.parquet.json` */
export const scored: Check<Scored> = objectOf<Scored>({
  ...{ options: anything, device: text, version: text, pairs: count, partitions: count, gradientNorm: number },
  targets: listOf(objectOf({ name: text, pairs: count, loss: number })),
  curvature: objectOf({ method: text, curvature: text, l2: number, damping: number }),
  seconds: objectOf({ solve: number, sweep: number }),
  ends: listOf(objectOf({ target: text, harmful: listOf(scoredPair), valuable: listOf(scoredPair) })),
});

const half = oneOf('caption', 'picture');
const counterfactual = objectOf<Counterfactual>({ ...NAME, loss: number });

const explainedPair = objectOf<ExplainedPair>({
  ...NAME,
  ...{ score: orNull(number), positive: orNull(number), negative: orNull(number), t2i: orNull(number) },
  ...{ i2t: orNull(number), self: orNull(number), match: number, fit: number, clipscore: number },
  ...{ rank: count, suspicion: number, probability: number, loss: number },
  hardest: listOf(objectOf<HardNegative>({ ...NAME, side: half, cosine: number, share: number }), 1000),
  ...{ otherCaption: counterfactual, otherPicture: counterfactual },
  belongs: orNull(objectOf<Belonging>({ ...NAME, probability: number })),
  wrong: oneOf('caption', 'picture', 'both', 'neither'),
  swapped: orNull(flag),
});

const histogram = also(
  objectOf<DetectRecord['histogram']>({
    ...{ bounds: listOf(number, POINTS), all: listOf(count, POINTS), swapped: orNull(listOf(count, POINTS)) },
  }),
  (place, { bounds, all, swapped }) => {
    if (bounds.length < 2) misfit(place, 'bounds', `a list of ${bounds.length}`, 'give 2 or more');
    for (const [name, list] of [['all', all] as const, ['swapped', swapped ?? all] as const]) {
      if (list.length !== bounds.length - 1) {
        misfit(place, name, `a list of ${list.length}`, `give ${bounds.length - 1}, one less than bounds`);
      }
    }
  },
);

const batch = also(
  objectOf<NonNullable<DetectRecord['batch']>>({
    ...{ pairs: listOf(pairName, BATCH), cosines: listOf(number, BATCH ** 2), suspicion: listOf(number), at: count },
  }),
  (place, { pairs: { length: n }, cosines, suspicion, at }) => {
    if (cosines.length !== n * n) misfit(place, 'cosines', `a list of ${cosines.length}`, `give ${n} × ${n}`);
    if (suspicion.length !== n) misfit(place, 'suspicion', `a list of ${suspicion.length}`, `give ${n}`);
    if (at >= n) misfit(place, 'at', String(at), `give a position below ${n}`);
  },
);

const measures = objectOf<DetectionMeasures>({
  ...{ name: text, auroc: number, auprc: number, top10: count },
  ...{ roc: listOf(point, POINTS), pr: listOf(point, POINTS) },
});

/** `detect.json` */
export const detectRecord: Check<DetectRecord> = objectOf<DetectRecord>({
  ...MADE,
  ...{ pairs: count, method: text, about: text },
  cutoff: objectOf({ suspicion: number, flagged: count, expectedPrecision: number, share: number }),
  suspects: listOf(explainedPair),
  ...{ histogram, batch: orNull(batch) },
  truth: orNull(objectOf({ swapped: count, measures: listOf(measures, 100) })),
});

const tracedSource = objectOf<TracedSource>({
  ...{ ...NAME, relative: number, score: number, label: orNull(text), swapped: orNull(flag) },
});

const tracedQuery = objectOf<TracedQuery>({
  ...{ ...NAME, label: orNull(text), loss: number, mistaken: flag },
  predictions: listOf(objectOf({ caption: text, probability: number, right: flag })),
  ...{ against: listOf(tracedSource), for: listOf(tracedSource) },
  removal: orNull(
    objectOf<NonNullable<TracedQuery['removal']>>({
      ...{ ids: listOf(text), rung: text, predictedLoss: number, editedLoss: number },
      ...{ probabilityBefore: number, probabilityAfter: number },
    }),
  ),
});

/** `trace.json` */
export const traceRecord: Check<TraceRecord> = objectOf<TraceRecord>({
  ...{ ...MADE, queries: listOf(tracedQuery), asked: count, mistaken: count },
  ...{ cwd: orNull(text), places: orNull(objectOf({ queries: text })) },
});

const modelMeasures = objectOf<ModelMeasures>({ loss: number, r1: number, r5: number, accuracy: orNull(number) });

/** `removal.json` */
export const removalRecord: Check<RemovalRecord> = objectOf<RemovalRecord>({
  ...{ ...MADE, run: text, removed: listOf(pairName), rung: text, curvature: text, moved: number },
  ...{ editSeconds: number, notes: listOf(text), signature: text, tolerance: orNull(number) },
  gradient: objectOf({ before: number, after: number }),
  measures: orNull(objectOf({ before: modelMeasures, predictedLoss: number, edited: modelMeasures })),
  retrained: orNull(
    objectOf<NonNullable<RemovalRecord['retrained']>>({
      ...{ seconds: number, gradient: number, measures: orNull(modelMeasures), error: number, speedup: number },
      onward: orNull(objectOf({ seconds: number, gradient: number })),
    }),
  ),
});

const curvePoint = objectOf<RemovalCurve['points'][number]>({ share: number, value: number, error: orNull(number) });

/** `curves.json` */
export const removalCurves: Check<readonly RemovalCurve[]> = listOf(
  objectOf<RemovalCurve>({ name: text, measure: orNull(text), points: listOf(curvePoint, POINTS) }),
  100,
);

/** The part of `curves/curves.json` that says how it was made. */
export const madeBy: Check<MadeBy> = objectOf<MadeBy>(MADE);

/** `predicted.json` */
export const predictedActual: Check<readonly PredictedActual[]> = listOf(
  objectOf<PredictedActual>({
    ...{ name: text, points: listOf(objectOf({ id: text, predicted: number, actual: number }), POINTS) },
  }),
  100,
);
