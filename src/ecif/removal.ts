// Removing pairs from a trained model without training again: the ladder of estimators, from the printed one upward.

import { EcifError } from '../array/errors.ts';
import { hvp } from '../autodiff/curvature.ts';
import { add } from '../autodiff/ops/binary.ts';
import { contrastive } from '../autodiff/ops/contrastive.ts';
import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import { lu, luSolve } from '../linalg/lu.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { lossOf } from './influence.ts';
import { similarities } from '../models/model.ts';
import { decayTerm, type Problem } from './objective.ts';
import type { Seg } from './seg.ts';
import { curvatureAt, type CurvatureSolver, solveFor } from './solver.ts';
import { type NegForm, removedLoss } from './terms.ts';

/**
 * The objective after true removal: rows and columns of the removed pairs dropped.
 * @eq eq-removed-loss
 */
export function lossWithout<T, B>({ model, batches, decay, centre }: Problem<T, B>, seg: Seg): (theta: T) => Tensor {
  const removed = new Map(seg.map(({ batch, positions }) => [batch, positions]));
  return (theta) =>
    batches
      .map((members, batch) => {
        const s = similarities(model, theta, members);
        const positions = removed.get(batch);
        return positions === undefined ? contrastive(s) : removedLoss(s, positions);
      })
      .reduce(add, decayTerm(theta, decay, centre));
}

/**
 * Removal by influence: θ̃ = θ̂ − positiveIF − negativeIF, whatever form the negatives have.
 * @eq eq-edit
 */
export const removeByInfluence = <T>(theta: T, positiveIF: T, negativeIF: T): T =>
  treeSpace<T>().combine([1, -1, -1], [theta, positiveIF, negativeIF]);

/** What every estimator of one removal starts from. */
export interface Removal<T> {
  readonly theta: T;
  /** H at θ̂. */
  readonly h: CurvatureSolver<T>;
  /** Pos + Neg in one form, as a function of the parameters. */
  lost(form: NegForm): (theta: T) => Tensor;
  /** The loss after true removal, F. */
  readonly without: (theta: T) => Tensor;
}

/** Prepares the removal of a set from a model trained to θ̂. */
export const removalOf = <T, B>(problem: Problem<T, B>, theta: T, seg: Seg, h: CurvatureSolver<T>): Removal<T> => ({
  theta,
  h,
  lost: (form) => lossOf(problem, seg, form),
  without: lossWithout(problem, seg),
});

/** One linear solve with H: θ̃ = θ̂ + H⁻¹(∇Pos + ∇Neg). `published` and `corrected` are ECIF, `exact` has no linearisation. */
export async function removeLinear<T>({ theta, h, lost }: Removal<T>, form: NegForm): Promise<T> {
  const step = await solveFor(h, () => grad(lost(form))(theta));
  return moved(theta, [1], [step]);
}

/** θ + Σ k·step; the steps are given back. */
function moved<T>(theta: T, factors: readonly number[], steps: readonly T[]): T {
  const result = treeSpace<T>().combine([1, ...factors], [theta, ...steps]);
  disposeTree(steps);
  return result;
}

/** Whether the guard of {@link removeRescaled} held, and the factor used. */
export interface Rescaled<T> {
  readonly theta: T;
  readonly factor: number;
  readonly guarded: boolean;
}

/**
 * The exact gradient's step x = H⁻¹g at the length that minimises the quadratic model with H₋ = H − ΔH:
 * x·(xᵀg)/(xᵀg − xᵀΔH·x). One solve and one Hessian product of the touched batches; factor 1 where that is not convex.
 */
export async function removeRescaled<T>({ theta, h, lost }: Removal<T>): Promise<Rescaled<T>> {
  const space = treeSpace<T>();
  const g = scope(() => grad(lost('exact'))(theta));
  const x = await h.solve(g);
  const dx = scope(() => hvp(lost('exact'), theta, x));
  const [xg, xdx] = await space.dots([
    [x, g],
    [x, dx],
  ]);
  const guarded = !(xg - xdx > 0);
  const factor = guarded ? 1 : xg / (xg - xdx);
  disposeTree([g, dx]);
  return { theta: moved(theta, [factor], [x]), factor, guarded };
}

/** Two terms of the Neumann series of H₋⁻¹: θ̂ + x + H⁻¹ΔH·x. Two solves. */
export async function removeNeumann<T>({ theta, h, lost }: Removal<T>): Promise<T> {
  const x = await solveFor(h, () => grad(lost('exact'))(theta));
  const y = await solveFor(h, () => hvp(lost('exact'), theta, x));
  return moved(theta, [1, 1], [x, y]);
}

/**
 * The minimiser of the quadratic model with H₋ over span{x, H⁻¹ΔH·x, …} of k vectors; k solves.
 * @param k at least 1
 */
export async function removeKrylov<T>({ theta, h, lost }: Removal<T>, k: number): Promise<T> {
  if (!(Number.isInteger(k) && k >= 1)) throw new EcifError(`removeKrylov: k = ${k}; take a whole number ≥ 1`);
  const space = treeSpace<T>();
  const g = scope(() => grad(lost('exact'))(theta));
  // H·v of each basis vector is what it was solved from.
  const [basis, images, differences]: [T[], T[], T[]] = [[], [g], []];
  for (let i = 0; i < k; i++) {
    const v = await h.solve(images[i]);
    basis.push(v);
    differences.push(scope(() => hvp(lost('exact'), theta, v)));
    images.push(differences[i]);
  }
  const pairs = basis.flatMap((v) => [
    [v, g],
    ...basis.flatMap((_, j) => [
      [v, images[j]],
      [v, differences[j]],
    ]),
  ]);
  const dots = await space.dots(pairs as [T, T][]);
  const width = 1 + 2 * k;
  const right = Float64Array.from(basis, (_, i) => dots[i * width]);
  const matrix = Float64Array.from({ length: k * k }, (_, at) => {
    const first = Math.floor(at / k) * width + 1 + 2 * (at % k);
    return dots[first] - dots[first + 1];
  });
  const coefficients = luSolve(lu(matrix, k), right);
  disposeTree([g, differences]);
  return moved(theta, [...coefficients], basis);
}

/**
 * Newton removal: steps −∇²F(θ)⁻¹∇F(θ) on the loss after true removal. The first one, from a stationary θ̂, is
 * H₋⁻¹(∇Pos + ∇Neg_exact) with H₋ the Hessian after removal.
 */
export async function removeByNewton<T>(
  { theta, without }: Pick<Removal<T>, 'theta' | 'without'>,
  steps = 1,
): Promise<T> {
  let current = theta;
  for (let i = 0; i < steps; i++) {
    const at = current;
    const h = await curvatureAt(without, at);
    const step = await solveFor(h, () => grad(without)(at));
    h.dispose();
    current = moved(at, [-1], [step]);
    if (i > 0) disposeTree(at);
  }
  return current;
}
