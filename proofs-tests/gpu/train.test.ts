// ecif train on WebGPU: equal runs give equal bits, the losses of the CPU in float64, and stationarity down to rounding.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runTraining } from '../../src/cli/train/run.ts';
import { type FinalNorms } from '../../src/cli/train/end.ts';
import { openDevice } from '../../src/device/open.ts';
import { describeGpu } from '../support/gpu.ts';
import { objectiveFromFiles } from '../support/runs.ts';
import {
  bytesOf,
  quiet,
  settingsOf,
  temporaryFolder,
  writeBase,
  writeShapes,
  writeTinyConfig,
} from '../support/shapes.ts';

const losses = (run: string): number[] =>
  readFileSync(join(run, 'log.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { loss: number }).loss);

await describeGpu('training on WebGPU', () => {
  it('is the same every time, and near float64', async () => {
    const folder = temporaryFolder();
    const [data, config] = [await writeShapes(folder), writeTinyConfig(join(folder, 'start'))];
    for (const [out, kind] of [
      ['a', 'webgpu'],
      ['b', 'webgpu'],
      ['c', 'cpu'],
    ] as const) {
      const device = await openDevice({ kind });
      const given = { data, 'from-scratch': config, out: join(folder, out), epochs: 2, batch: 6, crop: 0.8 };
      await runTraining(settingsOf(given), device, quiet);
      device.destroy();
    }
    const [a, b, c] = ['a', 'b', 'c'].map((out) => join(folder, out));
    expect(bytesOf(a, 'theta.safetensors').equals(bytesOf(b, 'theta.safetensors'))).toBe(true);
    losses(a).forEach((loss, i) => expect(loss).toBeCloseTo(losses(c)[i], 3));
  });

  it('settles until the gradient is lost in rounding, which float64 confirms', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    const out = join(folder, 'run');
    const device = await openDevice({ kind: 'webgpu' });
    const layers = { rank: 1, targets: 'v_proj', 'text-layers': 'last:1', 'vision-layers': 'last:1' };
    const given = {
      data,
      model,
      out,
      epochs: 2,
      batch: 6,
      l2: 20,
      ...layers,
      iterations: 20,
      'to-stationarity': 1e-12,
    };
    const { norms } = await runTraining(settingsOf(given), device, quiet);
    device.destroy();
    const { stationarity, gradientNorm } = norms as FinalNorms;
    expect(stationarity).toMatchObject({ reached: false, status: 'rounding' });
    expect(stationarity?.iterations.newton).toBeGreaterThan(0);
    // The gradient is smaller than one that is all rounding, by the device's own word and by float64's.
    const floor = stationarity?.floor ?? NaN;
    expect(floor).toBeLessThan(4e-3);
    expect(gradientNorm).toBeLessThan(floor);
    expect((await objectiveFromFiles(out, model, data, 20)).norm).toBeLessThan(floor);
    expect((await objectiveFromFiles(out, model, data, 20, 'centre')).norm).toBeGreaterThan(1);
  });
});
