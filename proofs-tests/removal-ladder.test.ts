// The ladder of removal estimators: each rung against its definition in dense algebra, and all against retraining.

import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { trainedConvex, type Trained } from './support/convex.ts';
import { relativeError } from './support/op-checks.ts';
import { readFlat } from './support/random-graph.ts';

const device = new CpuDevice();
const flat = (t: ecif.Bilinear): Promise<Float64Array> => readFlat([t.w]);
const norm = (v: Float64Array): number => Math.sqrt(v.reduce((s, x) => s + x * x, 0));
const plus = (a: Float64Array, b: Float64Array): Float64Array => a.map((x, i) => x + b[i]);

/** H, ΔH and g as dense arrays, ΔH from the two Hessians rather than from the terms. */
async function dense({
  problem,
  theta,
  removal,
}: Trained): Promise<{ n: number; h: Float64Array; less: Float64Array; g: Float64Array }> {
  const [full, left] = [await ecif.hessian(ecif.totalLoss(problem), theta), await ecif.hessian(removal.without, theta)];
  const g = (await flat(ecif.grad(removal.without)(theta))).map((x) => -x);
  return { n: full.size, h: full.matrix, less: full.matrix.map((x, i) => x - left.matrix[i]), g };
}

const solve = (a: Float64Array, n: number, b: Float64Array): Float64Array => ecif.choleskySolve(ecif.cholesky(a, n), b);

describe.each([1, 2, 3])('one removal, seed %i', (seed) => {
  const trained = trainedConvex(device, { seed, remove: 2, decay: 0.5 });

  it('exact: θ̂ + H⁻¹g', async () => {
    const t = await trained;
    const { n, h, g } = await dense(t);
    const expected = plus(await flat(t.theta), solve(h, n, g));
    expect(relativeError(await flat(await ecif.removeLinear(t.removal, 'exact')), expected)).toBeLessThan(1e-10);
  });

  it('Neumann: θ̂ + x + H⁻¹ΔH·x', async () => {
    const t = await trained;
    const { n, h, less, g } = await dense(t);
    const x = solve(h, n, g);
    const expected = plus(plus(await flat(t.theta), x), solve(h, n, ecif.matVec(less, x, n)));
    expect(relativeError(await flat(await ecif.removeNeumann(t.removal)), expected)).toBeLessThan(1e-10);
  });

  it('Newton: θ̂ + H₋⁻¹g, and more steps end at retraining', async () => {
    const t = await trained;
    const { n, h, less, g } = await dense(t);
    const expected = plus(
      await flat(t.theta),
      solve(
        h.map((x, i) => x - less[i]),
        n,
        g,
      ),
    );
    expect(relativeError(await flat(await ecif.removeByNewton(t.removal)), expected)).toBeLessThan(1e-10);
    const retrained = await flat((await ecif.minimise(t.removal.without, t.theta)).theta);
    expect(relativeError(await flat(await ecif.removeByNewton(t.removal, 8)), retrained)).toBeLessThan(1e-12);
    expect(relativeError(expected, retrained)).toBeGreaterThan(1e-6);
  });

  it('rescaled is the best multiple of the exact step, and Krylov of one vector is the same', async () => {
    const t = await trained;
    const { factor, guarded, theta } = await ecif.removeRescaled(t.removal);
    expect(guarded).toBe(false);
    const { n, h, less, g } = await dense(t);
    const x = solve(h, n, g);
    const left = h.map((v, i) => v - less[i]);
    const model = (k: number): number => {
      const d = x.map((v) => k * v);
      return d.reduce((s, v, i) => s + v * (ecif.matVec(left, d, n)[i] / 2 - g[i]), 0);
    };
    expect(model(factor)).toBeLessThan(Math.min(model(factor * 1.01), model(factor * 0.99)));
    expect(relativeError(await flat(await ecif.removeKrylov(t.removal, 1)), await flat(theta))).toBeLessThan(1e-10);
  });

  it('Krylov approaches Newton as vectors are added', async () => {
    const t = await trained;
    const newton = await flat(await ecif.removeByNewton(t.removal));
    const errors = [];
    for (const k of [1, 2, 3, 4]) errors.push(relativeError(await flat(await ecif.removeKrylov(t.removal, k)), newton));
    expect(errors[3]).toBeLessThan(errors[0] / 10);
    expect(errors[1]).toBeLessThan(errors[0]);
  });
});

it('medians against retraining fall from rung to rung, and the published form is worse than doing nothing', async () => {
  const errors: Record<string, number[]> = {};
  for (let seed = 0; seed < 20; seed++) {
    const t = await trainedConvex(device, {
      seed: 100 + seed,
      decay: [0.1, 1, 10][seed % 3],
      remove: 1 + (seed % 3),
      batches: 1,
    });
    const truth = await flat((await ecif.minimise(t.removal.without, t.theta)).theta);
    const start = await flat(t.theta);
    const change = norm(truth.map((x, i) => x - start[i]));
    const note = async (rung: string, theta: ecif.Bilinear): Promise<void> => {
      const v = await flat(theta);
      (errors[rung] ??= []).push(norm(v.map((x, i) => x - truth[i])) / change);
    };
    await note('published', await ecif.removeLinear(t.removal, 'published'));
    await note('corrected', await ecif.removeLinear(t.removal, 'corrected'));
    await note('exact', await ecif.removeLinear(t.removal, 'exact'));
    await note('rescaled', (await ecif.removeRescaled(t.removal)).theta);
    await note('krylov', await ecif.removeKrylov(t.removal, 2));
    await note('newton 2', await ecif.removeByNewton(t.removal, 2));
  }
  const median = (rung: string): number => errors[rung].toSorted((a, b) => a - b)[10];
  expect(median('published')).toBeGreaterThan(1);
  expect(median('corrected')).toBeLessThan(1);
  expect(median('rescaled')).toBeLessThan(median('exact'));
  expect(median('krylov')).toBeLessThan(median('rescaled'));
  expect(median('newton 2')).toBeLessThan(median('krylov'));
});

it('no estimator leaves memory behind but its result', async () => {
  const own = new CpuDevice();
  const { problem, theta, h, seg, removal } = await trainedConvex(own, { seed: 5, remove: 2 });
  const before = own.memory().buffers;
  ecif.disposeTree([
    await ecif.positiveIF(problem, theta, seg, h),
    await ecif.negativeIF(problem, theta, seg, 'corrected', h),
    await ecif.removeLinear(removal, 'exact'),
    (await ecif.removeRescaled(removal)).theta,
    await ecif.removeNeumann(removal),
    await ecif.removeKrylov(removal, 2),
    await ecif.removeByNewton(removal, 2),
  ]);
  expect(own.memory().buffers).toBe(before);
});
