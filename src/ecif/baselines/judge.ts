// How well methods foretell what removing pairs does and which pairs are mismatched, all by the same retrainings.

import { createRng } from '../../array/rng.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import { permutedControl } from '../metrics/controls.ts';
import { linearDatamodelling } from '../metrics/datamodel.ts';
import { auroc, averagePrecision, type Labels } from '../metrics/detection.ts';
import type { Amount } from '../metrics/input.ts';
import { leaveOneOut, leaveOutCorrelation } from '../metrics/leave-out.ts';
import { drawSubsets, outcomesOf } from '../metrics/subsets.ts';
import { withoutRows } from '../streamed-removal.ts';
import { retraining } from './ends.ts';
import { evaluationLoss, type Method, type ScoringTask } from './method.ts';

/** Numbers for which more is better. */
export interface Quality {
  /** Linear datamodelling score: Spearman's ρ over random subsets. */
  readonly lds: number;
  /** Spearman's ρ with the changes that leaving one pair out makes. */
  readonly leaveOneOut: number;
  /** Of mismatched pairs, lowest scores first. */
  readonly auroc: number;
  readonly auprc: number;
}

/** A method judged. */
export interface Judged extends Quality {
  readonly method: string;
  /** What its scores took; null where they are shared with others. */
  readonly seconds: number | null;
}

/** Settings of {@link judgeMethods}. */
export interface JudgeOptions {
  /** Random subsets to train on. */
  readonly subsets: number;
  /** What each leaves out. */
  readonly removed: Amount;
  /** A method whose scores are also dealt to the pairs at random, as the row `permuted`. */
  readonly permuted: string;
  /** Told after every retraining and every method. */
  onStep?(what: string): void;
}

/** Steps that {@link judgeMethods} tells of. */
export const judgingSteps = (count: number, methods: number, { subsets }: Pick<JudgeOptions, 'subsets'>): number =>
  count + subsets + methods;

const PERMUTATIONS = 200;

/**
 * Scores the pairs by every method and compares with what training without them does: all subsets and every single pair
 * are retrained once, from θ̂, and serve all methods.
 * @param bad which rows are mismatched
 * @returns a row for each method, then `permuted`: the mean over permutations of one method's scores, which is chance
 */
export async function judgeMethods<T, B>(
  task: ScoringTask<T, B>,
  bad: Labels,
  methods: readonly Method[],
  { subsets: many, removed, permuted, onStep }: JudgeOptions,
): Promise<Judged[]> {
  const { count, loss, theta, seed } = task;
  const counted: ScoringTask<T, B> = {
    ...task,
    retrain: async (without, start) => {
      const found = await task.retrain(without, start);
      onStep?.('retraining');
      return found;
    },
  };
  const changes = await retraining.scores(counted);
  const singles = leaveOneOut(count);
  const subsets = drawSubsets(count, many, removed, createRng(seed).fork(1));
  const outcomes = await outcomesOf(subsets, async ({ removed: rows }) => {
    const moved = await counted.retrain(withoutRows(loss, rows), theta);
    const value = await evaluationLoss(task, moved);
    disposeTree(moved);
    return value;
  });
  const metrics: Record<keyof Quality, (scores: Float64Array) => number> = {
    lds: (scores) => linearDatamodelling([scores], subsets, outcomes).mean,
    leaveOneOut: (scores) =>
      leaveOutCorrelation(
        [scores],
        singles,
        Array.from(changes, (x) => [x]),
      ).spearman.mean,
    auroc: (scores) => auroc(scores, bad, 'lowest'),
    auprc: (scores) => averagePrecision(scores, bad, 'lowest'),
  };
  const qualityBy = (value: (metric: (scores: Float64Array) => number) => number): Quality => ({
    lds: value(metrics.lds),
    leaveOneOut: value(metrics.leaveOneOut),
    auroc: value(metrics.auroc),
    auprc: value(metrics.auprc),
  });
  const rows: Judged[] = [];
  for (const method of methods) {
    const begun = performance.now();
    const shared = method.name === retraining.name;
    const scores = shared ? changes : await method.scores(task);
    const seconds = shared ? null : (performance.now() - begun) / 1000;
    onStep?.(method.name);
    rows.push({ method: method.name, ...qualityBy((metric) => metric(scores)), seconds });
    if (method.name !== permuted) continue;
    const dealt = qualityBy((metric) => permutedControl(metric, scores, createRng(seed).fork(2), PERMUTATIONS).mean);
    rows.push({ method: 'permuted', ...dealt, seconds: null });
  }
  return rows;
}
