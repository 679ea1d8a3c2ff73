// Influence of a set of pairs on the parameters, as positives and as negatives.

import { add } from '../autodiff/ops/binary.ts';
import { grad } from '../autodiff/transforms.ts';
import { disposeTree, type Tensor } from '../autodiff/tensor.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { similarities } from '../models/model.ts';
import { decayTerm, type Problem } from './objective.ts';
import { normalSeg, type Seg } from './seg.ts';
import { type CurvatureSolver, solveFor } from './solver.ts';
import { both, neg, type NegForm, pos } from './terms.ts';

/** Σ over the batches of a Seg of a term on S. */
export const overSeg = <T, B>(
  { model, batches }: Problem<T, B>,
  seg: Seg,
  term: (s: Tensor, removed: readonly number[]) => Tensor,
) => {
  const set = normalSeg(seg, batches.length);
  return (theta: T): Tensor =>
    set.length === 0
      ? decayTerm(theta, 0)
      : set.map(({ batch, positions }) => term(similarities(model, theta, batches[batch]), positions)).reduce(add);
};

/**
 * Pos(D*, Seg) as a function of the parameters.
 * @eq eq-pos
 * @eq prop-positive-additive
 */
export const posOf = <T, B>(problem: Problem<T, B>, seg: Seg): ((theta: T) => Tensor) =>
  overSeg(problem, seg, (s, removed) => both(pos(s, removed)));

/**
 * Neg(D*, Seg) in one of its forms, as a function of the parameters.
 * @eq eq-neg-taylor
 */
export const negOf = <T, B>(problem: Problem<T, B>, seg: Seg, form: NegForm): ((theta: T) => Tensor) =>
  overSeg(problem, seg, (s, removed) => both(neg(s, removed, form)));

/**
 * Pos + Neg of a set: the paper's L'.
 * @eq prop-pair-loss-convex
 * @eq erratum-10-set-gradient
 */
export const lossOf = <T, B>(problem: Problem<T, B>, seg: Seg, form: NegForm): ((theta: T) => Tensor) => {
  const [p, n] = [posOf(problem, seg), negOf(problem, seg, form)];
  return (theta) => add(p(theta), n(theta));
};

/** −H⁻¹·∇f(θ). */
export async function influenceOf<T>(f: (theta: T) => Tensor, theta: T, h: CurvatureSolver<T>): Promise<T> {
  const x = await solveFor(h, () => grad(f)(theta));
  const influence = treeSpace<T>().combine([-1], [x]);
  disposeTree(x);
  return influence;
}

/**
 * positive-IF(D*, Seg) = −H⁻¹·∇Pos.
 * @eq prop-positive-if
 */
export async function positiveIF<T, B>(problem: Problem<T, B>, theta: T, seg: Seg, h: CurvatureSolver<T>): Promise<T> {
  return influenceOf(posOf(problem, seg), theta, h);
}

/**
 * negative-IF(D*, Seg) = −H⁻¹·∇Neg, for the form asked for.
 * @eq prop-negative-if
 * @eq erratum-08-taylor-point
 * @deviation the derivative in ζ is taken at ζ = 1, with the form of Neg that is asked for
 */
export async function negativeIF<T, B>(
  problem: Problem<T, B>,
  theta: T,
  seg: Seg,
  form: NegForm,
  h: CurvatureSolver<T>,
): Promise<T> {
  return influenceOf(negOf(problem, seg, form), theta, h);
}
