// What every metric takes: numbers that can be ordered, one end of the order, a share of the pairs.

import { EcifError, NumericsError, ShapeError } from '../../array/errors.ts';

/** Numbers of the pairs, entry i that of pair i. */
export type Numbers = ArrayLike<number>;

/**
 * Which end of a score order comes first. A score is the predicted change of the evaluation loss if the pair is removed,
 * so that `lowest` puts the suspicious pairs first and `highest` the valuable ones.
 */
export type End = 'lowest' | 'highest';

/** How many pairs: their number, or their share of all, rounded to the nearest number. */
export type Amount = { readonly pairs: number } | { readonly share: number };

/**
 * Refuses what cannot be ranked or averaged.
 * @throws NumericsError for a NaN or an infinity
 */
export function requireFinite(what: string, values: Numbers): void {
  for (let i = 0; i < values.length; i++)
    if (!Number.isFinite(values[i]))
      throw new NumericsError(`${what}: entry ${i} is ${values[i]}; give finite numbers only`);
}

/** @throws ShapeError where two lists of the same pairs differ in length */
export function requireSameLength(what: string, a: ArrayLike<unknown>, b: ArrayLike<unknown>): void {
  if (a.length !== b.length)
    throw new ShapeError(`${what}: ${a.length} and ${b.length} entries; give one of each for every pair`);
}

/** @throws EcifError for what is no whole number in least…most */
export function requireWhole(what: string, value: number, least: number, most = Infinity): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  const range = most === Infinity ? `≥ ${least}` : `in ${least}…${most}`;
  throw new EcifError(`${what} = ${value}; give a whole number ${range}`);
}

/**
 * The number of pairs that an amount of `count` pairs is.
 * @throws EcifError for a number outside 0…count or a share outside 0…1
 */
export function pairsIn(amount: Amount, count: number): number {
  if ('pairs' in amount) {
    requireWhole('pairs', amount.pairs, 0, count);
    return amount.pairs;
  }
  const { share } = amount;
  if (!(share >= 0 && share <= 1)) throw new EcifError(`share = ${share}; give a number in 0…1`);
  return Math.round(share * count);
}
