// The total loss: batch losses plus weight decay, counted once.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { matrix, oneHotBatch, softplus } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('eq-total-loss');

const theta = {
  w: matrix([
    [1, 0.5],
    [2, 3],
  ]),
};
const model = ecif.bilinear(1);

it('by hand: two equal batches count twice, the decay once', async () => {
  const batch = oneHotBatch(2);
  const total = await ecif
    .totalLoss({ model, batches: [batch, batch], decay: 0.3 })(theta)
    .item();
  const once = softplus(-0.5) + softplus(-1) + softplus(1) + softplus(-2.5);
  expect(total).toBeCloseTo(2 * once + 0.15 * (1 + 0.25 + 4 + 9), 12);
});

it('the decay pulls to its centre: nothing there, δ/2·‖θ − θ₀‖² elsewhere, its gradient δ(θ − θ₀)', async () => {
  const centre = {
    w: matrix([
      [1, 0.5],
      [2, 1],
    ]),
  };
  expect(await ecif.decayTerm(theta, 0.3, centre).item()).toBeCloseTo(0.15 * 4, 14);
  expect(await ecif.decayTerm(centre, 0.3, centre).item()).toBe(0);
  const { w } = ecif.grad((t: ecif.Bilinear) => ecif.decayTerm(t, 0.3, centre))(theta);
  expect([...(await w.data())].map((x) => Number(x.toFixed(14)))).toEqual([0, 0, 0, 0.6]);
});
