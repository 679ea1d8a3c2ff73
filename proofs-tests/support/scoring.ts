// A trained bilinear model as a task for scoring methods, beside the same in plain loops.

import { addScaled, dot } from '../../src/array/vector.ts';
import { CpuDevice } from '../../src/device/cpu.ts';
import * as ecif from '../../src/index.ts';
import { settle } from '../../src/models/settle.ts';
import {
  batchTerms,
  decayOf,
  negGradient,
  plainBatch,
  type PlainBatch,
  plainMinimum,
  type PlainPairs,
  type Smooth,
  weightedSum,
} from '../../src/verify/plain.ts';
import { relatedPairs } from '../../src/verify/instance.ts';

const device = new CpuDevice();
const TEMPERATURE = 0.6;

export type BilinearTask = ecif.ScoringTask<ecif.Bilinear, ecif.PairBatch>;

/** A pair within one of its batches. */
export interface PlainPlace {
  readonly batch: PlainBatch;
  readonly position: number;
}

/** The task and what plain loops know of it. */
export interface PlainTask {
  readonly task: BilinearTask;
  readonly pairs: PlainPairs;
  readonly held: PlainPairs;
  /** The evaluation pairs in their batch. */
  readonly judged: readonly PlainPlace[];
  /** θ̂ and the checkpoints as vectors. */
  readonly w: Float64Array;
  readonly early: readonly Float64Array[];
  /** Hessian at θ̂, δ included. */
  readonly hessian: Float64Array;
  /** ∇L_val. */
  gradVal(w: Float64Array): Float64Array;
  /** Mean over the places of a row. */
  mean(row: number, f: (place: PlainPlace) => number): number;
  /** The minimiser without a row, or the full one without an argument, by plain Newton steps. */
  minimum(without?: number): Float64Array;
  evaluate(w: Float64Array): number;
}

/** ∇Pos of one pair. */
export const posGradient = ({ batch, position }: PlainPlace, w: Float64Array): Float64Array =>
  batchTerms(batch, w, { anchor: (k) => (k === position ? 1 : 0), candidate: () => 1 }, 'both', 1).gradient;

/** ∇Pos + ∇Neg of one pair. */
export const wholeGradient = (place: PlainPlace, w: Float64Array, form: ecif.NegForm): Float64Array =>
  addScaled(
    posGradient(place, w),
    1,
    negGradient(place.batch, w, (k) => k === place.position, form),
  );

const rowsOf = ({ text, image }: PlainPairs, rows: readonly number[]): PlainPairs => ({
  text: rows.map((i) => text[i]),
  image: rows.map((i) => image[i]),
});

const tensors = ({ text, image }: PlainPairs): ecif.PairBatch => ({
  text: ecif.tensor(device, text),
  image: ecif.tensor(device, image),
});

/** Makes one of ten pairs in two partitions, or of other sizes. */
export function plainTask(seed: number, { count = 10, text = 2, image = 3, l2 = 0.4 } = {}): PlainTask {
  const rng = ecif.createRng(seed);
  const all = relatedPairs(rng, count + 6, text, image);
  const pairs = rowsOf(all, [...Array(count).keys()]);
  const held = rowsOf(
    all,
    Array.from({ length: 6 }, (_, i) => count + i),
  );
  const partitions = [ecif.drawPartition(rng, count, 5), ecif.drawPartition(rng, count, 4)];
  const plain = (rows: readonly number[]): PlainBatch => plainBatch(rowsOf(pairs, rows), TEMPERATURE);
  const batches = partitions.map((each) => each.map((rows) => ({ rows: [...rows], batch: plain([...rows]) })));
  const smooth =
    (batch: PlainBatch): Smooth =>
    (w, order) =>
      batchTerms(batch, w, undefined, 'both', order);
  const objective = (without?: number): Smooth =>
    weightedSum([
      [1, decayOf(l2)],
      ...batches
        .flat()
        .map(({ rows }) => [1 / partitions.length, smooth(plain(rows.filter((r) => r !== without)))] as const),
    ]);
  const start = new Float64Array(text * image);
  const w = plainMinimum(objective(), start);
  const early = [0.3, 0.8].map((t) => w.map((x, i) => t * x + 0.05 * Math.sin(i)));
  const tree = (v: Float64Array): ecif.Bilinear => ({ w: ecif.tensor(device, v, [text, image]) });
  const evaluation = plainBatch(held, TEMPERATURE);
  return {
    task: {
      loss: {
        model: ecif.bilinear(TEMPERATURE),
        partitions,
        batch: (rows) => Promise.resolve(tensors(rowsOf(pairs, [...rows]))),
        l2,
      },
      count,
      theta: tree(w),
      evaluation: tensors(held),
      checkpoints: early.map((v, i) => ({ theta: tree(v), rate: 0.1 * (i + 1) })),
      retrain: async (loss, from) =>
        (await settle(loss, from, { tolerance: 1e-10, iterations: 200, newtonSteps: 10, noise: 1e-15 })).theta,
      seed: 3,
    },
    ...{ pairs, held, w, early },
    judged: held.text.map((_, position) => ({ batch: evaluation, position })),
    hessian: objective()(w).hessian,
    gradVal: (v) => batchTerms(evaluation, v, undefined, 'both', 1).gradient,
    mean: (row, f) => {
      const found = batches.flat().filter(({ rows }) => rows.includes(row));
      return found.reduce((sum, { rows, batch }) => sum + f({ batch, position: rows.indexOf(row) }), 0) / found.length;
    },
    minimum: (without) => plainMinimum(objective(without), w),
    evaluate: (v) => batchTerms(evaluation, v, undefined, 'both', 0).value,
  };
}

/** Every row by a formula, the mean over its places. */
export const byRow = (plain: PlainTask, f: (place: PlainPlace) => number): Float64Array =>
  Float64Array.from({ length: plain.task.count }, (_, row) => plain.mean(row, f));

/** Gradients of every pair along one direction. */
export const along = (
  plain: PlainTask,
  direction: Float64Array,
  gradient: (place: PlainPlace) => Float64Array,
): Float64Array => byRow(plain, (place) => dot(gradient(place), direction));
