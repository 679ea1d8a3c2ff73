// The gradient of a set is not bounded by those of its pairs: Neg is not additive.

import { expect, it } from 'vitest';
import { addScaled, norm } from '../src/array/vector.ts';
import * as ecif from '../src/index.ts';
import { settle } from '../src/verify/setting.ts';
import { cpu } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-10-set-gradient');

it.each([2, 3, 4])('%i twins of a text with one image throughout: the ratio is their number', async (twins) => {
  const rows = (x: number): number[][] => Array.from({ length: twins }, () => [x]);
  const { problem, theta, seg, gradient } = await settle(
    {
      name: 'twins',
      ...{ temperature: 1, delta: 0.1, text: [...rows(1), ...rows(-1)], image: [...rows(1), ...rows(1)] },
      batches: [Array.from({ length: 2 * twins }, (_, i) => i)],
      remove: Array.from({ length: twins }, (_, i) => i),
      validation: { text: [[1], [-1]], image: [[1], [-1]] },
    },
    cpu,
  );
  const set = norm(await gradient(ecif.lossOf(problem, seg, 'corrected')));
  const pairs = await ecif.pairGradients(problem, theta, 'corrected');
  const largest = Math.max(...pairs.map(({ pos, neg }) => norm(addScaled(pos, 1, neg))));
  // By hand at θ̂ = 0: all of the set twins/2, one pair 1/(2·twins).
  expect(set).toBeCloseTo(twins / 2, 10);
  expect(largest).toBeCloseTo(1 / (2 * twins), 10);
  expect(set / (twins * largest)).toBeCloseTo(twins, 8);
});
