// The error bound as the paper prints it, with its constants, so that it can be compared with what holds.

import { norm } from '../array/vector.ts';
import { hessian } from '../autodiff/curvature.ts';
import { sub } from '../autodiff/ops/binary.ts';
import type { Tensor } from '../autodiff/tensor.ts';
import { symmetricEigen } from '../linalg/symmetric-eigen.ts';
import { diameters, lseLipschitz, termFeatures } from './bounds.ts';
import { lossOf } from './influence.ts';
import { type Problem, totalLoss } from './objective.ts';
import type { Seg } from './seg.ts';
import { pairGradients, plus } from './sweep.ts';
import type { NegForm } from './terms.ts';

/** Lipschitz constants of the Hessians: C_H of a batch loss, C'_H of Pos + Neg of one removed pair. */
export interface TheoremConstants {
  readonly batch: number;
  readonly pair: number;
}

/** The printed bound and everything it is made of. */
export interface PrintedTheorem {
  /** C'_H·C_H⁻·|D*|²·C'_L² / (2·(σ'_min + δ)³). */
  readonly first: number;
  /** (2δ + σ_min + σ'_min) / ((δ + σ'_min)·(δ + σ_min)) · C'_L·|D*|. */
  readonly second: number;
  readonly total: number;
  readonly constants: TheoremConstants;
  /** C'_L: the largest ‖∇(Pos + Neg)‖ of a pair. */
  readonly gradient: number;
  /** σ_min of L_Total, σ'_min of L⁻, smallest singular values at θ̂. */
  readonly least: { readonly before: number; readonly after: number };
}

/**
 * L⁻ = L_Total − L'(D*): what the paper minimises in place of the loss after removal.
 * @eq erratum-05-surrogate-minimiser
 * @eq erratum-05-convexity
 */
export const surrogateLoss = <T, B>(problem: Problem<T, B>, seg: Seg, form: NegForm): ((theta: T) => Tensor) => {
  const [total, lost] = [totalLoss(problem), lossOf(problem, seg, form)];
  return (theta) => sub(total(theta), lost(theta));
};

/**
 * Constants that hold for similarities linear in θ and the corrected Neg. Over features of diameter d the Hessian of a
 * log-sum-exp changes at most d³/(6√3) per unit of θ, that of one softmax share at most d³/8.
 */
export async function theoremConstants<T, B>(problem: Problem<T, B>, theta: T, seg: Seg): Promise<TheoremConstants> {
  const widths = (await termFeatures(problem, theta, [])).map(diameters);
  const sum = (v: readonly number[], f: (d: number) => number): number => v.reduce((total, d) => total + f(d), 0);
  const pairs = seg.flatMap(({ batch, positions }) =>
    positions.map((n) => {
      const own = (_: number, i: number): boolean => i >> 1 === n;
      const others = widths[batch].filter((_, i) => i >> 1 !== n);
      return sum(widths[batch].filter(own), lseLipschitz) + sum(others, (d) => d ** 3 / 8);
    }),
  );
  return { batch: Math.max(...widths.map((w) => sum(w, lseLipschitz))), pair: Math.max(...pairs) };
}

/**
 * The theorem of the appendix, as printed.
 * @eq thm-error-bound
 * @eq erratum-05-stray-constant
 * @eq erratum-05-vacuous
 * @param constants C_H and C'_H; from {@link theoremConstants} unless given
 * @deviation none: kept as printed. It is no bound, see erratum-05 in docs/errata.md
 */
export async function printedTheorem<T, B>(
  problem: Problem<T, B>,
  theta: T,
  seg: Seg,
  constants?: TheoremConstants,
): Promise<PrintedTheorem> {
  const used = constants ?? (await theoremConstants(problem, theta, seg));
  const gradients = (await pairGradients(problem, theta, 'corrected')).map(({ pos, neg }) => norm(plus(pos, neg)));
  const least = async (f: (t: T) => Tensor): Promise<number> => {
    const { size, matrix } = await hessian(f, theta);
    return symmetricEigen(matrix, size).values.reduce((m, x) => Math.min(m, Math.abs(x)), Infinity);
  };
  const [before, after] = [await least(totalLoss(problem)), await least(surrogateLoss(problem, seg, 'corrected'))];
  const { decay: delta, batches } = problem;
  const removed = seg.reduce((n, { positions }) => n + positions.length, 0);
  const gradient = Math.max(...gradients);
  const hessianOfLess = batches.length * used.batch + removed * used.pair;
  const first = (used.pair * hessianOfLess * removed ** 2 * gradient ** 2) / (2 * (after + delta) ** 3);
  const second = ((2 * delta + before + after) / ((delta + after) * (delta + before))) * gradient * removed;
  return { first, second, total: first + second, constants: used, gradient, least: { before, after } };
}
