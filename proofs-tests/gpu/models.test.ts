// Models that are not convex on WebGPU: training, influences and edits agree with those in float64.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CpuDevice } from '../../src/device/cpu.ts';
import * as ecif from '../../src/index.ts';
import { apart } from '../../src/verify/claim.ts';
import { describeGpu } from '../support/gpu.ts';
import { temperatureProblem, towerProblem, trainModel, type Untrained } from '../support/towers.ts';

/** What is compared of a trained model. */
async function quantities<T>(untrained: Untrained<T>): Promise<Record<string, Float64Array>> {
  const { problem, theta, h, seg, read } = await trainModel(untrained);
  const removal = ecif.removalOf(problem, theta, seg, h);
  const copy = ecif.treeSpace<T>().combine([1], [theta]);
  return {
    trained: await read(copy),
    positiveIF: await read(await ecif.positiveIF(problem, theta, seg, h)),
    negativeIF: await read(await ecif.negativeIF(problem, theta, seg, 'corrected', h)),
    rescaled: await read((await ecif.removeRescaled(removal)).theta),
    newton: await read(await ecif.removeByNewton(removal)),
  };
}

await describeGpu('models on WebGPU', () => {
  let device: ecif.Device;
  beforeAll(async () => {
    device = await ecif.openDevice({ kind: 'webgpu' });
  });
  afterAll(() => device.destroy());

  function agrees<T>(name: string, make: (device: ecif.Device, seed: number) => Untrained<T>): void {
    describe(name, () => {
      it('first derivatives are those of finite differences', async () => {
        const { problem, start } = make(device, 1);
        const { jvp, vjp } = await ecif.checkGrads(ecif.totalLoss(problem), start, { second: false, tolerance: 1e-2 });
        expect(Math.max(jvp, vjp)).toBeGreaterThan(0);
      });

      it('trained parameters, influences and edits are those of float64', async () => {
        const [here, there] = [await quantities(make(device, 2)), await quantities(make(new CpuDevice(), 2))];
        for (const [what, values] of Object.entries(there)) expect(apart(here[what], values), what).toBeLessThan(2e-3);
        // Control: another seed, or the other influence, is seen.
        expect(apart(here.positiveIF, there.negativeIF)).toBeGreaterThan(0.05);
        expect(apart(here.trained, (await quantities(make(new CpuDevice(), 3))).trained)).toBeGreaterThan(0.05);
      });
    });
  }

  agrees('two linear towers', towerProblem);
  agrees('with a trained temperature', temperatureProblem);
});
