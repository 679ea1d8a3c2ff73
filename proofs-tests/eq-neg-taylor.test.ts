// Neg: the coefficient of (ζ − 1), not its reciprocal; and the exact form, which stays accurate as P goes to 1.

import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { both, gradientAt, matrix, softplus, valueAt } from './support/hand.ts';
import { prove } from './support/proof.ts';
import { numericGradient } from '../src/verify/plain.ts';

prove('eq-neg-taylor');

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const neg = (form: ecif.NegForm) => (s: ecif.Tensor) => both(ecif.negTerm(s, [1], form));

it.each([
  ['corrected', sigmoid],
  ['published', (x: number) => 1 / sigmoid(x)],
  ['exact', softplus],
] as const)('%s, two pairs by hand: f(a) in the row, f(b) in the column', async (form, f) => {
  const [a, b] = [0.7, -1.3];
  const { t2i, i2t } = ecif.negTerm(
    matrix([
      [0, a],
      [b, 5],
    ]),
    [1],
    form,
  );
  expect(await t2i.item()).toBeCloseTo(f(a), 13);
  expect(await i2t.item()).toBeCloseTo(f(b), 13);
});

it.each(['corrected', 'published', 'exact'] as const)(
  '%s: the gradient in S is that of finite differences',
  async (form) => {
    const s = [
      [0.3, -1, 0.8],
      [0.5, 1.2, -0.4],
      [-0.9, 0.1, 0.6],
    ];
    const found = await gradientAt(neg(form), s);
    const exps = (x: Float64Array): number[][] => [0, 1, 2].map((i) => [0, 1, 2].map((j) => Math.exp(x[3 * i + j])));
    const f = { corrected: (p: number) => p, published: (p: number) => 1 / p, exact: (p: number) => -Math.log(1 - p) }[
      form
    ];
    const plain = (x: Float64Array): number => {
      const e = exps(x);
      const share = (v: readonly number[]): number => v[1] / (v[0] + v[1] + v[2]);
      return [0, 2].reduce((t, k) => t + f(share(e[k])) + f(share(e.map((row) => row[k]))), 0);
    };
    const expected = numericGradient(plain, Float64Array.from(s.flat()));
    found.forEach((x, i) => expect(Math.abs(x - expected[i])).toBeLessThan(1e-9));
  },
);

describe.each([-700, -40, -20, 20, 40, 700])('a negative %i above its positive', (x) => {
  const s = [
    [0, x],
    [-x, 0],
  ];

  it('the exact form of a set is log(1 + eˣ) to the last digits, with its slope', async () => {
    expect(Math.abs((await valueAt(neg('exact'), s)) / (softplus(x) + softplus(-x)) - 1)).toBeLessThan(1e-13);
    const gradient = await gradientAt(neg('exact'), s);
    const expected = [-sigmoid(x) - sigmoid(-x), sigmoid(x), sigmoid(-x), 0];
    gradient.forEach((g, i) => expect(Math.abs(g - expected[i])).toBeLessThan(1e-13));
  });

  it('the exact form of every pair alone is the same, with its slope', async () => {
    const { t2i, i2t } = ecif.pairTerms(matrix(s), 'exact').neg;
    const [rows, columns] = [await t2i.data(), await i2t.data()];
    expect(Math.abs(rows[1] / softplus(x) - 1)).toBeLessThan(1e-13);
    expect(Math.abs(columns[1] / softplus(-x) - 1)).toBeLessThan(1e-13);
    const second = (y: ecif.Tensor): ecif.Tensor => {
      const of = ecif.pairTerms(y, 'exact').neg;
      return ecif.sum(ecif.mul(ecif.add(of.t2i, of.i2t), ecif.tensor(y.device, [0, 1])));
    };
    const gradient = await gradientAt(second, s);
    const expected = [-sigmoid(x) - sigmoid(-x), sigmoid(x), sigmoid(-x), 0];
    gradient.forEach((g, i) => expect(Math.abs(g - expected[i])).toBeLessThan(1e-13));
  });
});

it('control: −log(1 − P) as it stands has lost every digit there', () => {
  expect(-Math.log(1 - sigmoid(40))).toBe(Infinity);
  expect(Math.abs(-Math.log(1 - sigmoid(35)) - softplus(35))).toBeGreaterThan(1e-3);
});
