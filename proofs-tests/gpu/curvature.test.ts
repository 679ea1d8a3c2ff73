// The solvers of a streamed objective on WebGPU, in float32, against the dense inverse on the CPU, in float64.

import { beforeAll, expect, it } from 'vitest';
import { Flat } from '../../src/autodiff/flat.ts';
import * as ecif from '../../src/index.ts';
import { composedStream } from '../support/composed.ts';
import { describeGpu } from '../support/gpu.ts';
import { normals } from '../support/linalg.ts';
import { bilinearStream, gapOf } from '../support/streamed.ts';

await describeGpu('curvature on WebGPU', () => {
  const here = bilinearStream(2, 0.5);
  let there: ReturnType<typeof bilinearStream>;
  beforeAll(async () => {
    there = bilinearStream(2, 0.5, await ecif.openDevice({ kind: 'webgpu' }));
  });

  /** (H + 0.1)⁻¹·b by a decomposition of the same objective on each device. */
  async function both(make: (stream: typeof here) => Promise<ecif.Decomposition<ecif.Bilinear>>) {
    const solve = async (stream: typeof here): Promise<Float64Array> => {
      const flat = new Flat(stream.theta);
      return flat.toVector(await (await make(stream)).solver(0.1).solve(flat.toTree(normals(3, flat.size))));
    };
    return gapOf(await solve(there), await solve(here));
  }

  it.each<[string, (stream: typeof here) => Promise<ecif.Decomposition<ecif.Bilinear>>]>([
    ['EK-FAC', ({ loss, theta }) => ecif.ekfacOf(loss, theta, { draws: 3 })],
    ['K-FAC', ({ loss, theta }) => ecif.kfacOf(loss, theta, { draws: 3 })],
    ['the diagonal', ({ loss, theta }) => ecif.diagonalOf(loss, theta, { draws: 3 })],
    ['dense', ({ loss, theta }) => ecif.denseOf(loss, theta)],
    ['Lanczos', ({ loss, theta }) => ecif.lanczosOf(loss, theta, { rank: 12 })],
    ['LoGra', ({ loss, theta }) => ecif.lograOf(loss, theta, { size: 2, init: 'pca', factors: { draws: 3 } })],
  ])('%s gives what it gives on the CPU, and a bad condition number is told', async (_name, make) => {
    expect(await both(make)).toBeLessThan(1e-3);
    const { spectrum, epsilon, about } = await make(there);
    expect(ecif.conditioningAt({ spectrum, epsilon, about }, 0.1)).toBeNull();
    expect(ecif.conditioningAt({ spectrum, epsilon, about }, 1e-9 - spectrum[0])?.error).toBeGreaterThan(0.01);
  });

  it('the joint preconditioner gives what it gives on the CPU', async () => {
    const solve = async (device: ecif.Device): Promise<Float64Array> => {
      const { loss, theta } = composedStream(5, { device });
      const flat = new Flat(theta);
      const joint = await ecif.jointOf(loss, theta, { draws: 3 });
      expect(joint.about.settings).toMatchObject({ joined: 1, directions: 3 });
      return flat.toVector(await joint.solve(flat.toTree(normals(3, flat.size))));
    };
    expect(gapOf(await solve(there.theta.w.device), await solve(here.theta.w.device))).toBeLessThan(1e-4);
  });

  it('conjugate gradients with EK-FAC agree with the dense inverse', async () => {
    const ekfac = await ecif.ekfacOf(there.loss, there.theta);
    const solver = ecif.cgSolver(there.loss, there.theta, { preconditioner: ekfac.solver() });
    const exact = await ecif.denseOf(here.loss, here.theta);
    const flats = [new Flat(there.theta), new Flat(here.theta)];
    const b = normals(3, flats[0].size);
    const found = await flats[0].toVector(await solver.solve(flats[0].toTree(b)));
    expect(gapOf(found, await flats[1].toVector(await exact.solver().solve(flats[1].toTree(b))))).toBeLessThan(2e-3);
    expect(solver.about.curvature).toBe('hessian');
  });
});
