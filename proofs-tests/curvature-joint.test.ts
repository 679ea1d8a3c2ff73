// The joint preconditioner: the block of A and B against plain loops and dense matrices, its definiteness, what it saves.

import { describe, expect, it } from 'vitest';
import { dot } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { composedBlock } from '../src/ecif/curvature/composed-block.ts';
import { measureComposed } from '../src/ecif/curvature/composed.ts';
import { Directions, shareOf, withDirections } from '../src/ecif/curvature/directions.ts';
import { overGradients } from '../src/ecif/curvature/draws.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { gaussNewtonProduct, hessianProduct } from '../src/models/streamed.ts';
import { COMPOSED, composedModel, composedStream, type Factors } from './support/composed.ts';
import { normals } from './support/linalg.ts';
import { bilinearStream, denseCurvature, gapOf, tinyClip } from './support/streamed.ts';

/** The lower triangle on both sides. */
const mirrored = (lower: Float64Array, n: number): Float64Array =>
  lower.map((_, i) => lower[Math.max(Math.floor(i / n), i % n) * n + Math.min(Math.floor(i / n), i % n)]);

/** The matrix of a solver's inverse, column by column. */
async function inverseOf<T>(solver: ecif.RecordedSolver<T>, theta: T): Promise<Float64Array> {
  const flat = new Flat(theta);
  const out = new Float64Array(flat.size ** 2);
  for (let i = 0; i < flat.size; i++) {
    const unit = Float64Array.from({ length: flat.size }, (_, k) => (k === i ? 1 : 0));
    out.set(await flat.toVector(await solver.solve(flat.toTree(unit))), i * flat.size);
  }
  return out;
}

const inverted = (matrix: Float64Array, n: number): Float64Array => ecif.choleskyInverse(ecif.cholesky(matrix, n));

describe('the block of A and B', () => {
  const { rank, text, image, scale } = COMPOSED;
  const [a, b, gradient] = [normals(1, rank * text), normals(2, image * rank), normals(3, image * text)];
  const gram = (seed: number, n: number): Float64Array => {
    const x = normals(seed, n * n);
    return ecif.matMul(x, ecif.transpose(x, n), n);
  };
  const [rows, columns] = [gram(4, image), gram(5, text)];
  const point = { a, b, rank, scale, rows, columns, gradient };
  const n = a.length + b.length;

  it('is Jᵀ·K·J of plain loops', () => {
    /** scale·(B·dA + dB·A) */
    const j = (v: Float64Array): number[][] =>
      Array.from({ length: image }, (_, i) =>
        Array.from({ length: text }, (_unused, l) => {
          let total = 0;
          for (let k = 0; k < rank; k++) {
            total += b[i * rank + k] * v[k * text + l] + v[a.length + i * rank + k] * a[k * text + l];
          }
          return scale * total;
        }),
      );
    const units = Array.from({ length: n }, (_, i) =>
      j(Float64Array.from({ length: n }, (_u, k) => (k === i ? 1 : 0))),
    );
    const trace = [0, 1, 2, 3].reduce((total, i) => total + rows[i * 5], 0);
    const expected = Float64Array.from({ length: n * n }, (_, at) => {
      const [p, q] = [units[Math.floor(at / n)], units[at % n]];
      let total = 0;
      for (let i = 0; i < image; i++)
        for (let k = 0; k < image; k++)
          for (let l = 0; l < text; l++)
            for (let m = 0; m < text; m++) total += p[i][l] * rows[i * image + k] * columns[l * text + m] * q[k][m];
      return total / trace;
    });
    expect(gapOf(mirrored(composedBlock(point, { gaussNewton: 1, coupling: 0 }), n), expected)).toBeLessThan(1e-13);
    expect(gapOf(mirrored(composedBlock(point, { gaussNewton: 0.25, coupling: 0 }), n), expected)).toBeCloseTo(
      0.75,
      12,
    );
  });

  it('has the coupling that differences of ∇⟨G, scale·B·A⟩ show', () => {
    /** scale·⟨G, B·A⟩ at A and B. */
    const value = (v: Float64Array): number => {
      const w = ecif.matMul(v.subarray(a.length), v.subarray(0, a.length), image, rank, text);
      return scale * dot(w, gradient);
    };
    const at = Float64Array.from([...a, ...b]);
    const moved = (i: number, k: number, x: number, y: number): number => {
      const v = at.slice();
      v[i] += x;
      v[k] += y;
      return value(v);
    };
    const expected = Float64Array.from({ length: n * n }, (_, place) => {
      const [i, k] = [Math.floor(place / n), place % n];
      return moved(i, k, 0.5, 0.5) - moved(i, k, 0.5, -0.5) - moved(i, k, -0.5, 0.5) + moved(i, k, -0.5, -0.5);
    });
    expect(gapOf(mirrored(composedBlock(point, { gaussNewton: 0, coupling: 1 }), n), expected)).toBeLessThan(1e-12);
  });
});

