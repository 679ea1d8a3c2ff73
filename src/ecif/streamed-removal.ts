// Removing pairs from a model trained on more batches than can be held: the same ladder, its parts summed batch by batch.

import { EcifError } from '../array/errors.ts';
import { hvp } from '../autodiff/curvature.ts';
import { add } from '../autodiff/ops/binary.ts';
import type { Tensor } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { similarities } from '../models/model.ts';
import { objectiveOf, type StreamedLoss, sumOverBatches } from '../models/streamed.ts';
import type { LostForm, Removal } from './removal.ts';
import type { CurvatureSolver } from './solver.ts';
import { type Directions, neg, pos } from './terms.ts';

/** A set of pairs by their rows, checked. */
function rowSet(removed: Iterable<number>, partitions: StreamedLoss<unknown, unknown>['partitions']): Set<number> {
  const rows = new Set(removed);
  const known = new Set(partitions.flatMap((batches) => batches.flatMap((members) => [...members])));
  const odd = [...rows].find((row) => !known.has(row));
  if (odd !== undefined) throw new EcifError(`remove: row ${odd} is in no batch; give rows that were trained on`);
  return rows;
}

/**
 * The loss after true removal: every batch without the removed pairs. What is left of a batch may be nothing.
 * @eq eq-removed-loss
 * @example const { theta } = await settle(withoutRows(loss, [3, 17]), start, options); // retraining
 */
export function withoutRows<T, B>(loss: StreamedLoss<T, B>, removed: Iterable<number>): StreamedLoss<T, B> {
  const rows = rowSet(removed, loss.partitions);
  const kept = (members: Uint32Array): Uint32Array => members.filter((row) => !rows.has(row));
  return {
    ...loss,
    partitions: loss.partitions.map((batches) => batches.map(kept).filter((members) => members.length > 0)),
  };
}

const both = ({ t2i, i2t }: Directions): Tensor => add(t2i, i2t);

/** What the pairs at some positions contribute to a batch loss, on S. */
const lostOn = (s: Tensor, positions: readonly number[], form: LostForm): Tensor =>
  form === 'positives only' ? both(pos(s, positions)) : add(both(pos(s, positions)), both(neg(s, positions, form)));

/** The removal of pairs from a streamed model. */
export interface StreamedRemoval<T, B> extends Removal<T> {
  /** The loss after true removal. */
  readonly without: StreamedLoss<T, B>;
}

/**
 * Prepares the removal of a set from a model trained to θ̂; only batches that hold some of the set are touched before the
 * Newton steps.
 * @param removed rows of the pairs
 * @param h H at θ̂
 * @param solverAt the curvature of a loss at θ, ready to be inverted, for Newton steps after removal
 * @example const edited = await removeLinear(streamedRemoval(loss, theta, [3, 17], h, solverAt), 'corrected');
 */
export function streamedRemoval<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  removed: Iterable<number>,
  h: Pick<CurvatureSolver<T>, 'solve'>,
  solverAt: (loss: StreamedLoss<T, B>, theta: T) => Promise<CurvatureSolver<T>>,
): StreamedRemoval<T, B> {
  const without = withoutRows(loss, removed);
  const rows = new Set(removed);
  const touched = {
    ...loss,
    partitions: loss.partitions.map((batches) => batches.filter((members) => members.some((row) => rows.has(row)))),
  };
  const positionsOf = (members: Uint32Array): number[] =>
    Array.from(members.keys()).filter((i) => rows.has(members[i]));
  const lost = (form: LostForm, make: (f: (t: T) => Tensor) => T): Promise<T> =>
    sumOverBatches(touched, theta, (batch, members) =>
      make((t) => lostOn(similarities(loss.model, t, batch), positionsOf(members), form)),
    );
  return {
    theta,
    space: treeSpace<T>(),
    solve: (b) => h.solve(b),
    lostGradient: (form) => lost(form, (f) => grad(f)(theta)),
    lostProduct: (v) => lost('exact', (f) => hvp(f, theta, v)),
    without,
    newtonStep: async (at) => {
      const after = await solverAt(without, at);
      try {
        const { gradient } = await objectiveOf(without)(at);
        const step = await after.solve(gradient);
        treeSpace<T>().release(gradient);
        return step;
      } finally {
        after.dispose();
      }
    },
  };
}
