// The minimiser of L⁻ is not retraining; the numbers of the one-parameter instance.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { ONE_DIMENSION } from '../src/verify/claims/bound.ts';
import { settle } from '../src/verify/setting.ts';
import { cpu } from './support/hand.ts';
import * as one from './support/one-dimension.ts';
import { prove } from './support/proof.ts';

prove('erratum-05-surrogate-minimiser');

it('one parameter: θ̂ = 0.5024, θ̃ = 0.9230, argmin L⁻ = 3.764, retraining 3.823, in scalars and by the package', async () => {
  const { problem, theta, seg, h } = await settle(ONE_DIMENSION, cpu);
  const number = async (t: ecif.Bilinear): Promise<number> => (await t.w.data())[0];
  const removal = ecif.removalOf(problem, theta, seg, h);
  const surrogate = ecif.surrogateLoss(problem, seg, 'corrected');
  const start = one.minimiser(one.total);
  const pairs = {
    trained: [await number(theta), start],
    edited: [
      await number(await ecif.removeLinear(removal, 'corrected')),
      start + one.first(one.lost, start) / one.second(one.total, start),
    ],
    surrogate: [
      await number((await ecif.minimise(surrogate, theta, { indefinite: 'reflect' })).theta),
      one.minimiser(one.surrogate),
    ],
    retrained: [await number((await ecif.minimise(removal.without, theta)).theta), one.minimiser(one.without)],
  };
  for (const [name, [found, byHand]] of Object.entries(pairs))
    expect(Math.abs(found - byHand), name).toBeLessThan(1e-6);
  const digits = Object.values(pairs).map(([found]) => Number(found.toPrecision(4)));
  expect(digits).toEqual([0.5024, 0.923, 3.764, 3.823]);
});
