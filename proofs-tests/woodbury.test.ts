// Removal through the similarities: the Newton step with H₋ at full rank, the exact gradient's at rank 0.

import { describe, expect, it } from 'vitest';
import { addScaled, distance } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { trainedConvex, type Trained } from './support/convex.ts';
import { cpu, median } from './support/hand.ts';
import { naiveProduct } from './support/linalg.ts';
import { relativeError } from './support/op-checks.ts';
import { readFlat } from './support/random-graph.ts';
import { towerProblem, trainModel } from './support/towers.ts';

const flat = (t: ecif.Bilinear): Promise<Float64Array> => readFlat([t.w]);
const touched = ({ seg }: Trained): number[] => seg.map(({ batch }) => batch);
const SMALL = { pairs: 8, batches: 2, text: 3, image: 3, decay: 0.5 };

describe.each([
  ['one pair', { seed: 1, remove: 1 }],
  ['pairs of several batches', { seed: 2, remove: 4 }],
  ['pairs of one batch alone', { seed: 3, remove: 2, batches: 1, pairs: 5 }],
])('%s', (_what, setting) => {
  const trained = trainedConvex(cpu, { ...SMALL, ...setting });
  const prepared = trained.then((t) => ecif.prepareBatches(t.problem, t.theta, touched(t), t.h));

  it('all directions give the Newton step with H₋', async () => {
    const t = await trained;
    const { theta, rank, energy } = await ecif.removeWoodbury(await prepared, t.seg);
    expect(relativeError(await flat(theta), await flat(await ecif.removeByNewton(t.removal)))).toBeLessThan(1e-10);
    expect(energy).toBeCloseTo(1, 12);
    expect(rank).toBe((await prepared).solved.length);
  });

  it("no direction gives the exact gradient's step, which is another one", async () => {
    const t = await trained;
    const { theta, rank } = await ecif.removeWoodbury(await prepared, t.seg, 0);
    const linear = await flat(await ecif.removeLinear(t.removal, 'exact'));
    expect(rank).toBe(0);
    expect(relativeError(await flat(theta), linear)).toBeLessThan(1e-10);
    expect(relativeError(linear, await flat(await ecif.removeByNewton(t.removal)))).toBeGreaterThan(1e-3);
  });
});

it('the sets above do span several batches where they say so', async () => {
  expect((await trainedConvex(cpu, { ...SMALL, seed: 2, remove: 4 })).seg).toHaveLength(2);
});

it('the error against Newton falls with the rank, and the share of energy rises to 1', async () => {
  const ranks = [0, 1, 2, 4, 8];
  const errors: number[][] = ranks.map(() => []);
  const energies: number[][] = ranks.map(() => []);
  for (let seed = 10; seed < 18; seed++) {
    const t = await trainedConvex(cpu, { ...SMALL, seed, remove: 2, batches: 1, pairs: 6 });
    const prepared = await ecif.prepareBatches(t.problem, t.theta, [0], t.h);
    const newton = await flat(await ecif.removeByNewton(t.removal));
    const length = distance(newton, await flat(t.theta));
    for (const [i, rank] of ranks.entries()) {
      const { theta, energy } = await ecif.removeWoodbury(prepared, t.seg, rank);
      errors[i].push(distance(await flat(theta), newton) / length);
      energies[i].push(energy);
    }
  }
  const [error, energy] = [errors.map(median), energies.map(median)];
  for (const i of [1, 2, 3, 4]) {
    expect(error[i]).toBeLessThan(error[i - 1]);
    expect(energy[i]).toBeGreaterThan(energy[i - 1]);
  }
  // "3–8 directions hold 99 % of the energy", and rank 4 is within 0.13.
  expect(energy[4]).toBeGreaterThan(0.99);
  expect(error[3]).toBeLessThan(0.13);
  expect(error[0]).toBeGreaterThan(0.13);
});

it('one preparation serves every set of its batches', async () => {
  const t = await trainedConvex(cpu, { ...SMALL, seed: 4 });
  const prepared = await ecif.prepareBatches(t.problem, t.theta, [1, 0], t.h);
  const SETS: ecif.Seg[] = [
    [{ batch: 0, positions: [0] }],
    [{ batch: 1, positions: [3] }],
    [{ batch: 0, positions: [0, 1, 2, 3] }],
    [
      { batch: 0, positions: [2] },
      { batch: 1, positions: [0, 2] },
    ],
  ];
  const results: Float64Array[] = [];
  for (const seg of SETS) {
    const newton = await flat(await ecif.removeByNewton(ecif.removalOf(t.problem, t.theta, seg, t.h)));
    results.push(await flat((await ecif.removeWoodbury(prepared, seg)).theta));
    expect(relativeError(results[results.length - 1], newton)).toBeLessThan(1e-10);
  }
  results.slice(1).forEach((r, i) => expect(relativeError(r, results[i])).toBeGreaterThan(1e-3));
});

