// Removing pairs from a model trained on more batches than can be held: the same ladder, its parts summed batch by batch.

import { EcifError } from '../array/errors.ts';
import { add } from '../autodiff/ops/binary.ts';
import { tensor } from '../autodiff/tensor.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { type Stack, stacked } from '../models/stacked.ts';
import {
  batchGradient,
  curvatureAt,
  KEPT_BYTES,
  objectiveOf,
  type OnRows,
  type StreamedLoss,
} from '../models/streamed.ts';
import type { Problem } from './objective.ts';
import type { LostForm, Removal } from './removal.ts';
import type { Seg } from './seg.ts';
import type { CurvatureSolver } from './solver.ts';
import { both, neg, pos } from './terms.ts';

/** A set of pairs by their rows, checked. */
function rowSet(removed: Iterable<number>, partitions: StreamedLoss<unknown, unknown>['partitions']): Set<number> {
  const rows = new Set(removed);
  const known = new Set(partitions.flatMap((batches) => batches.flatMap((members) => [...members])));
  const odd = [...rows].find((row) => !known.has(row));
  if (odd !== undefined) throw new EcifError(`remove: row ${odd} is in no batch; give rows that were trained on`);
  return rows;
}

/** Where rows lie in a batch. */
const positionsIn = (members: Uint32Array, rows: ReadonlySet<number>): number[] =>
  Array.from(members.keys()).filter((i) => rows.has(members[i]));

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

/** Batches of a streamed loss that are at hand, for removals that look at whole batches. */
export interface TouchedBatches<T, B> {
  /** As many times the streamed loss as it has partitions, without the batches that hold none of the set. */
  readonly problem: Problem<T, B>;
  readonly seg: Seg;
  /** H of that many times the streamed loss, all batches included. */
  readonly solver: Pick<CurvatureSolver<T>, 'solve'>;
}

/**
 * The batches that hold some of a set, where they lie in them, and H for them.
 * @param h H of the streamed loss at θ̂; its Gauss-Newton form where S is not linear in θ, as Woodbury's lost curvature is
 * @example
 * const { problem, seg, solver } = await touchedBatches(loss, [3, 17], h);
 * const prepared = await prepareBatches(problem, theta, seg.map(({ batch }) => batch), solver);
 * const { theta: edited } = await removeWoodbury(prepared, seg);
 */
export async function touchedBatches<T, B>(
  { model, partitions, batch, l2, centre }: StreamedLoss<T, B>,
  removed: Iterable<number>,
  h: Pick<CurvatureSolver<T>, 'solve'>,
): Promise<TouchedBatches<T, B>> {
  const rows = rowSet(removed, partitions);
  const touched = partitions.flat().filter((members) => members.some((row) => rows.has(row)));
  const batches: B[] = [];
  for (const members of touched) batches.push(await batch(members));
  const count = partitions.length;
  return {
    problem: { model, batches, decay: l2 * count, ...(centre === undefined ? {} : { centre }) },
    seg: touched.map((members, at) => ({ batch: at, positions: positionsIn(members, rows) })),
    solver: {
      solve: async (b) => {
        const x = await h.solve(b);
        const scaled = treeSpace<T>().combine([1 / count], [x]);
        treeSpace<T>().release(x);
        return scaled;
      },
    },
  };
}

/** What the pairs of a set among some rows contribute to the losses of their batches, on S. */
const lostAmong =
  (rows: ReadonlySet<number>, form: LostForm): OnRows =>
  (s, members) => {
    const gone = Float64Array.from(members, (row) => Number(rows.has(row)));
    const removed = tensor(s.device, gone, s.shape.slice(0, -1));
    const positives = both(pos(s, removed));
    return form === 'positives only' ? positives : add(positives, both(neg(s, removed, form)));
  };

/** What a set contributes as an objective of its own, without L2, over the batches that hold some of it, laid together. */
async function lostLoss<T, B>(
  loss: StreamedLoss<T, B>,
  rows: ReadonlySet<number>,
  form: LostForm,
): Promise<StreamedLoss<T, Stack<B>>> {
  const touched = loss.partitions.map((batches) => batches.filter((members) => members.some((row) => rows.has(row))));
  return { ...(await stacked({ ...loss, partitions: touched, l2: 0 }, false)), on: lostAmong(rows, form) };
}

/** ∇ of what a set contributes, a new tree. */
const lostGradient = async <T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  rows: ReadonlySet<number>,
  form: LostForm,
): Promise<T> => batchGradient(await lostLoss(loss, rows, form), theta);

/**
 * The first-order change of losses if pairs are removed together: the set's score, ∇(Pos + Neg)·w.
 * @param removed rows of the pairs
 * @param along w = H⁻¹·∇ of each loss
 * @example const [change] = await removalScores(loss, theta, [3, 17], [await h.solve(gradVal)]);
 */
export async function removalScores<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  removed: Iterable<number>,
  along: readonly T[],
): Promise<number[]> {
  const space = treeSpace<T>();
  const rows = rowSet(removed, loss.partitions);
  const lost = await lostGradient(loss, theta, rows, 'corrected');
  const changes = await space.dots(along.map((w) => [w, lost] as const));
  space.release(lost);
  return changes;
}

/** The removal of pairs from a streamed model. */
export interface StreamedRemoval<T, B> extends Removal<T> {
  /** The loss after true removal. */
  readonly without: StreamedLoss<T, B>;
}

/**
 * Prepares the removal of a set from a model trained to θ̂; the gradient of what is lost comes from the passes of H where its solver gives
 * it, and from the batches that hold some of the set where not.
 * @param removed rows of the pairs
 * @param h H at θ̂
 * @param solverAt the curvature of a loss at θ, ready to be inverted, for Newton steps after removal
 * @param memory bytes on the device that may be kept of passes over what is lost; 512 MiB unless told
 * @example const edited = await removeLinear(streamedRemoval(loss, theta, [3, 17], h, solverAt), 'corrected');
 */
export function streamedRemoval<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  removed: Iterable<number>,
  h: Pick<CurvatureSolver<T>, 'solve' | 'solveGradient'>,
  solverAt: (loss: StreamedLoss<T, B>, theta: T) => Promise<CurvatureSolver<T>>,
  memory = KEPT_BYTES,
): StreamedRemoval<T, B> {
  const rows = rowSet(removed, loss.partitions);
  const without = withoutRows(loss, rows);
  const { solveGradient } = h;
  return {
    theta,
    space: treeSpace<T>(),
    solve: (b) => h.solve(b),
    lostGradient: (form) => lostGradient(loss, theta, rows, form),
    ...(solveGradient && {
      // 1/P of the published form is infinite in batches that hold none of the set.
      solveLost: (form: LostForm) => (form === 'published' ? null : solveGradient(lostAmong(rows, form))),
    }),
    lostCurvature: async () => curvatureAt(await lostLoss(loss, rows, 'exact'), theta, 'hessian', memory),
    without,
    newtonStep: async (at) => {
      const after = await solverAt(without, at);
      try {
        if (after.solveGradient !== undefined) return await after.solveGradient();
        const { gradient } = await objectiveOf(await stacked(without))(at);
        const step = await after.solve(gradient);
        treeSpace<T>().release(gradient);
        return step;
      } finally {
        after.dispose();
      }
    },
  };
}
