// The first term of the printed bound carries a constant too many: its unit is wrong.

import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { diameters, lseLipschitz } from '../src/ecif/bounds.ts';
import { prove } from './support/proof.ts';

prove('erratum-05-stray-constant');

/** Third derivative of log Σ c_j·e^{t·z_j} in t at 0: the third central moment of z under the softmax. */
function thirdMoment(z: readonly number[], c: readonly number[]): number {
  const all = c.reduce((a, b) => a + b, 0);
  const mean = z.reduce((t, x, j) => t + (c[j] / all) * x, 0);
  return z.reduce((t, x, j) => t + (c[j] / all) * (x - mean) ** 3, 0);
}

it('C = d³/(6√3): no softmax over numbers of diameter d has a larger third moment, and two numbers reach it', () => {
  const list = fc.array(
    fc.record({ z: fc.double({ min: -2, max: 2, noNaN: true }), c: fc.double({ min: 1e-3, max: 1, noNaN: true }) }),
    { minLength: 2, maxLength: 6 },
  );
  fc.assert(
    fc.property(list, (entries) => {
      const [z, c] = [entries.map((e) => e.z), entries.map((e) => e.c)];
      const limit = lseLipschitz(diameters([z.map((x) => Float64Array.of(x))])[0]);
      expect(Math.abs(thirdMoment(z, c))).toBeLessThanOrEqual(limit + 1e-12);
    }),
    { numRuns: 2000, seed: 10 },
  );
  const share = (1 - 1 / Math.sqrt(3)) / 2;
  expect(thirdMoment([0, 3], [1 - share, share])).toBeCloseTo(lseLipschitz(3), 12);
  // Control: half of it is no bound.
  expect(thirdMoment([0, 3], [1 - share, share])).toBeGreaterThan(lseLipschitz(3) / 2);
});