it('where S is not linear in θ it is the Gauss-Newton form, (H − JᵀKJ)⁻¹g', async () => {
  const { problem, theta, h, seg, read } = await trainModel(towerProblem(cpu, 5));
  const prepared = await ecif.prepareBatches(problem, theta, [0], h);
  const found = await read((await ecif.removeWoodbury(prepared, seg)).theta);
  const at = await read(ecif.treeSpace<typeof theta>().combine([1], [theta]));
  const { matrix: full, size: n } = await ecif.hessian(ecif.totalLoss(problem), theta);
  // J by differences of S, column by column; K as the difference of two Hessians in S, whole and after removal.
  const flatTheta = new Flat(theta);
  const similarity = async (w: Float64Array): Promise<Float64Array> =>
    Float64Array.from(await ecif.similarities(problem.model, flatTheta.toTree(w), problem.batches[0]).data());
  const s = ecif.similarities(problem.model, theta, problem.batches[0]);
  const m = s.size;
  const transposed = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    const moved = (by: number): Promise<Float64Array> => similarity(at.map((x, k) => (k === i ? x + by : x)));
    const [up, down] = [await moved(1e-5), await moved(-1e-5)];
    transposed.set(
      up.map((x, k) => (x - down[k]) / 2e-5),
      i * m,
    );
  }
  const on = (f: (x: ecif.Tensor) => ecif.Tensor): Promise<Float64Array> =>
    ecif.hessian(({ w }: { w: ecif.Tensor }) => f(w), { w: s }).then((r) => r.matrix);
  const [whole, left] = [await on(ecif.contrastive), await on((x) => ecif.removedLoss(x, [1, 4]))];
  const k = whole.map((x, i) => x - left[i]);
  const j = ecif.transpose(transposed, n, m);
  const jkj = naiveProduct(transposed, naiveProduct(k, j, m, m, n), n, m, n);
  const g = await read(ecif.grad(ecif.lossOf(problem, seg, 'exact'))(theta));
  const step = (a: Float64Array): Float64Array => ecif.luSolve(ecif.lu(a, n), g);
  const moved = distance(found, at);
  const missed = (a: Float64Array): number => distance(found, addScaled(at, 1, step(a))) / moved;
  expect(missed(addScaled(full, -1, jkj))).toBeLessThan(1e-6);
  // Control: the Newton step with the true H₋ is another one here.
  expect(missed((await ecif.hessian(ecif.lossWithout(problem, seg), theta)).matrix)).toBeGreaterThan(1e-3);
});

describe('refusals', () => {
  const trained = trainedConvex(cpu, { ...SMALL, seed: 6 });

  it('a batch that was not prepared is named', async () => {
    const { problem, theta, h } = await trained;
    const prepared = await ecif.prepareBatches(problem, theta, [0], h);
    await expect(ecif.removeWoodbury(prepared, [{ batch: 1, positions: [0] }])).rejects.toThrow(
      'removeWoodbury: batch 1 was not prepared; give it to prepareBatches',
    );
  });

  it.each([-1, NaN])('rank %d is refused', async (rank) => {
    const { problem, theta, h } = await trained;
    const prepared = await ecif.prepareBatches(problem, theta, [0], h);
    await expect(ecif.removeWoodbury(prepared, [{ batch: 0, positions: [0] }], rank)).rejects.toThrow(
      `removeWoodbury: rank ${rank}; take a number ≥ 0`,
    );
  });

  it('batches of more than 4,096 similarities are refused before any solve, and leave no memory behind', async () => {
    const device = new CpuDevice();
    const side = 65;
    const rows = (): ecif.Tensor => ecif.full(device, [side, 1], 1);
    const problem = { model: ecif.bilinear(1), batches: [{ text: rows(), image: rows() }], decay: 1 };
    const theta = { w: ecif.zeros(device, [1, 1]) };
    const before = device.memory().buffers;
    const solve = (): Promise<ecif.Bilinear> => Promise.reject(new Error('solved'));
    await expect(ecif.prepareBatches(problem, theta, [0], { solve })).rejects.toThrow(
      'prepareBatches: 4225 similarities, at most 4096; use removeKrylov',
    );
    expect(device.memory().buffers).toBe(before);
  });
});
