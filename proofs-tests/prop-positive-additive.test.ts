// Positive influences of a set add up over its pairs; negative ones do not.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { both, valueAt } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('prop-positive-additive');

const S = [
  [1, 0.5, -0.3],
  [2, 3, 0.4],
  [0.1, -1, 0.7],
];

it('Pos of a set is the sum over its pairs, by hand on S', async () => {
  const pos = (removed: number[]): Promise<number> => valueAt((s) => both(ecif.posTerm(s, removed)), S);
  expect(await pos([0, 2])).toBeCloseTo((await pos([0])) + (await pos([2])), 13);
});

it('Neg is not: the sum also counts what the pairs are to each other', async () => {
  const share = (v: readonly number[], n: number): number => Math.exp(v[n]) / v.reduce((t, x) => t + Math.exp(x), 0);
  const column = (k: number): number[] => S.map((row) => row[k]);
  const neg = (removed: number[]): Promise<number> => valueAt((s) => both(ecif.negTerm(s, removed, 'corrected')), S);
  const within = share(S[0], 2) + share(S[2], 0) + share(column(0), 2) + share(column(2), 0);
  expect(within).toBeGreaterThan(0.1);
  expect((await neg([0])) + (await neg([2])) - (await neg([0, 2]))).toBeCloseTo(within, 12);
});
