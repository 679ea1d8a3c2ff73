// The contrastive objective: batch losses by direction, their sum with weight decay.

import { add, sub } from '../autodiff/ops/binary.ts';
import { take } from '../autodiff/ops/indexing.ts';
import { reshape, stack, zeros } from '../autodiff/ops/layout.ts';
import { logSumExp, sum } from '../autodiff/ops/reduce.ts';
import { affine, square } from '../autodiff/ops/unary.ts';
import { treeLeaves } from '../array/tree.ts';
import { type Tensor, tensor } from '../autodiff/tensor.ts';
import { batchLoss, FAR, type Model } from '../models/model.ts';

/** What is minimised: Σ over batches of the contrastive loss, plus δ/2·‖θ − θ₀‖². */
export interface Problem<T, B> {
  readonly model: Model<T, B>;
  readonly batches: readonly B[];
  /** δ > 0. */
  readonly decay: number;
  /**
   * θ₀, what the decay pulls to; 0 unless given. A layer whose scale the similarity ignores, such as the last one under
   * a cosine, needs it: without, the loss has no minimiser.
   */
  readonly centre?: T;
}

/** The diagonals of square matrices, (…, B, B) → (…, B). */
export function diagonal(s: Tensor): Tensor {
  const n = s.shape[s.shape.length - 1];
  const rows = s.size / n;
  const index = tensor(
    s.device,
    Int32Array.from({ length: rows }, (_, i) => i % n),
    [rows, 1],
    'int',
  );
  return reshape(take(reshape(s, [rows, n]), index), s.shape.slice(0, -1));
}

/** S with its diagonal far below: what a pair competes with. */
export function withoutDiagonal(s: Tensor): Tensor {
  const n = s.shape[s.shape.length - 1];
  const own = Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? FAR : 0));
  return add(s, tensor(s.device, own, [n, n]));
}

/**
 * The loss of each pair as anchor, by direction: LSE_j S_kj − S_kk and LSE_j S_jk − S_kk, (…, B) each. Written as
 * log(1 + eˣ) with x the log-sum-exp of the others less S_kk: the derivative of a loss near 0 keeps all its digits.
 * @eq eq-batch-loss
 * @eq erratum-11-one-direction
 */
export function anchorLosses(s: Tensor): { t2i: Tensor; i2t: Tensor } {
  const others = withoutDiagonal(s);
  const d = diagonal(s);
  const loss = (axis: -1 | -2): Tensor =>
    logSumExp(stack([sub(logSumExp(others, axis), d), zeros(s.device, d.shape)]), 0);
  return { t2i: loss(-1), i2t: loss(-2) };
}

/**
 * δ/2·‖θ − θ₀‖²; θ₀ = 0 unless given.
 * @eq erratum-12-no-minimiser
 * @deviation θ₀ may be given; the paper has 0
 * @param decay δ
 */
export function decayTerm<T>(theta: T, decay: number, centre?: T): Tensor {
  const leaves = treeLeaves<Tensor>(theta);
  const centres = centre === undefined ? [] : treeLeaves<Tensor>(centre);
  const squares = leaves.map((x, i) => sum(square(i < centres.length ? sub(x, centres[i]) : x)));
  return affine(squares.reduce(add), decay / 2, 0);
}

/**
 * L_Total = Σ L_Batch + δ/2·‖θ − θ₀‖² as a function of the parameters.
 * @eq eq-total-loss
 */
export function totalLoss<T, B>({ model, batches, decay, centre }: Problem<T, B>): (theta: T) => Tensor {
  return (theta) => batches.map((batch) => batchLoss(model, theta, batch)).reduce(add, decayTerm(theta, decay, centre));
}

/**
 * The problem of a model trained over several partitions of its pairs: the mean over partitions of Σ L_Batch, times their
 * number, so that every partition counts as it did in training. A pair of it lies in one batch of every partition.
 * @eq erratum-13-partitions
 * @example overPartitions({ model, decay: 0.1 }, [[a, b], [c, d]]);
 */
export const overPartitions = <T, B>(
  problem: Omit<Problem<T, B>, 'batches'>,
  partitions: readonly (readonly B[])[],
): Problem<T, B> => ({ ...problem, batches: partitions.flat(), decay: problem.decay * partitions.length });
