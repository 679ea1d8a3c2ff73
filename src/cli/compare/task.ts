// Trains a model whose pairs are to be scored: a few epochs with checkpoints on the way, then to the end.

import type { Rng } from '../../array/rng.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import { type Judged, judgeMethods, judgingSteps, METHODS, type ScoringTask } from '../../ecif/baselines/index.ts';
import { treeSpace } from '../../linalg/tree-space.ts';
import { Trainer } from '../../models/fit.ts';
import { settle } from '../../models/settle.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { ownVersion } from '../versions.ts';

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

/** How trainings to the end went. */
export interface Retraining {
  readonly count: number;
  /** Those that ended before ‖∇F‖ was as small as asked for, or lost in rounding. */
  readonly unsettled: number;
  /** Largest ‖∇F‖ of these. */
  readonly most: number;
}

/** Epochs after which a checkpoint is kept. */
const KEPT = [1, 2, 4, 8, 16, 32];

/** A task, and how its trainings went so far. */
export interface TrainedTask<T, B> {
  readonly task: ScoringTask<T, B>;
  retraining(): Retraining;
}

/** The trained model as a task. */
export async function trainedTask<T, B>(
  loss: StreamedLoss<T, B>,
  start: T,
  evaluation: B,
  { count, seed }: { count: number; seed: number },
  { epochs, rate, tolerance }: Training,
): Promise<TrainedTask<T, B>> {
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
  let went: Retraining = { count: 0, unsettled: 0, most: 0 };
  const retrain = async (of: StreamedLoss<T, B>, from: T): Promise<T> => {
    const { theta, status, gradientNorm } = await settle(of, from, { tolerance, ...SETTLING });
    const early = status !== 'converged' && status !== 'rounding';
    went = {
      count: went.count + 1,
      unsettled: went.unsettled + Number(early),
      most: early ? Math.max(went.most, gradientNorm) : went.most,
    };
    return theta;
  };
  const theta = await retrain(loss, trainer.theta);
  return { task: { loss, count, theta, evaluation, checkpoints, retrain, seed }, retraining: () => went };
}

/** A problem of a comparison, trained. */
export interface Posed {
  /** Steps that `judge` tells of. */
  readonly steps: number;
  /** How trainings went so far. */
  retraining(): Retraining;
  judge(onStep: (what: string) => void): Promise<Judged[]>;
}

/** How training goes on to the end. */
const SETTLING = { iterations: 300, newtonSteps: 5, noise: 1e-14 };

/** What results depend on beside the sizes of a problem and its seed. */
export interface Made {
  readonly version: string;
  readonly methods: readonly string[];
  readonly training: Training;
}

/** What results of a problem trained like this depend on. */
export const madeBy = (training: Training): Made => ({
  ...{ version: ownVersion(), training: { ...training, ...SETTLING } },
  methods: METHODS.map(({ name }) => name),
});

/** Share of the pairs that a random subset leaves out. */
export const LEFT_OUT = 0.5;

/** Makes a task ready to be judged. */
export function posedOf<T, B>(
  { task, retraining }: TrainedTask<T, B>,
  bad: readonly boolean[],
  subsets: number,
): Posed {
  return {
    retraining,
    steps: judgingSteps(task.count, METHODS.length, { subsets }),
    judge: (onStep) =>
      judgeMethods(task, bad, METHODS, { subsets, removed: { share: LEFT_OUT }, permuted: 'ecif', onStep }),
  };
}
