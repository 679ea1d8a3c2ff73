// A set is weighted once, however its pairs are listed.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { both, gradientAt, valueAt } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-14-double-shift');

const S = [
  [1, 0.5, -0.3],
  [2, 3, 0.4],
  [0.1, -1, 0.7],
];

it('repeated indices count once, in every term and in segOf', async () => {
  const TERMS: ((s: ecif.Tensor, removed: number[]) => ecif.Tensor)[] = [
    (s, e) => both(ecif.posTerm(s, e)),
    (s, e) => both(ecif.negTerm(s, e, 'corrected')),
    (s, e) => both(ecif.negTerm(s, e, 'published')),
    (s, e) => both(ecif.negTerm(s, e, 'exact')),
    (s, e) => ecif.zetaLoss(s, e, 0.3),
    (s, e) => ecif.removedLoss(s, e),
  ];
  for (const term of TERMS) {
    const [once, twice] = [[1], [1, 1, 1]].map((e) => (s: ecif.Tensor) => term(s, e));
    expect(await valueAt(twice, S)).toBe(await valueAt(once, S));
    expect(await gradientAt(twice, S)).toEqual(await gradientAt(once, S));
    // Control: another set gives another number.
    expect(await valueAt((s) => term(s, [0]), S)).not.toBe(await valueAt(once, S));
  }
  expect(
    ecif.segOf(
      [
        [3, 1],
        [0, 2],
      ],
      [2, 1, 2, 1],
    ),
  ).toEqual([
    { batch: 0, positions: [1] },
    { batch: 1, positions: [1] },
  ]);
});

it('the ζ-loss of a set of two weighs both once: by hand for three pairs', async () => {
  const [zeta, removed] = [0.3, [0, 1]];
  const lse = (v: readonly number[], c: (j: number) => number): number =>
    Math.log(v.reduce((t, x, j) => t + c(j) * Math.exp(x), 0));
  const expected = [0, 1, 2].reduce((t, k) => {
    const c = (j: number): number => (!removed.includes(k) && removed.includes(j) ? zeta : 1);
    return (
      t +
      lse(S[k], c) +
      lse(
        S.map((row) => row[k]),
        c,
      ) -
      2 * S[k][k]
    );
  }, 0);
  expect(await valueAt((s) => ecif.zetaLoss(s, removed, zeta), S)).toBeCloseTo(expected, 12);
});
