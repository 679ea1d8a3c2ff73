// One detection: from a trained run to its pairs ranked by suspicion, with a cut-off, explanations and, where the truth is known, measures.

import { join } from 'node:path';
import { csvLine } from '../../data/score-text.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { cosineOf } from '../../ecif/baselines/embeddings.ts';
import { type Signal, suspicionOf } from '../../ecif/detect/combine.ts';
import { explainPair } from '../../ecif/detect/explain.ts';
import { mixtureOf } from '../../ecif/detect/mixture.ts';
import { auroc, averagePrecision, detectionCurve, inspect } from '../../ecif/metrics/detection.ts';
import { orderBy } from '../../ecif/metrics/ranks.ts';
import { requireProbes } from '../../ecif/relative.ts';
import type { Counterfactual, DetectionMeasures, DetectRecord, ExplainedPair } from '../../report/records.ts';
import { UsageError } from '../args.ts';
import { type DetectSettings, type SignalName, SIGNALS } from './options.ts';
import { type Known, lookAtPairs, scoreInfluences, signalOf } from './signals.ts';
import { writeTexts } from '../files.ts';
import type { Progress } from '../progress.ts';
import { type OpenedRun, openTrained } from '../runs/opened-run.ts';
import { readTruth } from '../runs/truth.ts';
import { ownVersion } from '../versions.ts';

/** Signals that count together, where they are there. */
const COMBINED: readonly SignalName[] = ['match', 'score', 'left-out'];

const ABOUT: Readonly<Record<SignalName | 'combined', string>> = {
  combined:
    'match, influence on the validation pairs and the cosine left out of training, weighed by how each separates',
  match: 'log odds that the pair does not belong together, by a matching of all captions with all pictures',
  fit: 'log(1 + contrastive loss of the pair among all pairs)',
  score: 'predicted change of the validation loss if the pair is removed',
  'left-out': 'predicted cosine of the pair if it had not been trained on',
  clipscore: 'cosine of picture and caption',
  self: '−(predicted rise of the pair’s own 1 − cos if it is removed)',
};

/** A signal of all pairs; null where a pair lacks it. */
function signal(name: SignalName, { pairs }: Known): Signal | null {
  const values = pairs.map((pair) => signalOf(name, pair));
  return values.includes(null) ? null : { name, values: Float64Array.from(values as number[]) };
}

/** The signals that are there. */
const signalsOf = (known: Known): Signal[] =>
  SIGNALS.map((name) => signal(name, known)).filter((one): one is Signal => one !== null);

/** Points of a curve at most. */
const MOST_POINTS = 200;

function thinned<T>(points: readonly T[]): T[] {
  const step = Math.max(1, (points.length - 1) / (MOST_POINTS - 1));
  return points.length <= MOST_POINTS
    ? [...points]
    : Array.from({ length: MOST_POINTS }, (_, i) => points[Math.round(i * step)]);
}

/** How well a signal tells the swapped pairs. */
function measured({ name, values }: Signal, bad: readonly boolean[]): DetectionMeasures {
  const curve = detectionCurve(values, bad, 'lowest');
  return {
    name,
    auroc: auroc(values, bad, 'lowest'),
    auprc: averagePrecision(values, bad, 'lowest'),
    top10: inspect(values, bad, 'lowest', { pairs: Math.min(10, values.length) }).found,
    roc: [[0, 0] as const, ...thinned(curve).map(({ falsePositives, recall }) => [falsePositives, recall] as const)],
    pr: thinned(curve).map(({ recall, precision }) => [recall, precision] as const),
  };
}

const BINS = 30;

