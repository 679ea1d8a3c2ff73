// The printed Neg is the reciprocal of the right one: it points the other way, and overflows for far negatives.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { both, gradientAt, valueAt } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-01-neg-inverted');

const neg = (form: ecif.NegForm) => (s: ecif.Tensor) => both(ecif.negTerm(s, [1], form));

it.each([-4, -1, 0.5, 2])('S_kn = %d: its gradient is −1/P² times the right one', async (a) => {
  const s = [
    [0, a],
    [a, 0],
  ];
  const share = 1 / (1 + Math.exp(-a));
  const [published, corrected] = [await gradientAt(neg('published'), s), await gradientAt(neg('corrected'), s)];
  published.forEach((x, i) => expect(x).toBeCloseTo(-corrected[i] / share ** 2, 8));
  expect(Math.hypot(...corrected)).toBeGreaterThan(0.01);
});

it('the further a negative, the more the printed form makes of it, without end', async () => {
  const of = (form: ecif.NegForm, a: number): Promise<number> =>
    valueAt(neg(form), [
      [0, a],
      [a, 0],
    ]);
  expect(await of('published', -40)).toBeGreaterThan(1e17);
  expect(await of('published', -800)).toBe(Infinity);
  expect(await of('corrected', -40)).toBeLessThan(1e-16);
  expect(await of('corrected', -800)).toBe(0);
});
