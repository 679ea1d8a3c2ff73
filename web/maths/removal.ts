// Chapter 3: pairs removed from a trained model by every rung of the ladder, against training again without them.

import { distance, dot, norm } from '../../src/array/vector.ts';
import { Flat } from '../../src/autodiff/flat.ts';
import { placeConvex, type PlacedConvex } from '../../src/ecif/convex-file.ts';
import { RUNGS } from '../../src/ecif/estimators.ts';
import * as ecif from '../../src/index.ts';
import { computation } from './computation.ts';
import { holding, type Keep } from './holding.ts';
import { batchesOf, convexOf, type PairsAsked } from './pairs.ts';

/** A problem of emoji pairs on some of their features. */
export interface RemovalProblem extends PairsAsked {
  /** Features of captions and pictures that are used: the first so many. */
  readonly features: number;
}

/** Estimators that are drawn, lowest rung first. */
export const DRAWN = ['published', 'corrected', 'exact gradient', 'Newton'] as const;

export type DrawnRung = (typeof DRAWN)[number];

/** Where an edit leads. */
export interface Edit {
  /** θ̃ − θ̂ in the two principal directions. */
  readonly at: readonly [number, number];
  /** ‖θ̃ − θ̂‖ */
  readonly length: number;
  /** ‖θ̃ − θ*‖/‖θ* − θ̂‖ with θ* from retraining; null where nothing changes. */
  readonly error: number | null;
  /** L_val(θ̃) − L_val(θ̂) */
  readonly change: number;
}

/** A removal by every rung and by training again. */
export interface RemovalFound {
  readonly edits: Readonly<Record<DrawnRung | 'retrained', Edit>>;
  /** The part of the drawn movements, but for the published one, that lies in the two directions: 0 … 1. */
  readonly seen: number;
  /** Curvature of the loss after removal at θ*, in the two directions: along the first, mixed, along the second. */
  readonly curvature: readonly [number, number, number];
  /** Newton iterations of the training without the pairs. */
  readonly iterations: number;
}

/** A model, trained to the end. */
export interface Trained {
  /** θ̂, row by row. */
  readonly theta: readonly number[];
  readonly iterations: number;
  readonly gradientNorm: number;
  /** L_val(θ̂) */
  readonly evaluation: number;
  /** Predicted change of L_val for each pair alone, from one solve and one sweep. */
  readonly scores: { readonly corrected: readonly number[]; readonly published: readonly number[] };
}

/** What training without one pair does, and what Newton's step says of it. */
export interface LeftOut {
  readonly actual: number;
  readonly newton: number;
}

function placed(asked: RemovalProblem, device: ecif.Device): PlacedConvex {
  const file = convexOf(asked);
  const cut = (rows: readonly (readonly number[])[]): number[][] => rows.map((row) => row.slice(0, asked.features));
  const { text, image } = file.validation;
  const validation = { text: cut(text), image: cut(image) };
  return placeConvex({ ...file, text: cut(file.text), image: cut(file.image), validation }, device);
}

/** Runs on a problem; what it placed and keeps is given back. */
function withProblem<R>(
  asked: RemovalProblem,
  device: ecif.Device,
  run: (placed: PlacedConvex, evaluation: (theta: ecif.Bilinear) => ecif.Tensor, keep: Keep) => Promise<R>,
): Promise<R> {
  return holding((keep) => {
    const all = placed(asked, device);
    const { problem, start, validation } = all;
    keep([problem.batches, start, validation]);
    return run(all, (theta) => ecif.batchLoss(problem.model, theta, validation), keep);
  });
}

export const trainedModel = computation<RemovalProblem, Trained>({
  wants: 'float64',
  run: (device, asked) =>
    withProblem(asked, device, async ({ problem, start }, evaluation, keep) => {
      const total = ecif.totalLoss(problem);
      const { theta, iterations, gradientNorm } = await ecif.minimise(total, start);
      keep(theta);
      const h = keep(await ecif.curvatureAt(total, theta));
      const gradient = keep(ecif.scope(() => ecif.grad(evaluation)(theta)));
      const w = keep(await h.solve(gradient));
      const scores = async (form: ecif.NegForm): Promise<number[]> =>
        (await ecif.pairScores(problem, theta, w, form)).map(({ score }) => score);
      return {
        theta: [...(await new Flat(theta).toVector(theta))],
        ...{ iterations, gradientNorm },
        evaluation: await ecif.itemOf(() => evaluation(theta)),
        scores: { corrected: await scores('corrected'), published: await scores('published') },
      };
    }),
});

/** A problem with its minimiser. */
interface Solved {
  readonly problem: RemovalProblem;
  /** θ̂ from {@link trainedModel}. */
  readonly theta: readonly number[];
}

const segmentOf = ({ pairs, batch }: RemovalProblem, remove: readonly number[]): ecif.Seg =>
  ecif.segOf(batchesOf(pairs.length, batch), remove);

