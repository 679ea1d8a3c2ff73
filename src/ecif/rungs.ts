// The ladder of removal estimators by name, on a model trained over batches that come one at a time.

import { EcifError } from '../array/errors.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import type { StreamedLoss } from '../models/streamed.ts';
import { removeByNewton, removeKrylov, removeLinear, removeRescaled } from './removal.ts';
import type { CurvatureSolver } from './solver.ts';
import { streamedRemoval, type StreamedRemoval, touchedBatches } from './streamed-removal.ts';
import { MOST_SIMILARITIES, prepareBatches, removeWoodbury } from './woodbury.ts';

/** Estimators of a removal, from one solve to many. */
export const RUNGS = ['corrected', 'exact', 'rescaled', 'krylov', 'woodbury', 'newton', 'newton-k'] as const;
/** One of {@link RUNGS}. */
export type Rung = (typeof RUNGS)[number];

/** How a rung solves. */
export interface RungOptions<T, B> {
  /** H at θ̂; asked by all but the Newton rungs. Its Gauss-Newton form for `woodbury`. */
  readonly h: Pick<CurvatureSolver<T>, 'solve' | 'solveGradient'>;
  /** The curvature of a loss at θ, for the Newton rungs. */
  solverAt(loss: StreamedLoss<T, B>, theta: T): Promise<CurvatureSolver<T>>;
  /** Newton steps of `newton-k`, 5 unless told; vectors of `krylov`, 2 unless told. */
  readonly steps?: number | undefined;
  /** Told before each Newton step, from 1. */
  onStep?(step: number, of: number): void;
}

/** An edited model. */
export interface EditedModel<T> {
  readonly theta: T;
  /** What is to be known of the step, null for nothing. */
  readonly note: string | null;
}

/** Batches that a removal touches, by how many pairs it leaves in them, over all partitions. */
export interface LeftBatches {
  /** Nothing: the batch drops out. */
  readonly empty: number;
  /** One pair, whose loss is 0. */
  readonly lone: number;
  /** All batches with two pairs or more, touched or not. */
  readonly whole: number;
}

/**
 * What a removal leaves of the batches.
 * @param removed rows of the pairs
 */
export function batchesLeft(
  loss: Pick<StreamedLoss<unknown, unknown>, 'partitions'>,
  removed: Iterable<number>,
): LeftBatches {
  const rows = new Set(removed);
  const before = loss.partitions.flat();
  const sizes = before.map((members) => members.filter((row) => !rows.has(row)).length);
  const count = (f: (size: number, i: number) => boolean): number => sizes.filter(f).length;
  return {
    empty: count((size) => size === 0),
    lone: count((size, i) => size === 1 && before[i].length > 1),
    whole: count((size) => size > 1),
  };
}

/** Woodbury's removal, which has all touched batches at hand. */
async function byWoodbury<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  removed: readonly number[],
  h: Pick<CurvatureSolver<T>, 'solve'>,
): Promise<EditedModel<T>> {
  const rows = new Set(removed);
  const touched = loss.partitions.flat().filter((members) => members.some((row) => rows.has(row)));
  const size = touched.reduce((sum, members) => sum + members.length ** 2, 0);
  if (size > MOST_SIMILARITIES) {
    const found = `${touched.length} touched batches of ${size} similarities, at most ${MOST_SIMILARITIES}`;
    throw new EcifError(`woodbury: ${found}; take the rung krylov or newton`);
  }
  const { problem, seg, solver } = await touchedBatches(loss, removed, h);
  const chosen = seg.map(({ batch }) => batch);
  const { theta: edited, rank } = await removeWoodbury(await prepareBatches(problem, theta, chosen, solver), seg);
  disposeTree(problem.batches);
  return { theta: edited, note: `${rank} directions of the lost curvature` };
}

/** Newton steps on the loss after removal, one after the other. */
async function byNewton<T, B>(
  removal: StreamedRemoval<T, B>,
  steps: number,
  onStep: RungOptions<T, B>['onStep'],
): Promise<EditedModel<T>> {
  let { theta } = removal;
  for (let step = 1; step <= steps; step++) {
    onStep?.(step, steps);
    const at = theta;
    theta = await removeByNewton({ ...removal, theta: at });
    if (step > 1) removal.space.release(at);
  }
  return { theta, note: null };
}

/**
 * Removes pairs from a model trained to θ̂, by any rung of the ladder.
 * @param theta θ̂; stays the caller's
 * @param removed rows of the pairs
 * @throws EcifError for rows that were not trained on, and where `woodbury` would be too large
 * @example const { theta: edited } = await removeByRung(loss, theta, [3, 17], 'rescaled', { h, solverAt });
 */
export async function removeByRung<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  removed: readonly number[],
  rung: Rung,
  { h, solverAt, steps, onStep }: RungOptions<T, B>,
): Promise<EditedModel<T>> {
  const removal = streamedRemoval(loss, theta, removed, h, solverAt);
  switch (rung) {
    case 'corrected':
    case 'exact':
      return { theta: await removeLinear(removal, rung), note: null };
    case 'rescaled': {
      const { theta: edited, factor, guarded } = await removeRescaled(removal);
      const note = guarded ? 'not rescaled: the loss after removal is not convex along the step' : null;
      return { theta: edited, note: note ?? `step times ${factor.toPrecision(4)}` };
    }
    case 'krylov':
      return { theta: await removeKrylov(removal, steps ?? 2), note: null };
    case 'woodbury':
      return byWoodbury(loss, theta, removed, h);
    case 'newton':
      return byNewton(removal, 1, onStep);
    case 'newton-k':
      return byNewton(removal, steps ?? 5, onStep);
  }
}
