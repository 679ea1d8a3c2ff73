// Every solver behind one interface: on the convex model each agrees with the dense inverse.

import { describe, expect, it } from 'vitest';
import { Flat } from '../src/autodiff/flat.ts';
import * as ecif from '../src/index.ts';
import { hessianProduct } from '../src/models/streamed.ts';
import { normals } from './support/linalg.ts';
import { bilinearStream, denseCurvature, gapOf, type Streamed, towerStream } from './support/streamed.ts';

/** x with (H + damping)·x = b by LU of the dense matrix, which need not be definite, and b. */
async function exactSolve<T, B>(
  stream: Streamed<T, B>,
  { damping = 0, hessian = false }: { damping?: number; hessian?: boolean } = {},
): Promise<{ b: T; x: Float64Array; read(tree: T): Promise<Float64Array> }> {
  const { size, matrix } = await denseCurvature(stream, hessian ? hessianProduct : undefined);
  const flat = new Flat(stream.theta);
  const b = normals(21, size);
  const damped = matrix.map((v, i) => v + (i % (size + 1) === 0 ? damping : 0));
  return { b: flat.toTree(b), x: ecif.luSolve(ecif.lu(damped, size), b), read: (tree) => flat.read(() => tree) };
}

const convex = bilinearStream(4, 1);
type W = ecif.Bilinear;

const SOLVERS: [string, number, (damping: number) => Promise<ecif.RecordedSolver<W>>][] = [
  ['dense', 1e-11, async (damping) => (await ecif.denseOf(convex.loss, convex.theta)).solver(damping)],
  [
    'dense',
    1e-11,
    async (damping) => (await ecif.denseOf(convex.loss, convex.theta, { curvature: 'hessian' })).solver(damping),
  ],
  ['cg', 1e-8, async (damping) => ecif.cgSolver(convex.loss, convex.theta, { damping, tolerance: 1e-10 })],
  ['minres', 1e-8, async (damping) => ecif.minresSolver(convex.loss, convex.theta, { damping, tolerance: 1e-10 })],
  ['lissa', 1e-6, async (damping) => ecif.lissaSolver(convex.loss, convex.theta, { damping })],
  ['lanczos', 1e-6, async (damping) => (await ecif.lanczosOf(convex.loss, convex.theta, { rank: 12 })).solver(damping)],
];

describe.each(SOLVERS)('%s on the bilinear model', (method, tolerance, make) => {
  it.each([0, 0.7])(`agrees with the inverse to ${tolerance}, damping %d`, async (damping) => {
    const { b, x, read } = await exactSolve(convex, { damping });
    const solver = await make(damping);
    expect(gapOf(await read(await solver.solve(b)), x)).toBeLessThan(tolerance);
    const { about } = solver;
    expect([about.method, about.l2, about.damping]).toEqual([method, 1, damping]);
    expect(JSON.parse(JSON.stringify(about))).toEqual(about);
  });

  it('another damping is another answer', async () => {
    const { x } = await exactSolve(convex);
    const { b, read } = await exactSolve(convex);
    expect(gapOf(await read(await (await make(0.7)).solve(b)), x)).toBeGreaterThan(0.05);
  });
});

