// The Hessian: that of the batch losses plus δI.

import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { cpu, matrix } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('eq-hessian');

const model = ecif.bilinear(1);

it('one parameter by hand: 4/cosh²(w) + δ for x = y = (1, −1), and second differences of the loss', async () => {
  const batch = { text: matrix([[1], [-1]]), image: matrix([[1], [-1]]) };
  const loss = ecif.totalLoss({ model, batches: [batch], decay: 0.2 });
  const value = (w: number): Promise<number> => ecif.scope(() => loss({ w: matrix([[w]]) })).item();
  for (const w of [0, 0.3, -1.2, 4]) {
    const { matrix: h } = await ecif.hessian(loss, { w: matrix([[w]]) });
    expect(h[0]).toBeCloseTo(4 / Math.cosh(w) ** 2 + 0.2, 12);
    const step = 1e-3;
    const second = ((await value(w + step)) - 2 * (await value(w)) + (await value(w - step))) / step ** 2;
    expect(Math.abs(h[0] - second)).toBeLessThan(1e-5);
  }
});

it('H − δI is positive semi-definite at any point of any bilinear problem, and H is no smaller than δ', async () => {
  const point = fc.record({
    seed: fc.nat(1e6),
    pairs: fc.integer({ min: 1, max: 5 }),
    p: fc.integer({ min: 1, max: 3 }),
    q: fc.integer({ min: 1, max: 3 }),
    spread: fc.constantFrom(0.1, 1, 10),
  });
  const least: number[] = [];
  const property = fc.asyncProperty(point, async ({ seed, pairs, p, q, spread }) => {
    const rng = ecif.createRng(seed);
    const normal = (rows: number, columns: number): ecif.Tensor =>
      ecif.tensor(
        cpu,
        Float64Array.from({ length: rows * columns }, () => spread * rng.normal()),
        [rows, columns],
      );
    const batches = [{ text: normal(pairs, p), image: normal(pairs, q) }];
    const { size, matrix: h } = await ecif.hessian(ecif.totalLoss({ model, batches, decay: 0.5 }), { w: normal(p, q) });
    expect(ecif.asymmetry(h, size)).toBeLessThan(1e-9);
    const { values } = ecif.symmetricEigen(h, size);
    expect(values[0]).toBeGreaterThanOrEqual(0.5 - 1e-9 * Math.max(1, values[size - 1]));
    least.push(values[size - 1]);
  });
  await fc.assert(property, { numRuns: 60, seed: 4 });
  // The property is not empty: some of these Hessians are far above δ.
  expect(Math.max(...least)).toBeGreaterThan(5);
});
