// A sample of the claims judged on WebGPU: the verdict is that of float64, and a planted wrong answer is seen.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Device, openDevice } from '../../src/index.ts';
import { judge } from '../../src/verify/run.ts';
import { describeGpu } from '../support/gpu.ts';
import { claimOf } from '../support/proof.ts';

await describeGpu('claims in float32', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ kind: 'webgpu' });
  });
  afterAll(() => device.destroy());

  it.each([
    'eq-similarity',
    'eq-batch-loss',
    'eq-hessian',
    'eq-removed-loss',
    'eq-neg-taylor',
    'prop-positive-if',
    'prop-negative-if',
    'prop-task-score',
  ])('%s', async (id) => {
    const { verdict, expected, agrees, worst, tolerance } = await judge(claimOf(id), device, 3, 2);
    expect(verdict).toBe(expected);
    expect(agrees).toBe(true);
    // Float32 it is: the error is above that of float64.
    expect(worst.control).toBeGreaterThan(tolerance);
    expect(worst.corrected ?? worst.printed).toBeGreaterThan(1e-10);
  });
});
