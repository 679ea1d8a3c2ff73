// LoGra: projections that keep inner products whatever the layer's shape, and the curvature inverted under them.

import { describe, expect, it } from 'vitest';
import { treeMap } from '../src/array/tree.ts';
import { dot } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { naiveProduct, flip, normals } from './support/linalg.ts';
import { bilinearStream, denseCurvature, gapOf, tinyClip, towerStream, type Streamed } from './support/streamed.ts';

const device = new CpuDevice();
const K = 8;
const DRAWS = 2000;
const SHAPES = [
  [4, 96],
  [96, 4],
  [12, 12],
  [60, 60],
] as const;

/** Mean and variance over draws of ⟨P·a, P·b⟩/⟨a, b⟩ for gradients of one token. */
async function ratios([rows, columns]: readonly [number, number], init: ecif.ProjectionInit, size = K) {
  const outer = (seed: number): Float64Array => {
    const [g, x] = [normals(seed, rows).map((v) => v + 1), normals(seed + 1, columns).map((v) => v + 1)];
    return Float64Array.from({ length: rows * columns }, (_, i) => g[Math.floor(i / columns)] * x[i % columns]);
  };
  const [a, b] = [outer(1), outer(7)];
  const trees = [a, b].map((values) => ({ m: ecif.tensor(device, values, [rows, columns]) }));
  let [mean, square] = [0, 0];
  for (let seed = 0; seed < DRAWS; seed++) {
    const p = ecif.projectionOf(trees[0], { size, init, seed });
    const [pa, pb] = [await p.project(trees[0]), await p.project(trees[1])];
    const length = dot(pa, pa) / dot(a, a);
    mean += dot(pa, pb) / dot(a, b) / DRAWS;
    square += (length - 1) ** 2 / DRAWS;
    p.dispose();
  }
  return { mean, square };
}

describe('inner products after a random projection', () => {
  it.each(SHAPES)('are unbiased over 2,000 draws, a layer of %d × %d', async (...shape) => {
    expect(Math.abs((await ratios(shape, 'random')).mean - 1)).toBeLessThan(0.05);
  });

  it('spread as the size says, whatever the shape', async () => {
    // ‖L·g‖² and ‖R·x‖² are χ²(k)/k times ‖g‖², ‖x‖², so that the variance of their product is (1 + 2/k)² − 1.
    for (const shape of [
      [10, 96],
      [40, 16],
    ] as const) {
      const { square } = await ratios(shape, 'random');
      expect(Math.abs(square / ((1 + 2 / K) ** 2 - 1) - 1)).toBeLessThan(0.25);
    }
  });

  it('shrink under orthonormal rows, by as much as the sides', async () => {
    const { mean } = await ratios([12, 12], 'orthogonal', 6);
    expect(Math.abs(mean * 4 - 1)).toBeLessThan(0.1);
    expect(mean).toBeLessThan(0.5);
  });
});

describe('P and Pᵀ', () => {
  const { theta } = tinyClip().rest;
  const flat = new Flat(theta);

  it.each(['random', 'orthogonal'] as const)('are transposes of each other, %s', async (init) => {
    const p = ecif.projectionOf(theta, { size: 3, init, seed: 2 });
    expect(p.size).toBeLessThan(flat.size);
    const [tree, values] = [normals(3, flat.size), normals(4, p.size)];
    const lifted = await flat.read(() => p.lift(values));
    const small = await p.project(flat.toTree(tree));
    expect(small).toHaveLength(p.size);
    expect(Math.abs(dot(lifted, tree) - dot(values, small))).toBeLessThan(1e-12 * Math.abs(dot(lifted, tree)) + 1e-12);
  });

  it('are L·M·Rᵀ for a matrix, by plain loops', async () => {
    const one = { m: ecif.tensor(device, normals(5, 30), [5, 6]) };
    const p = ecif.projectionOf(one, { size: 4, seed: 1 });
    const units = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        p.project({
          m: ecif.tensor(
            device,
            Float64Array.from({ length: 30 }, (__, j) => (i === j ? 1 : 0)),
            [5, 6],
          ),
        }),
      ),
    );
    const whole = Float64Array.from({ length: 16 * 30 }, (_, at) => units[at % 30][Math.floor(at / 30)]);
    // Every 4×4 block of the Kronecker product has rank one over (row of L, row of R): a minor of it vanishes.
    const entry = (k: number, l: number, r: number, c: number): number => whole[(k * 4 + l) * 30 + r * 6 + c];
    expect(Math.abs(entry(0, 1, 2, 3) * entry(3, 2, 4, 5) - entry(0, 2, 2, 5) * entry(3, 1, 4, 3))).toBeLessThan(1e-14);
    const direct = naiveProduct(whole, Float64Array.from(await one.m.data()), 16, 30, 1);
    expect(gapOf(await p.project(one), direct)).toBeLessThan(1e-13);
    const back = naiveProduct(transposed(whole, 16, 30), direct, 30, 16, 1);
    expect(gapOf(Float64Array.from(await p.lift(direct).m.data()), back)).toBeLessThan(1e-13);
  });

  it('leave what is no matrix as it is', async () => {
    const { theta: towers } = towerStream();
    const p = ecif.projectionOf(towers, { size: 1, seed: 4 });
    expect(p.size).toBe(3);
    const doubled = treeMap<ecif.Tensor, typeof towers>(towers, (x) => ecif.affine(x, 2, 0));
    expect((await p.project(doubled))[0]).toBe(2 * (await towers.logScale.item()));
    expect(await towers.logScale.item()).toBeCloseTo(Math.log(2));
  });
});

