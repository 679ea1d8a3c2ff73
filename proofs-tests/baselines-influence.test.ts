// Influence and products of gradients as scoring methods: each against plain loops over the gradients of every pair.
import { describe, expect, it } from 'vitest';
import { norm } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import * as ecif from '../src/index.ts';
import { choleskySolve, cholesky } from '../src/linalg/index.ts';
import { along, byRow, plainTask, posGradient, wholeGradient } from './support/scoring.ts';
import { gapOf } from './support/streamed.ts';

const plain = plainTask(1);
const { task, w, hessian } = plain;

const method = (name: string): ecif.Method => {
  const found = ecif.METHODS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no method ${name}`);
  return found;
};

describe('influence', () => {
  const solved = choleskySolve(cholesky(hessian, w.length), plain.gradVal(w));

  it.each([
    ['ecif', 'corrected'],
    ['ecif-exact', 'exact'],
    ['ecif-published', 'published'],
    ['ecif-gauss-newton', 'corrected'],
  ] as const)('%s is w·(∇Pos + ∇Neg), negatives %s, w by dense algebra', async (name, form) => {
    const expected = along(plain, solved, (place) => wholeGradient(place, w, form));
    expect(gapOf(await method(name).scores(task), expected)).toBeLessThan(1e-7);
    // Identity curvature is something else.
    expect(gapOf(await method('identity').scores(task), expected)).toBeGreaterThan(0.1);
  });

  it('ecif-positive leaves the negatives out', async () => {
    const expected = along(plain, solved, (place) => posGradient(place, w));
    expect(gapOf(await method('ecif-positive').scores(task), expected)).toBeLessThan(1e-7);
    expect(gapOf(await method('ecif').scores(task), expected)).toBeGreaterThan(0.1);
  });

  it.each([
    ['ecif-ekfac', ecif.ekfacOf],
    ['ecif-kfac', ecif.kfacOf],
    ['ecif-diagonal', ecif.diagonalOf],
  ] as const)('%s is the same along its own solution, and neither exact nor identity', async (name, make) => {
    const gradient = new Flat(task.theta).toTree(plain.gradVal(w));
    const solver = (await make(task.loss, task.theta, { seed: task.seed })).solver();
    const direction = await new Flat(task.theta).toVector(await solver.solve(gradient));
    const found = await method(name).scores(task);
    expect(
      gapOf(
        found,
        along(plain, direction, (place) => wholeGradient(place, w, 'corrected')),
      ),
    ).toBeLessThan(1e-9);
    for (const other of ['ecif', 'identity']) {
      expect(gapOf(found, await method(other).scores(task))).toBeGreaterThan(0.01);
    }
  });

  it('if-ekfac has the curvature of ecif-ekfac and the pair as positive alone', async () => {
    const gradient = new Flat(task.theta).toTree(plain.gradVal(w));
    const solver = (await ecif.ekfacOf(task.loss, task.theta, { seed: task.seed })).solver();
    const direction = await new Flat(task.theta).toVector(await solver.solve(gradient));
    const found = await method('if-ekfac').scores(task);
    expect(
      gapOf(
        found,
        along(plain, direction, (place) => posGradient(place, w)),
      ),
    ).toBeLessThan(1e-9);
    expect(gapOf(found, await method('ecif-ekfac').scores(task))).toBeGreaterThan(0.1);
  });

  it.each(['ecif-lanczos', 'ecif-lissa'])('%s is exact where there are few parameters', async (name) => {
    const expected = along(plain, solved, (place) => wholeGradient(place, w, 'corrected'));
    expect(gapOf(await method(name).scores(task), expected)).toBeLessThan(1e-3);
  });

  it('identity is a gradient product over 1 + δ', async () => {
    const expected = along(plain, plain.gradVal(w), (place) => wholeGradient(place, w, 'corrected'));
    const scaled = expected.map((x) => x / (1 + task.loss.l2));
    expect(gapOf(await method('identity').scores(task), scaled)).toBeLessThan(1e-9);
    expect(gapOf(await method('graddot').scores(task), scaled)).toBeGreaterThan(0.1);
  });
});

describe('products of gradients', () => {
  const dots = (at: Float64Array): Float64Array => along(plain, plain.gradVal(at), (place) => posGradient(place, at));

  it('GradDot is ∇Pos·∇L_val', async () => {
    expect(gapOf(await method('graddot').scores(task), dots(w))).toBeLessThan(1e-10);
  });

  it('GradCos divides by both lengths', async () => {
    const g = plain.gradVal(w);
    const expected = byRow(plain, (place) => {
      const own = posGradient(place, w);
      return own.reduce((sum, x, i) => sum + x * g[i], 0) / (norm(own) * norm(g));
    });
    const found = await method('gradcos').scores(task);
    expect(gapOf(found, expected)).toBeLessThan(1e-10);
    found.forEach((x) => expect(Math.abs(x)).toBeLessThanOrEqual(1));
    expect(gapOf(await method('graddot').scores(task), expected)).toBeGreaterThan(0.1);
  });

  it('GradCos estimates the lengths by probes where there are many parameters', async () => {
    const wide = plainTask(2, { count: 9, text: 11, image: 10, l2: 1 });
    const g = wide.gradVal(wide.w);
    const expected = along(wide, g, (place) => posGradient(place, wide.w));
    const lengths = byRow(wide, (place) => norm(posGradient(place, wide.w)) * norm(g));
    const found = await method('gradcos').scores(wide.task);
    // 64 probes: a length is off by 1/√128 or so.
    const exact = expected.map((x, i) => x / lengths[i]);
    expect(gapOf(found, exact)).toBeLessThan(0.3);
    expect(gapOf(found, exact)).toBeGreaterThan(1e-4);
    expect(ecif.spearman(found, exact)).toBeGreaterThan(0.9);
  });

  it('TracIn sums GradDot over checkpoints by their rates', async () => {
    const expected = new Float64Array(task.count);
    for (const [i, { rate }] of task.checkpoints.entries())
      dots(plain.early[i]).forEach((x, row) => (expected[row] += rate * x));
    const found = await method('tracin').scores(task);
    expect(gapOf(found, expected)).toBeLessThan(1e-10);
    const even = { ...task, checkpoints: task.checkpoints.map(({ theta }) => ({ theta, rate: 0.1 })) };
    expect(gapOf(await method('tracin').scores(even), expected)).toBeGreaterThan(0.1);
    await expect(method('tracin').scores({ ...task, checkpoints: [] })).rejects.toThrow(/no checkpoints/);
  });
});