/** The two directions in which some vectors vary most from the origin, and the part of their squares seen in them. */
function principal(vectors: readonly Float64Array[]): { axes: Float64Array[]; seen: number } {
  const n = vectors.length;
  const gram = Float64Array.from({ length: n * n }, (_, at) => dot(vectors[Math.floor(at / n)], vectors[at % n]));
  const { values, vectors: mixes } = ecif.symmetricEigen(gram, n);
  const all = values.reduce((a, b) => a + Math.max(0, b), 0);
  const axes = [n - 1, n - 2].map((k) => {
    const mix = mixes.subarray(k * n, (k + 1) * n);
    const axis = vectors[0].map((_, i) => vectors.reduce((t, v, j) => t + mix[j] * v[i], 0));
    const length = norm(axis);
    const sign = dot(axis, vectors[n - 1]) < 0 ? -1 : 1;
    return axis.map((x) => (length > 0 ? (sign * x) / length : 0));
  });
  return { axes, seen: all > 0 ? (values[n - 1] + Math.max(0, values[n - 2])) / all : 1 };
}

/** Edited parameters beside the trained ones. */
async function editsOf(
  flat: Flat<ecif.Bilinear>,
  theta: ecif.Bilinear,
  edited: Readonly<Record<DrawnRung | 'retrained', ecif.Bilinear>>,
  evaluation: (theta: ecif.Bilinear) => ecif.Tensor,
): Promise<Pick<RemovalFound, 'edits' | 'seen'> & { readonly axes: readonly Float64Array[] }> {
  const start = await flat.toVector(theta);
  const before = await ecif.itemOf(() => evaluation(theta));
  const names = [...DRAWN, 'retrained'] as const;
  const moved: Float64Array[] = [];
  for (const name of names) moved.push((await flat.toVector(edited[name])).map((x, i) => x - start[i]));
  const truth = moved[names.length - 1];
  const change = norm(truth);
  const { axes, seen } = principal(moved.slice(1));
  const noise = 1e3 * flat.device.epsilon * Math.max(1, norm(start));
  const entries: [string, Edit][] = [];
  for (const [i, name] of names.entries()) {
    entries.push([
      name,
      {
        at: [dot(moved[i], axes[0]), dot(moved[i], axes[1])],
        length: norm(moved[i]),
        error: change > noise ? distance(moved[i], truth) / change : null,
        change: (await ecif.itemOf(() => evaluation(edited[name]))) - before,
      },
    ]);
  }
  return { edits: Object.fromEntries(entries) as RemovalFound['edits'], seen, axes };
}

/** The entries of a Hessian in two directions. */
async function curvatureIn(
  f: (theta: ecif.Bilinear) => ecif.Tensor,
  theta: ecif.Bilinear,
  flat: Flat<ecif.Bilinear>,
  [a, b]: readonly Float64Array[],
): Promise<[number, number, number]> {
  const product = (v: Float64Array): Promise<Float64Array> => flat.read(() => ecif.hvp(f, theta, flat.toTree(v)));
  const [ha, hb] = [await product(a), await product(b)];
  return [dot(a, ha), dot(a, hb), dot(b, hb)];
}

export const removalFound = computation<Solved & { readonly remove: readonly number[] }, RemovalFound>({
  wants: 'float64',
  run: (device, { problem: asked, theta: values, remove }) =>
    withProblem(asked, device, async ({ problem, start }, evaluation, keep) => {
      const flat = new Flat(start);
      const theta = keep(flat.toTree(Float64Array.from(values)));
      const h = keep(await ecif.curvatureAt(ecif.totalLoss(problem), theta));
      const removal = ecif.removalOf(problem, theta, segmentOf(asked, remove), h);
      const edited: Record<string, ecif.Bilinear> = {};
      for (const rung of DRAWN) edited[rung] = keep(await RUNGS[rung](removal));
      const retrained = await ecif.minimise(removal.without, theta);
      keep(retrained.theta);
      const all = { ...edited, retrained: retrained.theta } as Record<DrawnRung | 'retrained', ecif.Bilinear>;
      const { axes, ...found } = await editsOf(flat, theta, all, evaluation);
      const curvature = await curvatureIn(removal.without, retrained.theta, flat, axes);
      return { ...found, curvature, iterations: retrained.iterations };
    }),
});

export const leftOut = computation<Solved & { readonly pair: number }, LeftOut>({
  wants: 'float64',
  run: (device, { problem: asked, theta: values, pair }) =>
    withProblem(asked, device, async ({ problem, start }, evaluation, keep) => {
      const theta = keep(new Flat(start).toTree(Float64Array.from(values)));
      const h = keep(await ecif.curvatureAt(ecif.totalLoss(problem), theta));
      const removal = ecif.removalOf(problem, theta, segmentOf(asked, [pair]), h);
      const newton = keep(await RUNGS.Newton(removal));
      const retrained = keep((await ecif.minimise(removal.without, theta)).theta);
      const before = await ecif.itemOf(() => evaluation(theta));
      const change = async (t: ecif.Bilinear): Promise<number> => (await ecif.itemOf(() => evaluation(t))) - before;
      return { actual: await change(retrained), newton: await change(newton) };
    }),
});