/** Suspicion counted in bins of equal width. */
function histogramOf(values: Float64Array, bad: readonly boolean[] | null): DetectRecord['histogram'] {
  const [least, most] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const width = (most - least) / BINS || 1;
  const bounds = Array.from({ length: BINS + 1 }, (_, i) => least + i * width);
  const counts = (which: (i: number) => boolean): number[] => {
    const bins = new Array<number>(BINS).fill(0);
    values.forEach((x, i) => (bins[Math.min(BINS - 1, Math.floor((x - least) / width))] += Number(which(i))));
    return bins;
  };
  return { bounds, all: counts(() => true), swapped: bad === null ? null : counts((i) => bad[i]) };
}

/** What is found of every pair. */
interface Ranking {
  readonly name: string;
  readonly suspicion: Float64Array;
  readonly probabilities: Float64Array;
  /** Rows, the most suspicious first. */
  readonly order: Uint32Array;
  /** Suspicion from which on pairs are flagged. */
  readonly cutoff: DetectRecord['cutoff'];
}

/** Probability of a mismatch of each pair, and the share of mismatches that is estimated with them. */
interface Odds {
  readonly probabilities: Float64Array;
  readonly share: number;
}

const matched = ({ matching: { mismatch, share } }: Known): Odds => ({ probabilities: mismatch, share });

/** By the mixture behind one number; none where one kind of pairs describes it as well. */
function mixed(suspicion: Float64Array): Odds {
  const { probabilities, components, two } = mixtureOf(suspicion);
  return two ? { probabilities, share: components[1].weight } : { probabilities: probabilities.map(() => 0), share: 0 };
}

/** Ranks the pairs, and proposes where to cut. */
function rank(known: Known, by: DetectSettings['by']): Ranking {
  const there = signalsOf(known);
  const used = there.filter(({ name }) => (by === 'combined' ? COMBINED.includes(name as SignalName) : name === by));
  if (used.length === 0) {
    throw new UsageError(`detect: no ${by} without ${by === 'score' ? '--validation DATA' : '--probes N'}; give it`);
  }
  const suspicion = used.length === 1 ? used[0].values.map((x) => -x) : suspicionOf(used).values;
  const { probabilities, share } = by === 'match' ? matched(known) : mixed(suspicion);
  const flagged = probabilities.filter((p) => p > 0.5);
  const order = orderBy(suspicion, 'highest');
  const bound = flagged.length === 0 ? suspicion[order[0]] : suspicion[order[flagged.length - 1]];
  const expectedPrecision = flagged.length === 0 ? 0 : flagged.reduce((a, b) => a + b, 0) / flagged.length;
  return {
    ...{ name: by, suspicion, probabilities, order },
    cutoff: { suspicion: bound, flagged: flagged.length, expectedPrecision, share },
  };
}

/** The most suspicious pairs, explained. */
function explained(
  { dataset: { rows } }: OpenedRun,
  { embedded, scale, candidates, matching, pairs }: Known,
  { suspicion, probabilities, order, cutoff }: Ranking,
  bad: readonly boolean[] | null,
  top: number,
): ExplainedPair[] {
  const doubted = new Set(order.subarray(0, cutoff.flagged));
  const trusted = new Set(candidates.filter((row) => !doubted.has(row)));
  const named = (row: number): { id: string; caption: string } => ({ id: rows[row].id, caption: rows[row].caption });
  return Array.from(order.subarray(0, top), (row, i) => {
    const found = explainPair(embedded, scale, candidates, row, { trusted });
    const other = (made: { row: number; loss: number } | null): Counterfactual =>
      made === null ? { ...named(row), loss: found.loss } : { ...named(made.row), loss: made.loss };
    return {
      ...{ ...named(row), ...pairs[row], rank: i + 1 },
      ...{ suspicion: suspicion[row], probability: probabilities[row], loss: found.loss, wrong: found.wrong },
      hardest: found.rivals.map(({ row: rival, side, cosine, share }) => ({ ...named(rival), side, cosine, share })),
      otherCaption: other(found.otherCaption),
      otherPicture: other(found.otherPicture),
      belongs:
        matching.belief[row] === 0 ? null : { ...named(matching.belongs[row]), probability: matching.belief[row] },
      swapped: bad?.[row] ?? null,
    };
  });
}

