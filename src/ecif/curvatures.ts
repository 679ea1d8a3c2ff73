// The three curvatures of a removal: H before it, H₋ after it, and ΔH = H − H₋, what is lost; as operators and dense.

import { hessian, hvp } from '../autodiff/curvature.ts';
import type { Tensor } from '../autodiff/tensor.ts';
import { lossOf } from './influence.ts';
import { type Problem, totalLoss } from './objective.ts';
import { lossWithout } from './removal.ts';
import type { Seg } from './seg.ts';

/** The Hessian of one function. */
export interface Curvature<T> {
  /** ∇²f(θ)·v. */
  product(theta: T, v: T): T;
  /** ∇²f(θ), row-major over all parameters. */
  dense(theta: T): Promise<{ size: number; matrix: Float64Array }>;
}

const curvatureOf = <T>(f: (theta: T) => Tensor): Curvature<T> => ({
  product: (theta, v) => hvp(f, theta, v),
  dense: (theta) => hessian(f, theta),
});

/**
 * H of the total loss, H₋ of the loss after true removal, and ΔH of Pos + Neg exact: H = H₋ + ΔH.
 * @eq eq-hessian
 * @example const { lost } = curvaturesOf(problem, seg); const dh = lost.product(theta, x);
 */
export const curvaturesOf = <T, B>(
  problem: Problem<T, B>,
  seg: Seg,
): { readonly before: Curvature<T>; readonly after: Curvature<T>; readonly lost: Curvature<T> } => ({
  before: curvatureOf(totalLoss(problem)),
  after: curvatureOf(lossWithout(problem, seg)),
  lost: curvatureOf(lossOf(problem, seg, 'exact')),
});
