// The batch loss: both directions, summed over the anchors.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { cpu, gradientAt, matrix, oneHotBatch, softplus } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('eq-batch-loss');

it('a batch of two is four softplus terms, by hand', async () => {
  const theta = {
    w: matrix([
      [1, 0.5],
      [2, 3],
    ]),
  };
  const loss = await ecif.batchLoss(ecif.bilinear(1), theta, oneHotBatch(2)).item();
  expect(loss).toBeCloseTo(softplus(-0.5) + softplus(-1) + softplus(1) + softplus(-2.5), 13);
  // Control: one direction alone is another number.
  expect(Math.abs(loss - (softplus(-0.5) + softplus(-1)))).toBeGreaterThan(0.1);
});

it('a batch of one has loss 0 and no gradient', async () => {
  const batch = { text: matrix([[0.3, -2]]), image: matrix([[5]]) };
  const theta = { w: ecif.tensor(cpu, [[0.7], [-1.1]]) };
  expect(await ecif.batchLoss(ecif.bilinear(0.05), theta, batch).item()).toBe(0);
  const { w } = ecif.grad((t: ecif.Bilinear) => ecif.batchLoss(ecif.bilinear(0.05), t, batch))(theta);
  expect([...(await w.data())]).toEqual([0, 0]);
});

it('in S the gradient is both softmaxes minus twice the identity', async () => {
  const s = [
    [0.2, -1, 0.4],
    [1.5, 0, 0.3],
    [-0.6, 2, 1],
  ];
  const softmax = (v: readonly number[]): number[] => {
    const all = v.reduce((t, x) => t + Math.exp(x), 0);
    return v.map((x) => Math.exp(x) / all);
  };
  const columns = s.map((_, k) => softmax(s.map((row) => row[k])));
  const expected = s.flatMap((row, i) => softmax(row).map((p, j) => p + columns[j][i] - (i === j ? 2 : 0)));
  const found = await gradientAt((x) => ecif.contrastive(x), s);
  found.forEach((x, i) => expect(x).toBeCloseTo(expected[i], 13));
});
