// The error bound: the printed one is violated, the corrected ones never are.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { ONE_DIMENSION, scannedConstants } from '../src/verify/claims/bound.ts';
import { settle } from '../src/verify/setting.ts';
import { gather, priorRatios } from './support/bound-ratios.ts';
import { cpu, median } from './support/hand.ts';
import * as one from './support/one-dimension.ts';
import { prove } from './support/proof.ts';

prove('thm-error-bound');

it('one parameter: the printed bound 1.571 is below the error 2.841', async () => {
  const setting = await settle(ONE_DIMENSION, cpu);
  const { problem, theta, seg, h, w } = setting;
  const edited = (await (await ecif.removeLinear(ecif.removalOf(problem, theta, seg, h), 'corrected')).w.data())[0];
  expect((one.minimiser(one.surrogate) - edited).toFixed(3)).toBe('2.841');
  const printed = await ecif.printedTheorem(problem, theta, seg, scannedConstants(setting));
  expect(printed.total.toFixed(3)).toBe('1.571');
  // Its second term by hand, from second differences of scalar losses.
  const [before, after, delta] = [one.second(one.total, w[0]), one.second(one.surrogate, w[0]), 1e-3];
  const sum = (2 * delta + before + after) / ((delta + after) * (delta + before));
  expect(printed.second).toBeCloseTo(sum * printed.gradient, 4);
  expect(printed.gradient).toBeGreaterThanOrEqual(Math.abs(one.first(one.lost, w[0])) - 1e-9);
});

it('2,500 removals: neither corrected bound is ever below the error; half of the tighter one sometimes is', async () => {
  const found = await gather(2500, priorRatios);
  expect(found.lipschitz.length).toBeGreaterThan(2000);
  expect(found.selfConcordant.length).toBeGreaterThan(200);
  expect(Math.min(...found.selfConcordant)).toBeLessThan(2);
  expect(median(found.selfConcordant)).toBeLessThan(median(found.lipschitz));
});
