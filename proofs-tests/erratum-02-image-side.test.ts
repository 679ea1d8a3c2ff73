// Algorithm 1's image side has the text side's numerator.

import { expect, it } from 'vitest';
import { negOfAlgorithm1 } from '../src/ecif/algorithms.ts';
import * as ecif from '../src/index.ts';
import { both, valueAt } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-02-image-side');

const { E } = Math;

it('two pairs by hand: (1 + e)/e² where (1 + e²)/e² belongs', async () => {
  const s = [
    [0, 1],
    [2, 0],
  ];
  expect(await valueAt((x) => negOfAlgorithm1(x, [1]), s)).toBeCloseTo((1 + E) / E + (1 + E) / E ** 2, 12);
  expect(await valueAt((x) => both(ecif.negTerm(x, [1], 'published')), s)).toBeCloseTo(
    (1 + E) / E + (1 + E ** 2) / E ** 2,
    12,
  );
});

it('both agree where S is symmetric, which hides it', async () => {
  const s = [
    [0.3, 1, -0.7],
    [1, 0.2, 0.5],
    [-0.7, 0.5, 2],
  ];
  const found = await valueAt((x) => negOfAlgorithm1(x, [1]), s);
  expect(found).toBeCloseTo(await valueAt((x) => both(ecif.negTerm(x, [1], 'published')), s), 12);
});
