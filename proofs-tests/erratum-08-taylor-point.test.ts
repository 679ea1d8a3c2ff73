// The expansion is at ζ = 1, not at ζ = 0.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { derivative } from '../src/verify/plain.ts';
import { both, valueAt } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-08-taylor-point');

it('two pairs by hand: the slope is P at ζ = 1, P/(1 − P) at ζ = 0', async () => {
  const a = Math.log(3); // P = 3/4 in the row and in the column
  const s = [
    [0, a],
    [a, 0],
  ];
  const values = new Map<number, number>();
  const h = 1e-3;
  const slopeAt = async (zeta: number): Promise<number> => {
    for (const t of [-2 * h, -h, h, 2 * h]) values.set(t, await valueAt((x) => ecif.zetaLoss(x, [1], zeta + t), s));
    return derivative((t) => Float64Array.of(values.get(t) ?? NaN), h)[0];
  };
  expect(await slopeAt(1)).toBeCloseTo(2 * 0.75, 8);
  expect(await slopeAt(0)).toBeCloseTo(2 * 3, 6);
  expect(await valueAt((x) => both(ecif.negTerm(x, [1], 'corrected')), s)).toBeCloseTo(2 * 0.75, 12);
});