// At W = 0 and with features of mean 0 the Gauss-Newton matrix of W is Kronecker, and S is linear in W.
describe('where the curvature of W is Kronecker', () => {
  const exact = { draws: 'exact', directions: 0 } as const;

  it.each([
    ['hessian', hessianProduct],
    ['gauss-newton', gaussNewtonProduct],
  ] as const)('it is the inverse of the %s', async (curvature, product) => {
    const stream = composedStream(20);
    const { size, matrix } = await denseCurvature(stream, product);
    const joint = await ecif.jointOf(stream.loss, stream.theta, { ...exact, curvature });
    expect(joint.about.settings).toMatchObject({ joined: 1, plain: 0, coupling: curvature === 'hessian' ? 1 : 0 });
    expect(gapOf(await inverseOf(joint, stream.theta), inverted(matrix, size))).toBeLessThan(1e-11);
    const damped = await ecif.jointOf(stream.loss, stream.theta, { ...exact, curvature, damping: 3 });
    const more = matrix.map((v, i) => v + (i % (size + 1) === 0 ? 3 : 0));
    expect(gapOf(await inverseOf(damped, stream.theta), inverted(more, size))).toBeLessThan(1e-11);
  });

  it('that of the one is not that of the other, nor exact for features with a mean', async () => {
    const gapAt = async (centred: boolean, curvature: ecif.CurvatureKind): Promise<number> => {
      const stream = composedStream(20, { centred });
      const { size, matrix } = await denseCurvature(stream, hessianProduct);
      const joint = await ecif.jointOf(stream.loss, stream.theta, { ...exact, curvature });
      return gapOf(await inverseOf(joint, stream.theta), inverted(matrix, size));
    };
    expect(await gapAt(true, 'gauss-newton')).toBeGreaterThan(0.01);
    expect(await gapAt(false, 'hessian')).toBeGreaterThan(1e-3);
  });

  it('an indefinite Hessian gets a definite stand-in, and the record says how', async () => {
    const stream = composedStream(0.5);
    const { size, matrix } = await denseCurvature(stream, hessianProduct);
    expect(ecif.symmetricEigen(matrix, size).values[0]).toBeLessThan(-0.1);
    const joint = await ecif.jointOf(stream.loss, stream.theta, exact);
    expect(joint.about.settings.coupling).toBeLessThan(1);
    const inverse = await inverseOf(joint, stream.theta);
    expect(ecif.asymmetry(inverse, size)).toBeLessThan(1e-12);
    expect(ecif.symmetricEigen(inverse, size).values[0]).toBeGreaterThan(0);
  });
});

