// Streamed scores of a LoRA CLIP and what a set contributes, in float32 on a real adapter: those of the CPU, and no memory left behind.
import { expect, it } from 'vitest';
import { Flat } from '../../src/autodiff/flat.ts';
import { distance, norm } from '../../src/array/vector.ts';
import { CpuDevice } from '../../src/device/cpu.ts';
import { streamedRemoval } from '../../src/ecif/streamed-removal.ts';
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

/** What two of eight well-fitted pairs contribute: its gradient, and its Hessian along a direction. */
async function lost(device: ecif.Device, form: 'corrected' | 'exact', gap: number): Promise<Float64Array> {
  const rng = ecif.createRng(7);
  const features = Float64Array.from({ length: 64 }, (_, i) => Number(i % 9 === 0) + 0.05 * rng.normal());
  const rows = (taken: Uint32Array): ecif.Tensor =>
    ecif.tensor(device, Float64Array.from([...taken].flatMap((row) => [...features.subarray(row * 8, row * 8 + 8)])), [
      taken.length,
      8,
    ]);
  const identity = Float64Array.from({ length: 64 }, (_, i) => Number(i % 9 === 0));
  const theta = { w: ecif.tensor(device, identity, [8, 8]) };
  const loss = {
    model: ecif.bilinear(1 / gap),
    partitions: [[Uint32Array.of(0, 1, 2, 3), Uint32Array.of(4, 5, 6, 7)]],
    batch: (taken: Uint32Array) => Promise.resolve({ text: rows(taken), image: rows(taken) }),
    l2: 1,
  };
  const never = (): Promise<never> => Promise.reject(new Error('no solve'));
  const removal = streamedRemoval(loss, theta, [1, 6], { solve: never }, never);
  const flat = new Flat(theta);
  const here = await removal.lostCurvature();
  const along = flat.toTree(Float64Array.from({ length: 64 }, (_, i) => Math.cos(i)));
  const parts = [await removal.lostGradient(form), await here.gradient(), await here.product(along)];
  const values = await Promise.all(parts.map((part) => flat.toVector(part)));
  here.release();
  return Float64Array.from(values.flatMap((part) => [...part.map((x) => x / norm(part))]));
}

await describeGpu('what a set of well-fitted pairs contributes, on WebGPU', () => {
  it.each(['corrected', 'exact'] as const)('%s: keeps its digits where the losses are small', async (form) => {
    const device = await ecif.openDevice({ kind: 'webgpu' });
    for (const gap of [3, 9, 15]) {
      const [gpu, cpu] = [await lost(device, form, gap), await lost(new CpuDevice(), form, gap)];
      expect(distance(gpu, cpu)).toBeLessThan(1e-4);
    }
  });
});

/** Where ECIF's edit goes from a fixed θ, with batches of 4, 4 and 3 pairs. */
async function edited(device: ecif.Device, form: 'corrected' | 'exact'): Promise<Float64Array> {
  const { loss, start } = tinyClip(device, { pairs: 11, batch: 4, partitions: 1, l2: 40 });
  const { solve, solveGradient } = ecif.cgSolver(loss, start, { tolerance: 1e-4, curvature: 'gauss-newton' });
  const never = (): Promise<never> => Promise.reject(new Error('no Newton step'));
  const smallest = loss.partitions[0].reduce((a, b) => (a.length < b.length ? a : b));
  const removed = [smallest[2], loss.partitions[0][0][1]];
  const h = { solve, solveGradient: solveGradient as NonNullable<typeof solveGradient> };
  const moved = await ecif.removeLinear(streamedRemoval(loss, start, removed, h, never), form);
  const flat = new Flat(start);
  const [to, from] = [await flat.toVector(moved), await flat.toVector(start)];
  return to.map((x, i) => x - from[i]);
}

await describeGpu('removal from batches that are filled up, on WebGPU', () => {
  it.each(['corrected', 'exact'] as const)('%s: is that of the CPU, where none is filled up', async (form) => {
    const [gpu, cpu] = [
      await edited(await ecif.openDevice({ kind: 'webgpu' }), form),
      await edited(new CpuDevice(), form),
    ];
    expect(norm(cpu)).toBeGreaterThan(1e-4);
    expect(distance(gpu, cpu)).toBeLessThan(2e-3 * norm(cpu));
  });
});

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
