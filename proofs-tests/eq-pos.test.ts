// Pos: what the removed pairs contribute as anchors.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { both, gradientAt, matrix, softplus, valueAt } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('eq-pos');

const S = [
  [1, 0.5],
  [2, 3],
];

it('a batch of two by hand, each direction apart', async () => {
  const { t2i, i2t } = ecif.posTerm(matrix(S), [1]);
  expect(await t2i.item()).toBeCloseTo(softplus(-1), 13);
  expect(await i2t.item()).toBeCloseTo(softplus(-2.5), 13);
});

it('all of a batch removed: Pos is the whole loss, value and gradient', async () => {
  const pos = (s: ecif.Tensor): ecif.Tensor => both(ecif.posTerm(s, [1, 0]));
  expect(await valueAt(pos, S)).toBeCloseTo(await valueAt(ecif.contrastive, S), 13);
  const [found, whole] = [await gradientAt(pos, S), await gradientAt(ecif.contrastive, S)];
  found.forEach((x, i) => expect(x).toBeCloseTo(whole[i], 13));
});

it('of no pair it is 0, of one that is alone in its batch too', async () => {
  expect(await valueAt((s) => both(ecif.posTerm(s, [])), S)).toBe(0);
  expect(await valueAt((s) => both(ecif.posTerm(s, [0])), [[3]])).toBe(0);
});

it('stays finite and exact for similarities of ±700', async () => {
  const pos = (s: ecif.Tensor): ecif.Tensor => both(ecif.posTerm(s, [0]));
  expect(
    await valueAt(pos, [
      [0, 700],
      [-700, 0],
    ]),
  ).toBeCloseTo(700, 10);
  expect(
    await valueAt(pos, [
      [700, 0],
      [0, 700],
    ]),
  ).toBeLessThan(1e-300);
});
