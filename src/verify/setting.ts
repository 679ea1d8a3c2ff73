// One instance with everything claims are measured on: the model trained on a device, and the same in plain float64.

import { Flat } from '../autodiff/flat.ts';
import { disposeTree, itemOf, type Tensor } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import type { Device } from '../device/open.ts';
import { type ConvexFile, placeConvex } from '../ecif/convex-file.ts';
import { totalLoss, type Problem } from '../ecif/objective.ts';
import { minimise } from '../ecif/retrain.ts';
import { type Seg, segOf } from '../ecif/seg.ts';
import { curvatureAt, type CurvatureSolver } from '../ecif/solver.ts';
import type { Bilinear } from '../models/bilinear.ts';
import type { PairBatch } from '../models/model.ts';
import type { NegForm } from '../ecif/terms.ts';
import { addScaled } from '../array/vector.ts';
import {
  batchTerms,
  decayOf,
  type Direction,
  keptFeatures,
  negGradient,
  type Order,
  plainBatch,
  plainMinimum,
  type Smooth,
  type Weights,
  weightedSum,
} from './plain.ts';

type Vector = Float64Array;

/** The objective of an instance in plain float64, with any weights. */
export interface PlainProblem {
  /** Σ over batches with weights, without decay. */
  terms(weights: (removed: (k: number) => boolean) => Weights, direction?: Direction): Smooth;
  readonly total: Smooth;
  /** L_Total + ε·Pos. */
  positive(epsilon: number): Smooth;
  /** L_Total with the removed pairs weighted by ζ as candidates of the kept. */
  negative(zeta: number): Smooth;
  /** L_Total on the way to removal: t = 0 is L_Total, t = 1 the loss after removal, by ε = −t and ζ = 1 − t. */
  removal(t: number): Smooth;
  readonly evaluation: Smooth;
  /** ∇Neg of the removed set. */
  negGradient(w: Vector, form: NegForm): Vector;
  /** Features of every log-sum-exp term that removal leaves. */
  features(): Vector[][];
}

/** An instance, trained. */
export interface Setting {
  readonly file: ConvexFile;
  readonly problem: Problem<Bilinear, PairBatch>;
  readonly validation: PairBatch;
  readonly theta: Bilinear;
  /** θ̂ on the host. */
  readonly w: Vector;
  readonly h: CurvatureSolver<Bilinear>;
  readonly seg: Seg;
  readonly plain: PlainProblem;
  /** θ̂ of the plain problem. */
  readonly optimum: Vector;
  /** Minimiser of a plain function, from θ̂. */
  minimum(f: Smooth): Vector;
  /** A tree on the host. */
  read(make: () => Bilinear): Promise<Vector>;
  /** A gradient at θ̂ on the host. */
  gradient(f: (theta: Bilinear) => Tensor): Promise<Vector>;
  /** A value at θ̂. */
  value(f: (theta: Bilinear) => Tensor): Promise<number>;
  dispose(): void;
}

export function plainProblem(file: ConvexFile): PlainProblem {
  const { temperature, delta, text, image } = file;
  const gone = new Set(file.remove);
  const batches = file.batches.map((ids) => ({
    ids,
    batch: plainBatch({ text: ids.map((i) => text[i]), image: ids.map((i) => image[i]) }, temperature),
  }));
  const validation = plainBatch(file.validation, temperature);
  const terms: PlainProblem['terms'] = (weights, direction = 'both') =>
    weightedSum(
      batches.map(({ ids, batch }) => {
        const chosen = weights((k) => gone.has(ids[k]));
        return [1, (w: Vector, order?: Order) => batchTerms(batch, w, chosen, direction, order)] as const;
      }),
    );
  const decay = decayOf(delta);
  const withDecay = (weights: Parameters<PlainProblem['terms']>[0]): Smooth =>
    weightedSum([
      [1, terms(weights)],
      [1, decay],
    ]);
  const path = (epsilon: number, zeta: number): Smooth =>
    withDecay((removed) => ({
      anchor: (k) => (removed(k) ? 1 + epsilon : 1),
      candidate: (k, j) => (!removed(k) && removed(j) ? zeta : 1),
    }));
  return {
    terms,
    total: path(0, 1),
    positive: (epsilon) => path(epsilon, 1),
    negative: (zeta) => path(0, zeta),
    removal: (t) => path(-t, 1 - t),
    evaluation: (w, order) => batchTerms(validation, w, undefined, undefined, order),
    negGradient: (w, form) =>
      batches
        .map(({ ids, batch }) => negGradient(batch, w, (k) => gone.has(ids[k]), form))
        .reduce((a, b) => addScaled(a, 1, b)),
    features: () => batches.flatMap(({ ids, batch }) => keptFeatures(batch, (k) => gone.has(ids[k]))),
  };
}

/** Trains an instance on a device and beside it in plain float64. */
export async function settle(file: ConvexFile, device: Device): Promise<Setting> {
  const { problem, start, validation } = placeConvex(file, device);
  const { theta } = await minimise(totalLoss(problem), start);
  const flat = new Flat(theta);
  const h = await curvatureAt(totalLoss(problem), theta);
  const plain = plainProblem(file);
  const optimum = plainMinimum(plain.total, new Float64Array(flat.size));
  return {
    ...{ file, problem, validation, theta, h, plain, optimum },
    w: await flat.toVector(theta),
    seg: segOf(file.batches, file.remove),
    minimum: (f) => plainMinimum(f, optimum),
    read: (make) => flat.read(make),
    gradient: (f) => flat.read(() => grad(f)(theta)),
    value: (f) => itemOf(() => f(theta)),
    dispose: () => {
      h.dispose();
      disposeTree([theta, start, problem.batches, validation]);
    },
  };
}

/** Trains an instance, uses it, gives its memory back. */
export async function withSetting<R>(
  file: ConvexFile,
  device: Device,
  use: (setting: Setting) => Promise<R>,
): Promise<R> {
  const setting = await settle(file, device);
  try {
    return await use(setting);
  } finally {
    setting.dispose();
  }
}
