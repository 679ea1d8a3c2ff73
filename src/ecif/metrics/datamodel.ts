// The linear datamodelling score: do sums of scores order the models trained on random subsets?

import type { Numbers } from './input.ts';
import { spearman } from './ranks.ts';
import { correlateOutcomes, type Subset, type TargetCorrelations } from './subsets.ts';

/**
 * The linear datamodelling score: for each target t, Spearman's ρ over subsets S of Σ_{i removed from S} score_t(i) and the
 * evaluation loss of t after training on S; their mean. 1: the order of all outcomes is foretold; 0: chance.
 * @param scores one list for each target, score = predicted change of its loss if the pair is removed
 * @param outcomes losses after training on each subset, of {@link outcomesOf}
 * @example
 * const subsets = drawSubsets(n, 64, { share: 0.5 }, createRng(1));
 * const outcomes = await outcomesOf(subsets, async ({ kept }) => evaluate(await train(kept)));
 * linearDatamodelling([scores], subsets, outcomes).mean;
 */
export const linearDatamodelling = (
  scores: readonly Numbers[],
  subsets: readonly Subset[],
  outcomes: readonly Numbers[],
): TargetCorrelations => correlateOutcomes(scores, subsets, outcomes, spearman);