describe('which matrices are joined', () => {
  it('those of a model inside another, too; all memory is given back', async () => {
    const {
      loss: { partitions, batch, l2 },
      theta,
    } = composedStream(20);
    const model = ecif.trainedTemperature(composedModel);
    const inside = { tower: theta, logScale: ecif.logScale(theta.a.device, 1) };
    const { device } = theta.a;
    const live = device.memory().live;
    const joint = await ecif.jointOf({ model, partitions, batch, l2 }, inside, { draws: 3, directions: 2 });
    expect(joint.about.settings).toMatchObject({ joined: 1, plain: 1, directions: 2 });
    const b = new Flat(inside).normal(ecif.createRng(1));
    ecif.disposeTree([b, await joint.solve(b)]);
    joint.dispose();
    expect(device.memory().live).toBe(live);
  });

  it('not those of a matrix that two others follow, nor of a block that is too large', async () => {
    const { loss, theta } = composedStream(20);
    const model: typeof composedModel = {
      ...composedModel,
      embed: (t, { text, image }, tap = (_parameter, _x, y) => y) => {
        const low = tap('a', text, ecif.matmul(text, t.a, { form: 'nt' }), 'out-in');
        const after = { parameter: 'a', scale: 1 };
        const second = (path: string, of: ecif.Tensor): ecif.Tensor =>
          tap(path, low, ecif.matmul(low, of, { form: 'nt' }), 'out-in', after);
        return { u: ecif.add(second('b', t.b), second('c', (t as Factors & { c: ecif.Tensor }).c)), v: image };
      },
    };
    const two = { ...theta, c: theta.b };
    const shared = await ecif.jointOf({ ...loss, model }, two, { draws: 2 });
    expect(shared.about.settings).toMatchObject({ joined: 0, plain: 3 });
    const small = await ecif.jointOf(loss, theta, { draws: 2, directions: 0, largestBlock: 13 });
    expect(small.about.settings).toMatchObject({ joined: 0, plain: 2, share: 0, coupling: 1 });
    const ekfac = (await ecif.ekfacOf(loss, theta, { draws: 2 })).solver();
    expect(gapOf(await inverseOf(small, theta), await inverseOf(ekfac, theta))).toBeLessThan(1e-12);
    const large = await ecif.jointOf(loss, theta, { draws: 2, directions: 0, largestBlock: 14 });
    expect(large.about.settings.joined).toBe(1);
    expect(gapOf(await inverseOf(large, theta), await inverseOf(ekfac, theta))).toBeGreaterThan(0.01);
  });

  it('without δ it is refused', async () => {
    const { loss, theta } = composedStream(0);
    await expect(ecif.jointOf(loss, theta)).rejects.toThrow('joint: δ 0 with damping 0; give a damping above 0');
  });
});

describe('drawn directions', () => {
  it('add their outer products to the curvature', async () => {
    const [n, share] = [6, 0.3];
    const x = normals(1, n * n);
    const base = ecif.matMul(x, ecif.transpose(x, n), n).map((v, i) => v + (i % (n + 1) === 0 ? 1 : 0));
    const vectors = [normals(2, n), normals(3, n)];
    const whole = base.map((v, i) => v + share * vectors.reduce((t, u) => t + u[Math.floor(i / n)] * u[i % n], 0));
    const factor = ecif.cholesky(base, n);
    const solve = await withDirections((r) => Promise.resolve(ecif.choleskySolve(factor, r)), vectors, share);
    const b = normals(4, n);
    expect(gapOf(await solve(b), ecif.choleskySolve(ecif.cholesky(whole, n), b))).toBeLessThan(1e-12);
  });

  it('have the Gauss-Newton matrix as their mean, also more of them than are kept', async () => {
    const { loss, theta } = bilinearStream(2);
    const flat = new Flat(theta);
    const { size, matrix } = await denseCurvature({ loss: { ...loss, l2: 0 }, theta });
    const mean = new Float64Array(size * size);
    const runs = 150;
    for (let seed = 0; seed < runs; seed++) {
      const directions = new Directions<ecif.Bilinear>(5, ecif.createRng(seed));
      const draw = (drawn: Parameters<typeof directions.add>[0]): never[] => (directions.add(drawn), []);
      await overGradients(loss, theta, { draws: 3, seed }, 0, { draw, inputs: () => [] });
      expect(directions.vectors).toHaveLength(5);
      for (const tree of directions.vectors) {
        const v = await flat.toVector(tree);
        mean.forEach((_, i) => (mean[i] += (v[Math.floor(i / size)] * v[i % size]) / runs));
      }
      directions.dispose();
    }
    expect(gapOf(mean, matrix)).toBeLessThan(0.15);
  });

  it('count for much where they are many for the rank, for little where they are few', () => {
    const n = 200;
    const flat = Array.from({ length: 80 }, (_, i) => normals(i, n));
    const steep = flat.map((v) => v.map((x, i) => (i < 2 ? x : 0)));
    const expected = (rank: number): number => 0.5 / (0.5 + (rank + 1) / 80);
    expect(Math.abs(shareOf(flat) / expected(n) - 1)).toBeLessThan(0.15);
    expect(Math.abs(shareOf(steep) / expected(2) - 1)).toBeLessThan(0.15);
    expect(shareOf(flat.map((v) => v.map((x) => 3 * x)))).toBeCloseTo(shareOf(flat), 12);
    expect(shareOf(flat.slice(0, 1))).toBe(0);
  });
});