describe('conjugate gradients', () => {
  it('change from an indefinite Hessian to Gauss-Newton, and say so', async () => {
    const towers = towerStream(1, 0.05);
    const { values } = ecif.symmetricEigen((await denseCurvature(towers, hessianProduct)).matrix, 13);
    expect(values[0]).toBeLessThan(-0.01);
    const solver = ecif.cgSolver(towers.loss, towers.theta, { tolerance: 1e-11 });
    expect(solver.about.curvature).toBe('hessian');
    const { b, x, read } = await exactSolve(towers);
    expect(gapOf(await read(await solver.solve(b)), x)).toBeLessThan(1e-8);
    expect(solver.about.curvature).toBe('gauss-newton');
    expect(solver.history.map(({ curvature, status }) => [curvature, status])).toEqual([
      ['hessian', 'negative-curvature'],
      ['gauss-newton', 'converged'],
    ]);
    ecif.disposeTree(await solver.solve(b));
    expect(solver.history).toHaveLength(3);
    const strict = ecif.cgSolver(towers.loss, towers.theta, { curvature: 'hessian' });
    await expect(strict.solve(b)).rejects.toThrow(ecif.NegativeCurvatureError);
  });

  it('keep the Hessian where it is definite, and Gauss-Newton is something else', async () => {
    const towers = towerStream(1, 60);
    const { b, x, read } = await exactSolve(towers, { hessian: true });
    const solver = ecif.cgSolver(towers.loss, towers.theta, { tolerance: 1e-11 });
    expect(gapOf(await read(await solver.solve(b)), x)).toBeLessThan(1e-9);
    expect(solver.about.curvature).toBe('hessian');
    const other = ecif.cgSolver(towers.loss, towers.theta, { curvature: 'gauss-newton' });
    expect(gapOf(await read(await other.solve(b)), x)).toBeGreaterThan(1e-3);
  });

  it('with the inverse itself as preconditioner take one iteration, with EK-FAC fewer than without', async () => {
    const stream = bilinearStream(2, 0.01);
    const { b } = await exactSolve(stream);
    const count = async (preconditioner?: ecif.RecordedSolver<W>): Promise<number> => {
      const more = preconditioner === undefined ? {} : { preconditioner };
      const solver = ecif.cgSolver(stream.loss, stream.theta, { curvature: 'gauss-newton', tolerance: 1e-6, ...more });
      ecif.disposeTree(await solver.solve(b));
      expect(solver.about.settings.preconditioner).toBe(preconditioner?.about.method ?? null);
      return solver.history[0].iterations;
    };
    const ekfac = await ecif.ekfacOf(stream.loss, stream.theta, { draws: 'exact' });
    expect(await count((await ecif.denseOf(stream.loss, stream.theta)).solver())).toBe(1);
    expect(await count(ekfac.solver())).toBeLessThan(await count());
  });

  it('make a preconditioner in reserve only where a solve takes long, once, and go on from where they were', async () => {
    const stream = bilinearStream(2, 0.01);
    const { b, x, read } = await exactSolve(stream);
    const dense = (await ecif.denseOf(stream.loss, stream.theta)).solver();
    let made = 0;
    const reserve = (after: number) => ({ after, make: async () => (made++, dense) });
    const solverFor = (after: number, more: Partial<ecif.CgSolverOptions<W>> = {}) =>
      ecif.cgSolver(stream.loss, stream.theta, {
        ...{ curvature: 'gauss-newton', tolerance: 1e-9, reserve: reserve(after) },
        ...more,
      });
    const patient = solverFor(1000);
    expect(gapOf(await read(await patient.solve(b)), x)).toBeLessThan(1e-6);
    expect([made, patient.about.settings.preconditioner]).toEqual([0, null]);
    await expect(solverFor(5, { maxIterations: 5 }).solve(b)).rejects.toThrow('cg: max-iterations');
    expect(made).toBe(0);
    // No more iterations in all than are allowed, and nothing lost of what a preconditioner that fails leaves behind.
    const identity = (await ecif.identityOf(stream.loss, stream.theta)).solver();
    const few = solverFor(3, {
      maxIterations: 5,
      unfinished: 'keep',
      reserve: { after: 3, make: async () => identity },
    });
    ecif.disposeTree(await few.solve(b));
    expect(few.history.map(({ status, iterations }) => [status, iterations])).toEqual([
      ['slow', 3],
      ['max-iterations', 2],
    ]);
    const { device } = Object.values(stream.theta)[0] as ecif.Tensor;
    const before = device.memory().live;
    const failing = solverFor(3, { reserve: { after: 3, make: () => Promise.reject(new Error('no room')) } });
    await expect(failing.solve(b)).rejects.toThrow('no room');
    failing.dispose();
    expect(device.memory().live).toBe(before);
    const whole = patient.history[0].residuals;
    const states: ecif.CgSolverState<W>[] = [];
    const hasty = solverFor(3, {
      onState: async (state) => {
        const copy = (tree: W): W => ecif.treeSpace<W>().combine([1], [tree]);
        states.push({ ...state, earlier: [...state.earlier], x: copy(state.x), r: copy(state.r), p: copy(state.p) });
      },
      reserve: { after: 3, make: async () => (made++, (await ecif.ekfacOf(stream.loss, stream.theta)).solver()) },
    });
    const found = await read(await hasty.solve(b));
    expect(gapOf(found, x)).toBeLessThan(1e-6);
    const [first, second] = hasty.history;
    expect([made, first.status, first.residuals]).toEqual([1, 'slow', whole.slice(0, 4)]);
    // Not from zero again: the second part begins with the residual of the first.
    expect(second.residuals[0]).toBeCloseTo(first.residuals[3], 12);
    expect(hasty.about.settings.preconditioner).toBe('ekfac');
    ecif.disposeTree(await hasty.solve(b));
    expect([made, hasty.history.length, hasty.history[2].status]).toEqual([1, 3, 'converged']);
    // From a state of either part the same bits and the same record.
    for (const resume of [states[1], states[5]]) {
      expect(resume.preconditioned).toBe(resume === states[5]);
      const resumed = solverFor(3, {
        resume,
        reserve: { after: 3, make: async () => (await ecif.ekfacOf(stream.loss, stream.theta)).solver() },
      });
      expect(await read(await resumed.solve(b))).toEqual(found);
      expect(resumed.history).toEqual(hasty.history.slice(0, 2));
    }
  });

  it('make the same products with forward passes kept for all solves, for one, or not', async () => {
    const towers = towerStream(1, 60);
    const { b, x, read } = await exactSolve(towers, { hessian: true });
    // Batches of equal size go together: sizes 5, 3 and twice 4 are three passes; one more looks how large a batch is.
    const batches = towers.loss.partitions.flat().length;
    const stacks = 3;
    const solveTwice = async (options: ecif.ProductOptions): Promise<{ passes: number; products: number }> => {
      let passes = 0;
      const loss: typeof towers.loss = { ...towers.loss, batch: (rows) => (passes++, towers.loss.batch(rows)) };
      const solver = ecif.cgSolver(loss, towers.theta, { curvature: 'hessian', tolerance: 1e-11, ...options });
      const before = towers.theta.logScale.device.memory().live;
      for (let i = 0; i < 2; i++) {
        const found = await solver.solve(b);
        expect(gapOf(await read(found), x)).toBeLessThan(1e-9);
        ecif.disposeTree(found);
      }
      const kept = towers.theta.logScale.device.memory().live - before;
      expect(kept > 0).toBe(options.products === 'linearized');
      solver.dispose();
      expect(towers.theta.logScale.device.memory().live).toBe(before);
      return { passes, products: 2 * solver.history[0].iterations };
    };
    expect((await solveTwice({ products: 'linearized' })).passes).toBe(1 + stacks);
    expect((await solveTwice({ products: 'auto' })).passes).toBe(2 * (1 + stacks));
    const streamed = await solveTwice({ products: 'streamed' });
    expect(streamed.passes).toBeGreaterThanOrEqual(streamed.products * batches);
    const none = await solveTwice({ products: 'auto', memory: 0 });
    expect(none.passes).toBeGreaterThanOrEqual(none.products * stacks);
  });

  it('that do not get there throw, or give what they have', async () => {
    const { b, x, read } = await exactSolve(convex);
    const few = { maxIterations: 2, curvature: 'gauss-newton' } as const;
    const solver = ecif.cgSolver(convex.loss, convex.theta, few);
    await expect(solver.solve(b)).rejects.toThrow(/^cg: max-iterations at residual \d\.\d+, 1e-8 asked for; raise/);
    const kept = ecif.cgSolver(convex.loss, convex.theta, { ...few, unfinished: 'keep' });
    const gap = gapOf(await read(await kept.solve(b)), x);
    expect(gap).toBeGreaterThan(1e-4);
    expect(gap).toBeLessThan(1);
    expect(kept.history[0].residuals).toHaveLength(3);
  });
});

