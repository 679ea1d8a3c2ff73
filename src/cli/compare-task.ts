// Trains a model whose pairs are to be scored: a few epochs with checkpoints on the way, then to the end.

import type { Rng } from '../array/rng.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import { type Judged, judgeMethods, judgingSteps, METHODS, type ScoringTask } from '../ecif/baselines/index.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { Trainer } from '../models/fit.ts';
import { settle } from '../models/settle.ts';
import type { StreamedLoss } from '../models/streamed.ts';

/** Share of the pairs whose captions are swapped. */
const SWAPPED = 0.2;

/**
 * Swaps captions: those of a random fifth of the pairs move on by one among themselves, so that none of them keeps its own.
 * @returns whose caption each pair has, and which pairs are mismatched
 */
export function swapCaptions(rng: Rng, count: number): { caption: Uint32Array; bad: boolean[] } {
  const chosen = rng.permutation(count).slice(0, Math.max(2, Math.round(SWAPPED * count)));
  const caption = Uint32Array.from({ length: count }, (_, i) => i);
  chosen.forEach((row, i) => (caption[row] = chosen[(i + 1) % chosen.length]));
  return { caption, bad: Array.from(caption, (of, i) => of !== i) };
}

/** How a model of a comparison is trained. */
export interface Training {
  readonly epochs: number;
  readonly rate: number;
  /** ‖∇F‖ at which training and retraining end. */
  readonly tolerance: number;
}

/** Epochs after which a checkpoint is kept. */
const KEPT = [1, 2, 4, 8, 16, 32];

/** The trained model as a task. */
export async function trainedTask<T, B>(
  loss: StreamedLoss<T, B>,
  start: T,
  evaluation: B,
  { count, seed }: { count: number; seed: number },
  { epochs, rate, tolerance }: Training,
): Promise<ScoringTask<T, B>> {
  const space = treeSpace<T>();
  const copy = (tree: T): T => space.combine([1], [tree]);
  const trainer = new Trainer<T>(copy(start), { l2: loss.l2 / (2 * count), centre: loss.centre });
  const checkpoints: { theta: T; rate: number }[] = [];
  for (let epoch = 1; epoch <= epochs; epoch++) {
    for (const rows of loss.partitions[(epoch - 1) % loss.partitions.length]) {
      const batch = await loss.batch(rows);
      const { loss: value, norm } = trainer.step(loss.model, batch, rows.length, rate);
      disposeTree([batch, value, norm]);
    }
    if (KEPT.includes(epoch)) checkpoints.push({ theta: copy(trainer.theta), rate });
  }
  const retrain = async (of: StreamedLoss<T, B>, from: T): Promise<T> =>
    (await settle(of, from, { tolerance, iterations: 300, newtonSteps: 5, noise: 1e-14 })).theta;
  return { loss, count, theta: await retrain(loss, trainer.theta), evaluation, checkpoints, retrain, seed };
}

/** A problem of a comparison, trained. */
export interface Posed {
  /** Steps that `judge` tells of. */
  readonly steps: number;
  judge(onStep: (what: string) => void): Promise<Judged[]>;
}

/** Share of the pairs that a random subset leaves out. */
export const LEFT_OUT = 0.5;

/** Makes a task ready to be judged. */
export function posedOf<T, B>(task: ScoringTask<T, B>, bad: readonly boolean[], subsets: number): Posed {
  return {
    steps: judgingSteps(task.count, METHODS.length, { subsets }),
    judge: (onStep) =>
      judgeMethods(task, bad, METHODS, { subsets, removed: { share: LEFT_OUT }, permuted: 'ecif', onStep }),
  };
}
