// The second term of the printed bound alone is larger than the whole change that retraining makes.

import { expect, it } from 'vitest';
import { distance } from '../src/array/vector.ts';
import * as ecif from '../src/index.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { settle } from '../src/verify/setting.ts';
import { cpu, median } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-05-vacuous');

it('on every one of 40 instances, by a median factor of more than 5', async () => {
  const ratios: number[] = [];
  for (let seed = 100; seed < 140; seed++) {
    const { problem, theta, seg, plain, minimum, optimum, dispose } = await settle(randomInstance(seed), cpu);
    const { second } = await ecif.printedTheorem(problem, theta, seg, { batch: 1, pair: 1 });
    ratios.push(second / distance(minimum(plain.removal(1)), optimum));
    dispose();
  }
  expect(Math.min(...ratios)).toBeGreaterThan(1);
  expect(median(ratios)).toBeGreaterThan(5);
});
