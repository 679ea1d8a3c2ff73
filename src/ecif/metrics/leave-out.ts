// Leave-one-out and leave-k-out: scores against what training without one pair, or without k, does.

import type { Numbers } from './input.ts';
import { pearson, spearman } from './ranks.ts';
import { correlateOutcomes, type Subset, subsetWithout, type TargetCorrelations } from './subsets.ts';

/**
 * The subsets that leave one pair out each: every pair in turn, or the ones asked for. For leave-k-out take
 * `drawSubsets(count, subsets, { pairs: k }, rng)`.
 * @param pairs which to leave out; all unless told
 */
export const leaveOneOut = (count: number, pairs: Iterable<number> = Array(count).keys()): Subset[] =>
  Array.from(pairs, (pair) => subsetWithout(count, [pair]));

/** Both correlations of predicted and actual changes. */
export interface LeaveOutCorrelation {
  /** Of the values: whether changes are proportional. */
  readonly pearson: TargetCorrelations;
  /** Of the ranks: whether their order is right. */
  readonly spearman: TargetCorrelations;
}

/**
 * For each target t, the correlations over the subsets of Σ_{i removed} score_t(i) and the evaluation loss of t after
 * training without them. The loss of the full model is the same for all subsets and changes nothing.
 * @example leaveOutCorrelation([scores], leaveOneOut(n), outcomes).spearman.mean;
 */
export const leaveOutCorrelation = (
  scores: readonly Numbers[],
  subsets: readonly Subset[],
  outcomes: readonly Numbers[],
): LeaveOutCorrelation => ({
  pearson: correlateOutcomes(scores, subsets, outcomes, pearson),
  spearman: correlateOutcomes(scores, subsets, outcomes, spearman),
});
