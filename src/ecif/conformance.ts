// Every quantity of a convex reference file, computed here from its inputs alone.

import { EcifError } from '../array/errors.ts';
import { addScaled, dot } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { grad } from '../autodiff/transforms.ts';
import { itemOf, type Tensor } from '../autodiff/tensor.ts';
import { hessian } from '../autodiff/curvature.ts';
import type { Device } from '../device/open.ts';
import { symmetricEigen } from '../linalg/symmetric-eigen.ts';
import type { Bilinear } from '../models/bilinear.ts';
import { type ConvexFile, placeConvex } from './convex-file.ts';
import { negativeIF, negOf, positiveIF, posOf } from './influence.ts';
import { batchLoss } from '../models/model.ts';
import { totalLoss } from './objective.ts';
import { lossWithout, removalOf, removeByInfluence, removeByNewton } from './removal.ts';
import { minimise } from './retrain.ts';
import { relativeScores } from './relative.ts';
import { pairScores } from './scores.ts';
import { segOf } from './seg.ts';
import { curvatureAt } from './solver.ts';
import type { PairPlace } from './sweep.ts';
import type { NegForm } from './terms.ts';

/** A tree of numbers, named as in the reference files. */
export type Quantities = { [name: string]: number | number[] | Quantities };

const FORMS: readonly NegForm[] = ['corrected', 'published', 'exact'];
const list = (v: Float64Array): number[] => [...v];

/** {form: f(form)} for the three forms of Neg. */
export async function perForm<R>(f: (form: NegForm) => Promise<R>): Promise<Record<NegForm, R>> {
  const out: Partial<Record<NegForm, R>> = {};
  for (const form of FORMS) out[form] = await f(form);
  return out as Record<NegForm, R>;
}

/** Numbers of pairs in the order of the file. */
function byPair<P extends PairPlace>(
  { batches, text }: ConvexFile,
  pairs: readonly P[],
  number: (pair: P) => number,
): number[] {
  const out = new Array<number>(text.length);
  for (const pair of pairs) out[batches[pair.batch][pair.position]] = number(pair);
  return out;
}

/** All quantities of one file, on one device. */
export async function convexQuantities(file: ConvexFile, device: Device): Promise<Quantities> {
  const { problem, start, validation } = placeConvex(file, device);
  const loss = totalLoss(problem);
  const { theta } = await minimise(loss, start);
  const flat = new Flat(theta);
  const read = async (tree: Bilinear): Promise<number[]> => list(await flat.toVector(tree));
  const gradientOf = (f: (t: Bilinear) => Tensor): Promise<Float64Array> => flat.read(() => grad(f)(theta));
  const value = (f: (t: Bilinear) => Tensor, at = theta): Promise<number> => itemOf(() => f(at));
  const seg = segOf(file.batches, file.remove);
  const h = await curvatureAt(loss, theta);
  const positive = await positiveIF(problem, theta, seg, h);
  const negative = await perForm((form) => negativeIF(problem, theta, seg, form, h));
  const byInfluence = await perForm(async (form) => removeByInfluence(theta, positive, negative[form]));
  const byNewton = await removeByNewton(removalOf(problem, theta, seg, h));
  const retrained = (await minimise(lossWithout(problem, seg), theta)).theta;
  const evaluation = (t: Bilinear): Tensor => batchLoss(problem.model, t, validation);
  const g = await gradientOf(evaluation);
  const gradient = flat.toTree(g);
  const w = await h.solve(gradient);
  const before = await value(evaluation);
  const change = async (to: Bilinear): Promise<number> => {
    const [a, b] = [await flat.toVector(to), await flat.toVector(theta)];
    return dot(g, addScaled(a, -1, b));
  };
  const { size, matrix } = await hessian(loss, theta);
  return {
    loss: await value(loss),
    theta: await read(theta),
    pos: await value(posOf(problem, seg)),
    gradPos: list(await gradientOf(posOf(problem, seg))),
    neg: await perForm((form) => value(negOf(problem, seg, form))),
    gradNeg: await perForm(async (form) => list(await gradientOf(negOf(problem, seg, form)))),
    positiveIF: await read(positive),
    negativeIF: await perForm((form) => read(negative[form])),
    edited: { ...(await perForm((form) => read(byInfluence[form]))), newton: await read(byNewton) },
    retrained: await read(retrained),
    validationLoss: before,
    taskScore: {
      ...(await perForm((form) => change(byInfluence[form]))),
      newton: await change(byNewton),
      actual: (await value(evaluation, retrained)) - before,
    },
    pairScores: await perForm(async (form) =>
      byPair(file, await pairScores(problem, theta, w, form), ({ score }) => score),
    ),
    relativeScores: byPair(file, await relativeScores(problem, theta, h, gradient), ({ value }) => value),
    hessianEigenvalues: list(symmetricEigen(matrix, size).values),
  };
}

/** One quantity of a file, compared. */
export interface Comparison {
  readonly quantity: string;
  /** Largest difference, relative to the quantity's largest entry. */
  readonly error: number;
  /** Null where the device's precision says nothing of the quantity. */
  readonly tolerance: number | null;
  readonly pass: boolean;
}

/** Compares quantities with expected ones of the same form, name by name. */
export function compareQuantities(
  actual: Quantities,
  expected: Quantities,
  toleranceOf: (quantity: string) => number | null,
  prefix = '',
): Comparison[] {
  const entries = Object.entries(expected);
  if (entries.length === 0)
    throw new EcifError(`expected${prefix === '' ? '' : `.${prefix}`}: found nothing; give the reference values`);
  return entries.flatMap(([key, wanted]) => {
    const quantity = prefix === '' ? key : `${prefix}.${key}`;
    const found = actual[key];
    if (typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)) {
      return compareQuantities((found ?? {}) as Quantities, wanted, toleranceOf, quantity);
    }
    const [a, b] = [[found].flat() as number[], [wanted].flat()];
    if (b.length === 0 || b.some((x) => typeof x !== 'number'))
      throw new EcifError(`expected.${quantity}: found ${JSON.stringify(wanted)?.slice(0, 40)}; give numbers`);
    const peak = b.reduce((m, x) => Math.max(m, Math.abs(x)), Number.MIN_VALUE);
    const worst = b.reduce((m, x, i) => Math.max(m, Math.abs(x - (a[i] ?? NaN))), 0) / peak;
    const error = a.length === b.length ? worst : Infinity;
    const tolerance = toleranceOf(quantity);
    return [{ quantity, error, tolerance, pass: tolerance === null || error <= tolerance }];
  });
}
