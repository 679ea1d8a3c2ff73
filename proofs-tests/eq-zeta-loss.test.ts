// The ζ-loss: the loss itself at ζ = 1, the loss without the removed as negatives at ζ = 0.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { gradientAt, softplus, valueAt } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('eq-zeta-loss');

it('two pairs by hand: ζ weighs e^{S_kn} of the kept anchor alone', async () => {
  const [a, b] = [0.7, -1.3];
  for (const zeta of [0, 0.25, 1]) {
    const expected = Math.log(1 + zeta * Math.exp(a)) + Math.log(1 + zeta * Math.exp(b)) + softplus(b) + softplus(a);
    expect(
      await valueAt(
        (s) => ecif.zetaLoss(s, [1], zeta),
        [
          [0, a],
          [b, 0],
        ],
      ),
    ).toBeCloseTo(expected, 13);
  }
});

it('rises with ζ, concave, between the two ends, for any S and set', async () => {
  const cases = fc.record({
    s: fc.array(fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 4, maxLength: 4 }), {
      minLength: 4,
      maxLength: 4,
    }),
    removed: fc.subarray([0, 1, 2, 3], { minLength: 1, maxLength: 3 }),
  });
  const property = fc.asyncProperty(cases, async ({ s, removed }) => {
    const at = (zeta: number): Promise<number> => valueAt((x) => ecif.zetaLoss(x, removed, zeta), s);
    const [none, half, whole] = [await at(0), await at(0.5), await at(1)];
    expect(whole).toBeGreaterThan(none);
    expect(half - none).toBeGreaterThanOrEqual(whole - half);
    expect(whole).toBeCloseTo(await valueAt(ecif.contrastive, s), 10);
  });
  await fc.assert(property, { numRuns: 80, seed: 7 });
});

describe.each([20, 40, 700])('similarities %i apart', (x) => {
  it('ζ = 0 is finite and exact for a removed pair the model is sure of', async () => {
    const loss = (s: ecif.Tensor): ecif.Tensor => ecif.zetaLoss(s, [0], 0);
    const s = [
      [x, 0],
      [0, x],
    ];
    // What is left: both terms of anchor 0, and of anchor 1 nothing, its only negative being gone.
    expect(Math.abs((await valueAt(loss, s)) - 2 * softplus(-x))).toBeLessThan(1e-13);
    for (const g of await gradientAt(loss, s)) expect(Math.abs(g)).toBeLessThan(1e-8);
  });

  it('ζ = 0 is finite and exact where the removed are nearly all of a softmax', async () => {
    const found = await valueAt(
      (s) => ecif.zetaLoss(s, [1], 0),
      [
        [0, x],
        [-x, 0],
      ],
    );
    expect(Math.abs(found / (softplus(-x) + softplus(x)) - 1)).toBeLessThan(1e-12);
  });
});
