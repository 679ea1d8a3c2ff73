// One interface for every way of scoring pairs, and what a method is given.

import { disposeTree, itemOf, scope } from '../../autodiff/tensor.ts';
import { grad } from '../../autodiff/transforms.ts';
import { batchLoss } from '../../models/model.ts';
import type { StreamedLoss } from '../../models/streamed.ts';

/** The parameters at some point of training. */
export interface Checkpoint<T> {
  readonly theta: T;
  /** Step size there. */
  readonly rate: number;
}

/** A trained model with its pairs, and what its pairs are to be judged by. */
export interface ScoringTask<T, B> {
  /** What was trained on; every row in 0…count−1 lies in one batch of every partition. */
  readonly loss: StreamedLoss<T, B>;
  readonly count: number;
  /** θ̂ */
  readonly theta: T;
  /** Pairs that were not trained on; their batch loss is the evaluation loss. They stay on the device. */
  readonly evaluation: B;
  /** In the order of training, θ̂ not among them. */
  readonly checkpoints: readonly Checkpoint<T>[];
  /** Trains on another loss from a start that stays the caller's. */
  retrain(loss: StreamedLoss<T, B>, start: T): Promise<T>;
  /** For methods that draw. */
  readonly seed: number;
}

/** What a method needs beside the trained model and its pairs. */
export type Need = 'evaluation' | 'curvature' | 'checkpoints' | 'retraining';

/** A way to score pairs. */
export interface Method {
  readonly name: string;
  /** The formula in one line. */
  readonly about: string;
  readonly needs: readonly Need[];
  /**
   * One number for every row, the mean over partitions. All keep one sign: the predicted change of the evaluation loss if
   * the pair is removed, or what orders pairs alike; positive or high is valuable, negative or low is suspicious.
   */
  scores<T, B>(task: ScoringTask<T, B>): Promise<Float64Array>;
}

/** The evaluation loss. */
export const evaluationLoss = <T, B>({ loss, evaluation }: ScoringTask<T, B>, theta: T): Promise<number> =>
  itemOf(() => batchLoss(loss.model, theta, evaluation));

/** What `f` makes of the gradient of the evaluation loss, which is given back. */
export async function withEvaluationGradient<T, B, R>(
  { loss, evaluation }: ScoringTask<T, B>,
  theta: T,
  f: (gradient: T) => Promise<R>,
): Promise<R> {
  const gradient = scope(() => grad((t: T) => batchLoss(loss.model, t, evaluation))(theta));
  const out = await f(gradient);
  disposeTree(gradient);
  return out;
}
