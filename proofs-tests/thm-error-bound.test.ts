// The error bound: the printed one is violated, the corrected ones never are.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { ONE_DIMENSION, scannedConstants } from '../src/verify/claims/bound.ts';
import { settle } from '../src/verify/setting.ts';
import { gather, priorRatios } from './support/bound-ratios.ts';
import { trainedConvex } from './support/convex.ts';
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

it('as printed, for two removed pairs in two batches: the formula of its parts', async () => {
  const { problem, theta, seg } = await trainedConvex(cpu, { seed: 4, remove: 2, decay: 0.5 });
  const constants = { batch: 2, pair: 3 };
  const { first, second, gradient, least } = await ecif.printedTheorem(problem, theta, seg, constants);
  const [after, before] = [least.after + 0.5, least.before + 0.5];
  expect(first).toBeCloseTo((3 * (2 * 2 + 2 * 3) * 4 * gradient ** 2) / (2 * after ** 3), 10);
  expect(second).toBeCloseTo(((after + before) / (after * before)) * gradient * 2, 10);
});

it('the Hessian of a softmax share over features of diameter d changes by d³/8 at most, and by nearly as much', () => {
  const third = (w: number, h = 1e-2): number => {
    const share = (t: number): number => 1 / (1 + Math.exp(-2 * t));
    return (share(w + 2 * h) - 2 * share(w + h) + 2 * share(w - h) - share(w - 2 * h)) / (2 * h ** 3);
  };
  const largest = Math.max(...Array.from({ length: 400 }, (_, i) => Math.abs(third((i - 200) / 50))));
  expect(largest).toBeLessThanOrEqual(2 ** 3 / 8);
  expect(largest).toBeGreaterThan((0.99 * 2 ** 3) / 8);
});

it('theoremConstants counts d³/(6√3) for a log-sum-exp and d³/8 for a share', async () => {
  const put = (v: number[]): ecif.Tensor =>
    ecif.tensor(
      cpu,
      v.map((x) => [x]),
    );
  const problem = { model: ecif.bilinear(1), batches: [{ text: put([1, -1]), image: put([1, -1]) }], decay: 1 };
  const theta = { w: ecif.tensor(cpu, [[0.3]]) };
  const { batch, pair } = await ecif.theoremConstants(problem, theta, [{ batch: 0, positions: [0] }]);
  // Every term has two features at distance 2; the batch has four terms, the pair two of its own and two shares.
  expect(batch).toBeCloseTo((4 * 8) / (6 * Math.sqrt(3)), 12);
  expect(pair).toBeCloseTo((2 * 8) / (6 * Math.sqrt(3)) + 2, 12);
});