const transposed = (a: Float64Array, rows: number, columns: number): Float64Array =>
  rows === columns ? flip(a, rows) : Float64Array.from(a, (_, at) => a[(at % rows) * columns + Math.floor(at / rows)]);

/** H⁻¹·b dense and by LoGra, with b itself. */
async function both<T, B>(stream: Streamed<T, B>, options: ecif.LograOptions, damping = 0) {
  const { size, matrix } = await denseCurvature(stream);
  const flat = new Flat(stream.theta);
  const b = normals(31, size);
  const logra = await ecif.lograOf(stream.loss, stream.theta, options);
  const found = await flat.toVector(await logra.solver(damping).solve(flat.toTree(b)));
  return { b, matrix, exact: ecif.choleskySolve(ecif.cholesky(matrix, size, damping), b), found, logra };
}

describe('the inverse under a projection', () => {
  it.each([0, 0.4])('of full rank is the inverse: orthogonal and leading eigenvectors, damping %d', async (damping) => {
    for (const init of ['orthogonal', 'pca'] as const) {
      for (const stream of [bilinearStream(3), bilinearStream(5)]) {
        const { exact, found } = await both(stream, { size: 4, init, factors: { draws: 3 } }, damping);
        expect(gapOf(found, exact)).toBeLessThan(1e-10);
      }
      const { exact, found } = await both(towerStream(3, 1), { size: 3, init }, damping);
      expect(gapOf(found, exact)).toBeLessThan(1e-10);
    }
  });

  it('of less rank is the best there is in its space: never above bᵀ·H⁻¹·b, and nearer with every row', async () => {
    const stream = bilinearStream(3);
    const values: number[] = [];
    for (const size of [1, 2, 3]) {
      const { b, exact, found } = await both(stream, { size, init: 'pca', factors: { draws: 'exact' } });
      values.push(dot(b, found) / dot(b, exact));
    }
    expect(values[0]).toBeGreaterThan(0);
    expect(values[1]).toBeGreaterThan(values[0]);
    expect(values[2]).toBeGreaterThan(values[1]);
    expect(values[2]).toBeLessThan(1);
    const { b, exact, found } = await both(stream, { size: 2 });
    expect(dot(b, found) / dot(b, exact)).toBeLessThan(0.999);
  });

  it('leading eigenvectors hold more of the curvature than random ones', async () => {
    const held = async (init: ecif.ProjectionInit): Promise<number> => {
      let total = 0;
      for (const seed of [1, 2, 3]) {
        const { logra } = await both(bilinearStream(seed), { size: 2, init, seed, factors: { draws: 'exact' } });
        total += logra.spectrum.reduce((a, v) => a + v, 0);
      }
      return total;
    };
    expect(await held('pca')).toBeGreaterThan(1.2 * (await held('orthogonal')));
  });

  it('says what it is, refuses a size that is none, and leaves nothing behind', async () => {
    const { loss, theta } = bilinearStream(3);
    const live = theta.w.device.memory().live;
    const logra = await ecif.lograOf(loss, theta, { size: 2, init: 'pca', curvature: 'hessian' });
    expect(logra.about).toEqual({
      ...{ method: 'logra', curvature: 'hessian', l2: 0.3 },
      settings: { size: 2, init: 'pca', seed: 0, dimensions: 4 },
    });
    ecif.disposeTree(await logra.solver().solve(theta));
    logra.dispose();
    expect(theta.w.device.memory().live).toBe(live);
    await expect(ecif.lograOf(loss, theta, { size: 0 })).rejects.toThrow('projection: size 0; give a whole number');
  });
});
