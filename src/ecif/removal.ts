// Removing pairs from a trained model without training again.

import { treeFrom, treeLeaves } from '../array/tree.ts';
import { add, combine } from '../autodiff/ops/binary.ts';
import { contrastive } from '../autodiff/ops/contrastive.ts';
import { grad } from '../autodiff/transforms.ts';
import { scope, type Tensor } from '../autodiff/tensor.ts';
import { negOf, posOf } from './influence.ts';
import { decayTerm, type Problem, similarities } from './objective.ts';
import type { Seg } from './seg.ts';
import { curvatureAt } from './solver.ts';
import { removedLoss } from './terms.ts';

/** The objective after true removal: rows and columns of the removed pairs dropped. */
export function lossWithout<T, B>({ model, batches, decay }: Problem<T, B>, seg: Seg): (theta: T) => Tensor {
  const removed = new Map(seg.map(({ batch, positions }) => [batch, positions]));
  return (theta) =>
    batches
      .map((members, batch) => {
        const s = similarities(model, theta, members);
        const positions = removed.get(batch);
        return positions === undefined ? contrastive(s) : removedLoss(s, positions);
      })
      .reduce(add, decayTerm(theta, decay));
}

/** a + k·b of two trees. */
export const addTrees = <T>(a: T, k: number, b: T): T => {
  const other = treeLeaves<Tensor>(b);
  return treeFrom(
    a,
    treeLeaves<Tensor>(a).map((x, i) => combine(1, x, k, other[i])),
  );
};

/** Removal by influence: θ̃ = θ̂ − positiveIF − negativeIF, whatever form the negatives have. */
export const removeByInfluence = <T>(theta: T, positiveIF: T, negativeIF: T): T =>
  scope(() => addTrees(addTrees(theta, -1, positiveIF), -1, negativeIF));

/** Newton removal: θ̃ = θ̂ + H₋⁻¹(∇Pos + ∇Neg_exact), with H₋ the Hessian after true removal. */
export async function removeByNewton<T, B>(problem: Problem<T, B>, theta: T, seg: Seg): Promise<T> {
  const lost = (t: T): Tensor => add(posOf(problem, seg)(t), negOf(problem, seg, 'exact')(t));
  const h = await curvatureAt(lossWithout(problem, seg), theta);
  const step = await h.solve(scope(() => grad(lost)(theta)));
  h.dispose();
  return scope(() => addTrees(theta, 1, step));
}
