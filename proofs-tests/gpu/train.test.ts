// ecif train on WebGPU: equal runs give equal bits, and the losses of the CPU in float64.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runTraining } from '../../src/cli/train-run.ts';
import { openDevice } from '../../src/device/open.ts';
import { describeGpu } from '../support/gpu.ts';
import { bytesOf, quiet, settingsOf, temporaryFolder, writeShapes, writeTinyConfig } from '../support/shapes.ts';

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
});
