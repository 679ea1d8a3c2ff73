// Part of the pairs, drawn: some of each class, or some in all.

import { EcifError } from '../array/errors.ts';
import type { Rng } from '../array/rng.ts';
import { type DatasetRow, shown } from './dataset.ts';

/** The places of some values, by value. */
export function placesBy(values: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  values.forEach((value, i) => {
    const found = places.get(value);
    if (found === undefined) places.set(value, [i]);
    else found.push(i);
  });
  return places;
}

/** Some values in a random order. */
export const shuffled = <T>(rng: Rng, values: readonly T[]): T[] =>
  Array.from(rng.permutation(values.length), (i) => values[i]);

/**
 * Some of a number of places, drawn, in their order.
 * @example drawSome(createRng(0), 10, 3); // three different numbers below ten, the smallest first
 */
export const drawSome = (rng: Rng, count: number, many: number): number[] =>
  [...rng.permutation(count).subarray(0, many)].sort((a, b) => a - b);

/**
 * Rows of as many pairs of every class, in their order.
 * @throws EcifError for a pair without a class, and a class with fewer pairs
 * @example fewShot(createRng(0), rows, 16); // sixteen of each class
 */
export function fewShot(rng: Rng, rows: readonly DatasetRow[], shots: number): number[] {
  const bare = rows.find(({ label }) => label === null);
  if (bare !== undefined) throw new EcifError(`shots: pair ${shown(bare.id)} has no label; add a column label`);
  const chosen = Array.from(placesBy(rows.map(({ label }) => label as string)), ([label, members]) => {
    if (members.length < shots) {
      const found = `class ${shown(label)} has ${members.length} of ${shots} pairs`;
      throw new EcifError(`shots: ${found}; give ${members.length} at most, or add pairs`);
    }
    return drawSome(rng, members.length, shots).map((i) => members[i]);
  });
  return chosen.flat().sort((a, b) => a - b);
}
