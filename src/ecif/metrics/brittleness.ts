// Brittleness: how few pairs have to go, in the order of their scores, before an outcome changes.

import { requireWhole } from './input.ts';
import { type Subset, subsetWithout } from './subsets.ts';

/** One training on the way. */
export interface BrittlenessStep<R> {
  readonly removed: number;
  readonly outcome: R;
  readonly flipped: boolean;
}

/** The smallest number of removed pairs that was found to flip the outcome. */
export interface Brittleness<R> {
  /** Removing this many flips and one fewer does not; 0 where nothing had to go, null where `most` does not flip. */
  readonly removed: number | null;
  /** Every training, in the order it was done. */
  readonly steps: readonly BrittlenessStep<R>[];
}

/**
 * min{k: flipped(outcome without the first k of the order)}, by doubling k and then bisection: about 2·log₂ k trainings.
 * Where flipping is not monotone in k the result is one k at which it changes, not always the smallest.
 * @param order pairs, the first to go first: `orderBy(scores, 'highest')` removes the most valuable
 * @param outcome trains on a subset and evaluates: a prediction, a loss
 * @param flipped whether an outcome counts: another class, a loss above a threshold
 * @param most largest number of pairs to remove; all but one unless told
 * @example await brittleness(orderBy(scores, 'highest'), lossWithout, (loss) => loss > 2);
 */
export async function brittleness<R>(
  order: Uint32Array,
  outcome: (subset: Subset) => Promise<R>,
  flipped: (outcome: R) => boolean,
  most: number = order.length - 1,
): Promise<Brittleness<R>> {
  requireWhole('most', most, 0, order.length);
  const steps: BrittlenessStep<R>[] = [];
  const flips = async (removed: number): Promise<boolean> => {
    const found = await outcome(subsetWithout(order.length, order.subarray(0, removed)));
    const step = { removed, outcome: found, flipped: flipped(found) };
    steps.push(step);
    return step.flipped;
  };
  if (await flips(0)) return { removed: 0, steps };
  let below = 0;
  let above = Math.min(1, most);
  while (above > below && !(await flips(above))) [below, above] = [above, Math.min(2 * above, most)];
  if (above === below) return { removed: null, steps };
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    if (await flips(middle)) above = middle;
    else below = middle;
  }
  return { removed: above, steps };
}
