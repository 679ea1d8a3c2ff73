// Removal curves: the outcome after more and more pairs are removed in the order of their scores, from either end.

import { EcifError } from '../../array/errors.ts';
import { type Numbers, pairsIn, requireFinite } from './input.ts';
import { orderBy } from './ranks.ts';
import { type Subset, subsetWithout } from './subsets.ts';

/** The outcome after removing a share of the pairs. */
export interface RemovalPoint {
  readonly share: number;
  readonly removed: number;
  readonly value: number;
}

/** Outcomes over the shares, and the mean height: the area below the points joined by lines / the width. */
export interface RemovalCurve {
  readonly points: readonly RemovalPoint[];
  readonly area: number;
}

/** ∫ y dx over points joined by lines. */
export function areaBelow(points: readonly (readonly [x: number, y: number])[]): number {
  return points.slice(1).reduce((t, [x, y], i) => t + ((x - points[i][0]) * (y + points[i][1])) / 2, 0);
}

/**
 * The curve of one order: value(p) = outcome without the first p·n pairs; area = (1/p_last)·∫₀^p_last value dp.
 * @param shares ascending, above 0 and below 1; 0 is always measured and need not be given
 * @param outcome trains on a subset and evaluates: a loss or an accuracy
 * @example await removalCurve(createRng(1).permutation(n), [0.1, 0.2], outcome); // the control: a random order
 * @throws EcifError for shares that do not ascend, or that leave no pair; NumericsError for an outcome that is not finite
 */
export async function removalCurve(
  order: Uint32Array,
  shares: readonly number[],
  outcome: (subset: Subset) => Promise<number>,
): Promise<RemovalCurve> {
  const all = shares[0] === 0 ? shares : [0, ...shares];
  if (all.length < 2 || all.some((p, i) => i > 0 && !(p > all[i - 1])))
    throw new EcifError(`removalCurve: shares ${shares.join(', ')}; give one or more above 0, ascending`);
  if (pairsIn({ share: all[all.length - 1] }, order.length) >= order.length)
    throw new EcifError(
      `removalCurve: a share of ${all.at(-1)} leaves none of ${order.length} pairs; take a smaller one`,
    );
  const points: RemovalPoint[] = [];
  for (const share of all) {
    const removed = pairsIn({ share }, order.length);
    const value = await outcome(subsetWithout(order.length, order.subarray(0, removed)));
    requireFinite(`removalCurve: outcome without ${removed} pairs`, [value]);
    points.push({ share, removed, value });
  }
  const width = all[all.length - 1];
  return { points, area: areaBelow(points.map(({ share, value }) => [share, value])) / width };
}

/** The curves of both ends of a score order. */
export interface RemovalCurves {
  /** The most harmful go first: a loss should fall, or rise late. */
  readonly lowest: RemovalCurve;
  /** The most valuable go first: a loss should rise at once. */
  readonly highest: RemovalCurve;
  /** Area of `highest` less that of `lowest`: positive for scores that are right about a loss, around 0 for permuted ones. */
  readonly gap: number;
}

/**
 * Both removal curves of scores; the full model is evaluated once.
 * @example const { lowest, highest, gap } = await removalCurves(scores, [0.05, 0.1, 0.2, 0.4], lossAfterTraining);
 */
export async function removalCurves(
  scores: Numbers,
  shares: readonly number[],
  outcome: (subset: Subset) => Promise<number>,
): Promise<RemovalCurves> {
  let full: Promise<number> | null = null;
  const once = (subset: Subset): Promise<number> =>
    subset.removed.length > 0 ? outcome(subset) : (full ??= outcome(subset));
  const lowest = await removalCurve(orderBy(scores, 'lowest'), shares, once);
  const highest = await removalCurve(orderBy(scores, 'highest'), shares, once);
  return { lowest, highest, gap: highest.area - lowest.area };
}
