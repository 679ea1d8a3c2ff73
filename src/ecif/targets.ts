// Evaluation targets: losses of chosen pairs of an evaluation set, whose gradients the scores are about.

import { EcifError } from '../array/errors.ts';
import { add, mul } from '../autodiff/ops/binary.ts';
import { sum } from '../autodiff/ops/reduce.ts';
import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import { valueAndGrad } from '../autodiff/transforms.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { similarities } from '../models/model.ts';
import type { StreamedLoss } from '../models/streamed.ts';
import { anchorLosses } from './objective.ts';
import { indicator } from './terms.ts';

/** The mean loss, in both directions, of some pairs of an evaluation set as anchors of their batches. */
export interface Target {
  readonly name: string;
  /** Rows of the pairs; null for all. */
  readonly rows: ReadonlySet<number> | null;
}

/** A target at θ. */
export interface TargetGradient<T> {
  readonly name: string;
  readonly pairs: number;
  /** The mean loss. */
  readonly value: number;
  readonly gradient: T;
}

/** Pairs batched for evaluation. */
type Evaluation<T, B> = Pick<StreamedLoss<T, B>, 'model' | 'partitions' | 'batch'>;

const positionsOf = ({ rows }: Target, members: Uint32Array): number[] =>
  Array.from(members.keys()).filter((i) => rows === null || rows.has(members[i]));

/**
 * Value and gradient of every target in one pass over the evaluation pairs, one batch at a time; each of its partitions
 * counts alike.
 * @throws EcifError for a target without a pair
 * @example const [{ gradient }] = await targetGradients(evaluation, theta, [{ name: 'validation', rows: null }]);
 */
export async function targetGradients<T, B>(
  { model, partitions, batch }: Evaluation<T, B>,
  theta: T,
  targets: readonly Target[],
): Promise<TargetGradient<T>[]> {
  const space = treeSpace<T>();
  const sums = targets.map(() => ({ value: 0, count: 0, gradient: space.zeros(theta) }));
  for (const members of partitions.flat()) {
    const pairs = await batch(members);
    for (const [i, target] of targets.entries()) {
      const positions = positionsOf(target, members);
      if (positions.length === 0) continue;
      const loss = (t: T): Tensor => {
        const s = similarities(model, t, pairs);
        const { t2i, i2t } = anchorLosses(s);
        return sum(mul(indicator(s, positions), add(t2i, i2t)));
      };
      const found = scope(() => valueAndGrad(loss)(theta));
      const next = space.combine([1, 1], [sums[i].gradient, found.grad]);
      sums[i].value += await found.value.item();
      sums[i].count += positions.length;
      disposeTree([sums[i].gradient, found.grad, found.value]);
      sums[i].gradient = next;
    }
    disposeTree(pairs);
  }
  return sums.map(({ value, count, gradient }, i) => {
    const { name } = targets[i];
    if (count === 0) throw new EcifError(`target ${JSON.stringify(name)}: no pair of the evaluation set; leave it out`);
    const mean = space.combine([1 / count], [gradient]);
    disposeTree(gradient);
    return { name, pairs: count / partitions.length, value: value / count, gradient: mean };
  });
}
