// The relative score where both influences are parallel.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { settle } from '../src/verify/setting.ts';
import { cpu, matrix } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('prop-relative-parallel');

it('with one parameter every pair has the relative score |∇L_val|', async () => {
  const { problem, theta, h } = await settle(randomInstance(3, { text: 1, image: 1, pairs: 6, batches: 2 }), cpu);
  const scores = await ecif.relativeScores(problem, theta, h, { w: matrix([[-0.7]]) });
  expect(scores).toHaveLength(6);
  for (const { value } of scores) expect(value).toBeCloseTo(0.7, 12);
});