it('MINRES solves with an indefinite Hessian', async () => {
  const towers = towerStream(1, 0.05);
  const { b, x, read } = await exactSolve(towers, { hessian: true });
  const solver = ecif.minresSolver(towers.loss, towers.theta, { tolerance: 1e-11 });
  expect(gapOf(await read(await solver.solve(b)), x)).toBeLessThan(1e-8);
});

describe('LiSSA', () => {
  it('takes its scale from the largest eigenvalue', async () => {
    const { size, matrix } = await denseCurvature(convex);
    const largest = ecif.symmetricEigen(matrix, size).values[size - 1];
    const { scale } = (await ecif.lissaSolver(convex.loss, convex.theta)).about.settings;
    expect(Number(scale) / largest).toBeGreaterThan(1);
    expect(Number(scale) / largest).toBeLessThan(1.2);
  });

  it('over drawn batches comes near the inverse, nearer over more repeats', async () => {
    const damping = 4;
    const { b, x, read } = await exactSolve(convex, { damping });
    const error = async (repeats: number): Promise<number> => {
      const settings = { batches: 2, repeats, damping, maxIterations: 100, seed: 3 };
      const solver = await ecif.lissaSolver(convex.loss, convex.theta, settings);
      return gapOf(await read(await solver.solve(b)), x);
    };
    const [one, many] = [await error(1), await error(8)];
    expect(many).toBeLessThan(0.05);
    expect(many).toBeLessThan(0.7 * one);
  });

  it('says where an indefinite Hessian makes it diverge', async () => {
    const towers = towerStream(1, 0.05);
    const { b } = await exactSolve(towers);
    const solver = await ecif.lissaSolver(towers.loss, towers.theta, { curvature: 'hessian' });
    await expect(solver.solve(b)).rejects.toThrow(/^lissa: (diverged|max-iterations) at residual/);
  });
});

