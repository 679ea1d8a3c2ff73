// Streamed scores of a LoRA CLIP in float32 on a real adapter: those of the CPU, and no memory left behind.
import { expect, it } from 'vitest';
import { Flat } from '../../src/autodiff/flat.ts';
import { CpuDevice } from '../../src/device/cpu.ts';
import * as ecif from '../../src/index.ts';
import { describeGpu } from '../support/gpu.ts';
import { tinyClip } from '../support/tiny-clip.ts';

/** Scores along a fixed direction, by partition and row, with the losses. */
async function sweep(device: ecif.Device): Promise<{ scores: number[]; losses: number[]; left: number }> {
  const { loss, start } = tinyClip(device, { pairs: 11, batch: 4, partitions: 3 });
  const flat = new Flat(start);
  const w = flat.toTree(Float64Array.from({ length: flat.size }, (_, i) => Math.sin(3 * i)));
  const found: [string, number, number][] = [];
  const before = device.memory().live;
  for await (const { pairs } of ecif.streamScores(loss, start, { targets: [w] })) {
    for (const { partition, row, scores, loss: one } of pairs)
      found.push([`${partition} ${row}`, scores[0].score, one]);
  }
  found.sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    scores: found.map(([, score]) => score),
    losses: found.map(([, , one]) => one),
    left: device.memory().live - before,
  };
}

await describeGpu('streamed scores on WebGPU', () => {
  it('are those of the CPU, for batches of different sizes', async () => {
    const [gpu, cpu] = [await sweep(await ecif.openDevice({ kind: 'webgpu' })), await sweep(new CpuDevice())];
    expect(cpu.scores).toHaveLength(33);
    const size = Math.max(...cpu.scores.map(Math.abs));
    gpu.scores.forEach((x, i) => expect(Math.abs(x - cpu.scores[i])).toBeLessThan(2e-4 * size));
    gpu.losses.forEach((x, i) => expect(Math.abs(x - cpu.losses[i])).toBeLessThan(1e-4 * cpu.losses[i]));
    // Scores of different pairs differ by far more than that.
    expect(Math.abs(cpu.scores[0] - cpu.scores[1])).toBeGreaterThan(1e-2 * size);
    expect(gpu.left).toBe(0);
  });
});
