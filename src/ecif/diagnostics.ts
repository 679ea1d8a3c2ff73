// What makes an influence doubtful: a model that is not trained to the end, negatives that matter too much, duplicates.

import { norm } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { affine } from '../autodiff/ops/unary.ts';
import { disposeTree, readAll, scope } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import { similarities } from '../models/model.ts';
import { type Problem, totalLoss } from './objective.ts';
import { type CurvatureSolver, solveFor } from './solver.ts';
import type { PairPlace } from './sweep.ts';

/** How far θ̂ is from a stationary point. */
export interface Stationarity {
  /** ‖∇L_Total(θ̂)‖. */
  readonly gradientNorm: number;
  /** ‖H⁻¹∇L_Total(θ̂)‖: how far one Newton step would still move, the error that every influence carries. */
  readonly distance: number;
}

/**
 * Measures the gradient that training left, and its effect.
 * @eq erratum-11-stationarity
 * @deviation the gradient is that of L_Total, decay included
 */
export async function stationarityOf<T, B>(
  problem: Problem<T, B>,
  theta: T,
  h: CurvatureSolver<T>,
): Promise<Stationarity> {
  const flat = new Flat(theta);
  const gradient = (): T => grad(totalLoss(problem))(theta);
  const step = await solveFor(h, gradient);
  const distance = norm(await flat.toVector(step));
  disposeTree(step);
  return { gradientNorm: norm(await flat.read(gradient)), distance };
}

/** What is doubtful about one pair. */
export interface PairFlag extends PairPlace {
  /** Largest −log(1 − P) − P over the rows and columns where the pair is a negative: what Neg's linearisation leaves out. */
  readonly gap: number;
  /** The gap is above the limit: prefer the exact Neg. */
  readonly unreliable: boolean;
  /** Positions in the batch with the same text, and with the same image, as far as the model can tell. */
  readonly sameText: readonly number[];
  readonly sameImage: readonly number[];
}

/** P = 0.42: there the first-order term misses a quarter of −log(1 − P). */
const GAP_LIMIT = 0.125;

/** Rows that equal row k up to rounding. */
function twinsOf(rows: ArrayLike<number>, count: number, k: number, epsilon: number): number[] {
  const width = rows.length / count;
  const at = (i: number, j: number): number => rows[i * width + j];
  const scale = Math.max(...Array.from({ length: width }, (_, j) => Math.abs(at(k, j))));
  const same = (i: number): boolean => {
    for (let j = 0; j < width; j++) if (Math.abs(at(i, j) - at(k, j)) > 16 * epsilon * scale) return false;
    return true;
  };
  return Array.from({ length: count }, (_, i) => i).filter((i) => i !== k && same(i));
}

/** log Σ eˣ. */
function logSumExp(v: readonly number[]): number {
  const top = Math.max(...v);
  return top + Math.log(v.reduce((t, x) => t + Math.exp(x - top), 0));
}

/** −log(1 − P) − P from logits, P the share of `of` among all, `all` their log-sum-exp. */
function gapOf(logits: readonly number[], all: number, of: number): number {
  const p = Math.exp(logits[of] - all);
  return p < 0.5 ? -Math.log1p(-p) - p : all - logSumExp(logits.filter((_, j) => j !== of)) - p;
}

/**
 * Looks at every pair of every batch: whether its Neg may be linearised, and whether it has duplicates (false negatives).
 * @param limit gap above which a pair is flagged
 */
export async function flagPairs<T, B>(
  { model, batches }: Problem<T, B>,
  theta: T,
  limit = GAP_LIMIT,
): Promise<PairFlag[]> {
  const flags: PairFlag[] = [];
  for (const [batch, members] of batches.entries()) {
    const made = scope(() => {
      const { u, v } = model.embed(theta, members);
      return { u: affine(u, 1, 0), v: affine(v, 1, 0), s: similarities(model, theta, members) };
    });
    const { epsilon } = made.s.device;
    const count = made.s.shape[0];
    const [u, v, s] = await readAll([made.u, made.v, made.s]);
    disposeTree(made);
    const at = (i: number, j: number): number => s[i * count + j];
    const all = Array.from({ length: count }, (_, i) => i);
    const anchors = all.flatMap((k) =>
      [all.map((j) => at(k, j)), all.map((j) => at(j, k))].map((logits) => ({ k, logits, sum: logSumExp(logits) })),
    );
    for (const position of all) {
      const gap = anchors.reduce(
        (worst, { k, logits, sum }) => (k === position ? worst : Math.max(worst, gapOf(logits, sum, position))),
        0,
      );
      flags.push({
        ...{ batch, position, gap, unreliable: gap > limit },
        sameText: twinsOf(u, count, position, epsilon),
        sameImage: twinsOf(v, count, position, epsilon),
      });
    }
  }
  return flags;
}