describe('conjugate gradients on the Hessian of a CLIP with LoRA', () => {
  // Nearer to 0, so that a moderate δ makes the Hessian definite: its least eigenvalue is then about 1, without δ −16.
  const { rest } = tinyClip(17);
  const { loss } = rest;
  const theta = Object.fromEntries(Object.entries(rest.theta).map(([name, x]) => [name, ecif.affine(x, 0.3, 0)]));
  const flat = new Flat(theta);

  async function iterations(preconditioner?: ecif.RecordedSolver<Adapter>): Promise<number> {
    const more = preconditioner === undefined ? {} : { preconditioner };
    const solver = ecif.cgSolver(loss, theta, { curvature: 'hessian', tolerance: 1e-6, ...more });
    await solver.solve(flat.toTree(normals(3, flat.size)));
    return solver.history[0].iterations;
  }

  it('are fewer than with EK-FAC and without a preconditioner', async () => {
    const joint = await ecif.jointOf(loss, theta);
    expect(joint.about.settings).toMatchObject({ joined: 6, plain: 0, coupling: 1 });
    const found = await iterations(joint);
    expect(found).toBeLessThan(0.8 * (await iterations((await ecif.ekfacOf(loss, theta)).solver())));
    expect(found).toBeLessThan(0.8 * (await iterations()));
  });

  /** Blocks alone, with so much of the coupling. */
  async function blocksWith(coupling: number): Promise<ecif.RecordedSolver<Adapter>> {
    const pairs = await measureComposed(loss, theta, (path) => theta[path].shape[0], {
      ...{ largestBlock: 2048, gradients: true },
      onDraw: () => undefined,
    });
    const read = async (x: ecif.Tensor): Promise<Float64Array> => Float64Array.from(await x.data());
    return {
      about: { method: 'blocks', curvature: 'hessian', l2: loss.l2, damping: 0, settings: {} },
      solve: async (tree) => {
        const out: Record<string, ecif.Tensor> = {};
        for (const pair of pairs) {
          const [a, b] = [theta[pair.a], theta[pair.b]];
          const point = { ...pair, a: await read(a), b: await read(b), rank: a.shape[0] };
          const factor = ecif.cholesky(composedBlock(point, { gaussNewton: 1, coupling }), a.size + b.size, loss.l2);
          const right = Float64Array.from([...(await read(tree[pair.a])), ...(await read(tree[pair.b]))]);
          const x = ecif.choleskySolve(factor, right);
          out[pair.a] = ecif.tensor(a.device, x.slice(0, a.size), a.shape);
          out[pair.b] = ecif.tensor(b.device, x.slice(a.size), b.shape);
        }
        return out;
      },
      dispose: () => undefined,
    };
  }

  it('are fewer with the coupling than without, and more with its sign turned', async () => {
    const [none, whole, turned] = [
      await iterations(await blocksWith(0)),
      await iterations(await blocksWith(1)),
      await iterations(await blocksWith(-1)),
    ];
    expect(whole).toBeLessThan(0.8 * none);
    expect(turned).toBeGreaterThan(none);
  });

  it('say in their record what preconditioned them', async () => {
    const joint = await ecif.jointOf(loss, theta, { draws: 2, seed: 3, largestBlock: 34 });
    const { settings } = ecif.cgSolver(loss, theta, { preconditioner: joint }).about;
    expect(settings).toMatchObject({
      ...{ preconditioner: 'joint', 'preconditioner.draws': 2, 'preconditioner.seed': 3 },
      ...{ 'preconditioner.largestBlock': 34, 'preconditioner.joined': 2, 'preconditioner.plain': 8 },
    });
  });
});
