// Random subsets to train on, what training on each gives, and what scores predict of it.

import { EcifError, ShapeError } from '../../array/errors.ts';
import type { Rng } from '../../array/rng.ts';
import { type Amount, type Numbers, pairsIn, requireFinite, requireWhole } from './input.ts';

/** A division of the pairs 0…n−1; both parts ascending. */
export interface Subset {
  readonly kept: Uint32Array;
  readonly removed: Uint32Array;
}

/** The subset without some of `count` pairs. */
export function subsetWithout(count: number, removed: Iterable<number>): Subset {
  const gone = new Set(removed);
  for (const pair of gone) requireWhole('removed pair', pair, 0, count - 1);
  const all = Uint32Array.from({ length: count }, (_, i) => i);
  return { kept: all.filter((i) => !gone.has(i)), removed: all.filter((i) => gone.has(i)) };
}

/** Moves places from pairs that were drawn too often to those drawn too seldom, until counts differ by at most one. */
function balance(chosen: readonly Set<number>[], count: number, rng: Rng): void {
  const times = new Uint32Array(count);
  for (const set of chosen) for (const pair of set) times[pair]++;
  const least = Math.floor(times.reduce((a, b) => a + b, 0) / count);
  for (;;) {
    const order = rng.permutation(count);
    const [over, under] = [order.filter((i) => times[i] > least + 1), order.filter((i) => times[i] < least)];
    if (over.length === 0 && under.length === 0) return;
    const givers = over.length > 0 ? over : order.filter((i) => times[i] === least + 1);
    const takers = under.length > 0 ? under : order.filter((i) => times[i] === least);
    for (let i = 0; i < Math.min(givers.length, takers.length); i++) {
      const [giver, taker] = [givers[i], takers[i]];
      const among = chosen.filter((set) => set.has(giver) && !set.has(taker));
      const set = among[rng.int(among.length)];
      set.delete(giver);
      set.add(taker);
      times[giver]--;
      times[taker]++;
    }
  }
}

/**
 * Draws subsets of one size at random, every pair removed from the same number of them as far as possible (numbers differ
 * by at most one). They start as independent draws, so that no subset is the complement of another by construction.
 * @param removed how many pairs each leaves out: { share: 1 − α } for subsets of share α
 * @example drawSubsets(100, 64, { share: 0.5 }, createRng(1));
 * @throws EcifError where nothing or everything would be removed
 */
export function drawSubsets(count: number, subsets: number, removed: Amount, rng: Rng): Subset[] {
  requireWhole('subsets', subsets, 1);
  const size = pairsIn(removed, count);
  if (size < 1 || size >= count)
    throw new EcifError(`drawSubsets: ${size} of ${count} pairs removed; remove some and keep some`);
  const chosen = Array.from({ length: subsets }, () => new Set(rng.permutation(count).subarray(0, size)));
  balance(chosen, count, rng);
  return chosen.map((set) => subsetWithout(count, set));
}

/**
 * Trains on a subset and evaluates: the evaluation loss of each target, or of the only one. A loss, so that more is
 * worse; for an accuracy give its negative.
 */
export type Outcome = (subset: Subset, index: number) => Promise<number | Numbers>;

/**
 * The outcomes of all subsets, one training after the other; every method is then judged by the same ones.
 * @returns entry s the losses of the targets after training on subset s
 * @throws ShapeError where subsets differ in their number of targets; NumericsError
 */
export async function outcomesOf(subsets: readonly Subset[], outcome: Outcome): Promise<Float64Array[]> {
  const all: Float64Array[] = [];
  for (const [index, subset] of subsets.entries()) {
    const value = await outcome(subset, index);
    const losses = typeof value === 'number' ? Float64Array.of(value) : Float64Array.from(value);
    requireFinite(`outcome of subset ${index}`, losses);
    if (losses.length !== (all[0] ?? losses).length)
      throw new ShapeError(`outcome: ${losses.length} targets for subset ${index}, ${all[0].length} before; give all`);
    all.push(losses);
  }
  return all;
}

/**
 * The predicted change of the evaluation loss for each subset: Σ of the scores of its removed pairs.
 * @param scores predicted change of the evaluation loss if pair i is removed
 */
export function predictedChanges(scores: Numbers, subsets: readonly Subset[]): Float64Array {
  requireFinite('scores', scores);
  return Float64Array.from(subsets, ({ kept, removed }) => {
    if (kept.length + removed.length !== scores.length)
      throw new ShapeError(
        `predictedChanges: ${scores.length} scores for ${kept.length + removed.length} pairs; give all`,
      );
    return removed.reduce((t, i) => t + scores[i], 0);
  });
}

/** One correlation for each target, and their mean. */
export interface TargetCorrelations {
  readonly perTarget: Float64Array;
  /** Over the targets where it is defined; NaN where it is for none. */
  readonly mean: number;
  /** Targets with a defined correlation: neither the predictions nor the outcomes are constant. */
  readonly defined: number;
}

/**
 * Correlates predicted with actual changes over the subsets, target by target.
 * @param scores one list of scores for each target
 * @throws ShapeError
 */
export function correlateOutcomes(
  scores: readonly Numbers[],
  subsets: readonly Subset[],
  outcomes: readonly Numbers[],
  correlation: (x: Numbers, y: Numbers) => number,
): TargetCorrelations {
  if (outcomes.length !== subsets.length)
    throw new ShapeError(`correlateOutcomes: ${outcomes.length} outcomes for ${subsets.length} subsets; give one each`);
  const short = outcomes.find((losses) => losses.length !== scores.length);
  if (short !== undefined)
    throw new ShapeError(
      `correlateOutcomes: scores for ${scores.length} targets, outcomes of ${short.length}; give both`,
    );
  const perTarget = Float64Array.from(scores, (of, target) =>
    correlation(
      predictedChanges(of, subsets),
      outcomes.map((losses) => losses[target]),
    ),
  );
  const defined = perTarget.filter((r) => !Number.isNaN(r));
  return { perTarget, mean: defined.reduce((a, b) => a + b, 0) / defined.length, defined: defined.length };
}
