// L' of one pair with the printed Neg is convex in S, so for every S that is linear in θ.

import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { both, matrix } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('prop-pair-loss-convex');

it('its Hessian in S has no negative eigenvalue, anywhere; that with the corrected Neg has', async () => {
  const least = async (s: readonly (readonly number[])[], form: ecif.NegForm): Promise<number> => {
    const f = ({ w }: { w: ecif.Tensor }): ecif.Tensor =>
      ecif.add(both(ecif.posTerm(w, [1])), both(ecif.negTerm(w, [1], form)));
    const { matrix: h, size } = await ecif.hessian(f, { w: matrix(s) });
    const { values } = ecif.symmetricEigen(h, size);
    return values[0] / Math.max(Math.abs(values[0]), values[size - 1]);
  };
  const row = fc.array(fc.double({ min: -4, max: 4, noNaN: true }), { minLength: 3, maxLength: 3 });
  const corrected: number[] = [];
  const property = fc.asyncProperty(fc.tuple(row, row, row), async (s) => {
    expect(await least(s, 'published')).toBeGreaterThan(-1e-10);
    corrected.push(await least(s, 'corrected'));
  });
  await fc.assert(property, { numRuns: 60, seed: 9 });
  expect(Math.min(...corrected)).toBeLessThan(-0.1);
});
