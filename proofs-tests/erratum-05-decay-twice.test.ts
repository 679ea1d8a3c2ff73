// δ is part of ∇²L⁻ already; the printed H_δ counts it twice.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { ONE_DIMENSION } from '../src/verify/claims/bound.ts';
import { settle } from '../src/verify/setting.ts';
import { cpu } from './support/hand.ts';
import * as one from './support/one-dimension.ts';
import { prove } from './support/proof.ts';

prove('erratum-05-decay-twice');

it("one parameter: Newton's step is −F′/F″ with δ counted once", async () => {
  const { problem, theta, seg, h, w } = await settle(ONE_DIMENSION, cpu);
  const found = (await (await ecif.removeByNewton(ecif.removalOf(problem, theta, seg, h))).w.data())[0] - w[0];
  const [slope, curvature] = [one.first(one.without, w[0]), one.second(one.without, w[0])];
  expect(found).toBeCloseTo(-slope / curvature, 5);
  expect(Math.abs(found + slope / (curvature + 1e-3))).toBeGreaterThan(1e-4);
});