/** The batch of the first suspect. */
function batchOf(
  { dataset: { rows }, loss }: OpenedRun,
  { embedded: { width, u, v } }: Known,
  { suspicion, order }: Ranking,
): DetectRecord['batch'] {
  const members = loss.partitions[0].find((batch) => batch.includes(order[0]));
  if (members === undefined) return null;
  const list = [...members];
  return {
    pairs: list.map((row) => ({ id: rows[row].id, caption: rows[row].caption })),
    cosines: list.flatMap((i) => list.map((j) => cosineOf(width, u, i, v, j))),
    suspicion: list.map((row) => suspicion[row]),
    at: list.indexOf(order[0]),
  };
}

const COLUMNS = [
  ...['rank', 'id', 'caption', 'suspicion', 'probability', 'flagged', 'score', 'positive', 'negative', 't2i', 'i2t'],
  ...['self', 'match', 'fit', 'clipscore', 'belongs', 'swapped'],
];

/** Every pair, the most suspicious first, as CSV. */
function tableOf(
  { dataset: { rows } }: OpenedRun,
  { pairs, matching: { belongs, belief } }: Known,
  { suspicion, probabilities, order, cutoff }: Ranking,
  bad: readonly boolean[] | null,
): string {
  const lines = Array.from(order, (row, i) => {
    const { score, positive, negative, t2i, i2t, self, match, fit, clipscore } = pairs[row];
    return csvLine([
      ...[i + 1, rows[row].id, rows[row].caption, suspicion[row], probabilities[row]],
      i < cutoff.flagged ? 'yes' : 'no',
      ...[score, positive, negative, t2i, i2t, self, match, fit, clipscore],
      belief[row] > 0.5 ? rows[belongs[row]].id : null,
      bad === null ? null : bad[row] ? 'yes' : 'no',
    ]);
  });
  return [csvLine(COLUMNS), ...lines].join('');
}

/**
 * Ranks the pairs of a trained run by suspicion, and writes `detect.csv` and `detect.json` into its folder.
 * @returns what is in `detect.json`
 */
export async function runDetection(
  folder: string,
  settings: DetectSettings,
  device: Device,
  progress: Progress,
): Promise<DetectRecord> {
  const began = performance.now();
  requireProbes(settings.probes);
  const { validation } = settings;
  const run = await openTrained(folder, device, { ...settings, partitions: 0 }, progress);
  try {
    const bad = readTruth(folder, settings.truth, run.dataset);
    const influences =
      validation === undefined
        ? null
        : await scoreInfluences(folder, run, { ...settings, validation }, device, progress);
    const known = await lookAtPairs(run, influences, settings, progress);
    const ranking = rank(known, settings.by);
    const chosen: Signal = { name: ranking.name, values: ranking.suspicion.map((x) => -x) };
    const judged = [chosen, ...signalsOf(known).filter(({ name }) => name !== ranking.name)];
    const record: DetectRecord = {
      ...{ command: 'detect', options: { run: folder, ...settings } },
      ...{ device: device.name, version: ownVersion(), seconds: (performance.now() - began) / 1000 },
      ...{ pairs: run.dataset.rows.length, method: ranking.name, about: ABOUT[settings.by], cutoff: ranking.cutoff },
      suspects: explained(run, known, ranking, bad, settings.top),
      histogram: histogramOf(ranking.suspicion, bad),
      batch: batchOf(run, known, ranking),
      truth:
        bad === null
          ? null
          : { swapped: bad.filter(Boolean).length, measures: judged.map((one) => measured(one, bad)) },
    };
    writeTexts([
      [join(folder, 'detect.csv'), tableOf(run, known, ranking, bad)],
      [join(folder, 'detect.json'), `${JSON.stringify(record, null, 2)}\n`],
    ]);
    return record;
  } finally {
    disposeTree(run.theta);
    run.close();
  }
}