describe('low rank by Lanczos', () => {
  it('is the inverse of the leading eigenpairs with δ outside, or nothing outside', async () => {
    const { size, matrix } = await denseCurvature(convex);
    const { values, vectors } = ecif.symmetricEigen(matrix, size);
    const b = normals(21, size);
    const flat = new Flat(convex.theta);
    const expected = (outside: number): Float64Array => {
      const x = b.map((v) => v * outside);
      for (const k of [10, 11]) {
        const v = vectors.subarray(k * size, (k + 1) * size);
        const c = v.reduce((total, e, i) => total + e * b[i], 0) * (1 / (values[k] + 0.2) - outside);
        v.forEach((e, i) => (x[i] += c * e));
      }
      return x;
    };
    for (const [outside, factor] of [
      ['decay', 1 / 1.2],
      ['drop', 0],
    ] as const) {
      const low = await ecif.lanczosOf(convex.loss, convex.theta, { rank: 2, steps: 12, outside });
      const x = await flat.toVector(await low.solver(0.2).solve(flat.toTree(b)));
      expect(gapOf(x, expected(factor))).toBeLessThan(1e-9);
      expect(low.spectrum).toHaveLength(outside === 'decay' ? 3 : 2);
    }
    await expect(ecif.lanczosOf(convex.loss, convex.theta, { rank: 13 })).rejects.toThrow('rank 13 of 12 parameters');
  });

  it('of more rank is nearer', async () => {
    const { b, x, read } = await exactSolve(convex);
    const errors: number[] = [];
    for (const rank of [2, 5, 9]) {
      const low = await ecif.lanczosOf(convex.loss, convex.theta, { rank });
      errors.push(gapOf(await read(await low.solver().solve(b)), x));
    }
    expect(errors[1]).toBeLessThan(errors[0]);
    expect(errors[2]).toBeLessThan(0.5 * errors[1]);
  });
});

it('no solver leaves anything on the device', async () => {
  const { device } = convex.theta.w;
  const { b } = await exactSolve(convex);
  for (const [, , make] of SOLVERS.slice(0, 5)) {
    const live = device.memory().live;
    const solver = await make(0.1);
    ecif.disposeTree(await solver.solve(b));
    solver.dispose();
    expect(device.memory().live).toBe(live);
  }
  const live = device.memory().live;
  const low = await ecif.lanczosOf(convex.loss, convex.theta, { rank: 3 });
  ecif.disposeTree(await low.solver().solve(b));
  low.dispose();
  expect(device.memory().live).toBe(live);
});
