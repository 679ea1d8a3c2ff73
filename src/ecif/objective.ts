// The contrastive objective: similarities, batch losses by direction, their sum with weight decay.

import { add, mul, sub } from '../autodiff/ops/binary.ts';
import { contrastive } from '../autodiff/ops/contrastive.ts';
import { take } from '../autodiff/ops/indexing.ts';
import { reshape } from '../autodiff/ops/layout.ts';
import { matmul } from '../autodiff/ops/matmul.ts';
import { logSumExp, sum } from '../autodiff/ops/reduce.ts';
import { affine, square } from '../autodiff/ops/unary.ts';
import { treeLeaves } from '../array/tree.ts';
import { type Tensor, tensor } from '../autodiff/tensor.ts';
import type { Model } from '../models/model.ts';

/** What is minimised: Σ over batches of the contrastive loss, plus δ/2·‖θ‖². */
export interface Problem<T, B> {
  readonly model: Model<T, B>;
  readonly batches: readonly B[];
  /** δ > 0. */
  readonly decay: number;
}

/** S_ij = s(u_i, v_j), (B, B), already divided by the temperature. */
export function similarities<T, B>(model: Model<T, B>, theta: T, batch: B): Tensor {
  const { u, v } = model.embed(theta, batch);
  const scale = model.scale(theta);
  if (typeof scale === 'number') return matmul(u, v, { form: 'nt', alpha: scale });
  return mul(matmul(u, v, { form: 'nt' }), scale);
}

/** The diagonal of a square matrix. */
export function diagonal(s: Tensor): Tensor {
  const n = s.shape[0];
  const index = tensor(
    s.device,
    Int32Array.from({ length: n }, (_, i) => i),
    [n, 1],
    'int',
  );
  return reshape(take(s, index), [n]);
}

/** The loss of each pair as anchor, by direction: LSE_j S_kj − S_kk and LSE_j S_jk − S_kk, (B) each. */
export function anchorLosses(s: Tensor): { t2i: Tensor; i2t: Tensor } {
  const d = diagonal(s);
  return { t2i: sub(logSumExp(s, 1), d), i2t: sub(logSumExp(s, 0), d) };
}

/** L_Batch, both directions. */
export const batchLoss = <T, B>(model: Model<T, B>, theta: T, batch: B): Tensor =>
  contrastive(similarities(model, theta, batch));

/** δ/2·‖θ‖². */
export function decayTerm(theta: unknown, decay: number): Tensor {
  const squares = treeLeaves<Tensor>(theta).map((x) => sum(square(x)));
  return affine(squares.reduce(add), decay / 2, 0);
}

/** L_Total as a function of the parameters. */
export function totalLoss<T, B>({ model, batches, decay }: Problem<T, B>): (theta: T) => Tensor {
  return (theta) => batches.map((batch) => batchLoss(model, theta, batch)).reduce(add, decayTerm(theta, decay));
}
