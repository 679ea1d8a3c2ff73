// EK-FAC, K-FAC and the diagonal: draws that make up the Gauss-Newton matrix, exact where it really is Kronecker.

import { describe, expect, it } from 'vitest';
import { treeLeaves } from '../src/array/tree.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { overGradients, type DrawOptions } from '../src/ecif/curvature/draws.ts';
import { kroneckerFactors } from '../src/ecif/curvature/kronecker-factors.ts';
import { diagonalOf, ekfacOf, identityOf, kfacOf } from '../src/ecif/curvature/kronecker.ts';
import type { Decomposition } from '../src/ecif/curvature/record.ts';
import * as ecif from '../src/index.ts';
import { normals } from './support/linalg.ts';
import {
  bilinearStream,
  denseCurvature,
  gapOf,
  oneBatch,
  type Streamed,
  tinyClip,
  towerStream,
} from './support/streamed.ts';

/** A CLIP on one batch of three pairs, and its matrix. */
const { loss: clipLoss, theta: clipTheta } = tinyClip().rest;
const smallClip = {
  loss: { ...clipLoss, partitions: [clipLoss.partitions[0].slice(1)] },
  theta: clipTheta,
};
const clipMatrix = denseCurvature(smallClip);

/** Σ over batches of the mean over draws of ĝ·ĝᵀ, as the factors see it. */
async function drawnMatrix<T, B>({ loss, theta }: Streamed<T, B>, options: DrawOptions): Promise<Float64Array> {
  const row = (gradient: T): ecif.Tensor =>
    ecif.reshape(ecif.concat(treeLeaves<ecif.Tensor>(gradient).map((g) => ecif.reshape(g, [-1]))), [1, -1]);
  const { draws } = await overGradients(loss, theta, options, 0, {
    draw: ({ gradient }) => ecif.matmul(row(gradient), row(gradient), { form: 'tn' }),
    inputs: () => [],
  });
  return Float64Array.from(await draws.data());
}

/** The matrix without δ. */
async function withoutDecay<T, B>(stream: Streamed<T, B>, dense = denseCurvature(stream)): Promise<Float64Array> {
  const { size, matrix } = await dense;
  return matrix.map((v, i) => v - (i % (size + 1) === 0 ? stream.loss.l2 : 0));
}

describe('draws of the gradient', () => {
  it('all of them make up the Gauss-Newton matrix: bilinear, two towers with temperature, CLIP', async () => {
    const check = async <T, B>(stream: Streamed<T, B>, dense = denseCurvature(stream)): Promise<void> => {
      const drawn = await drawnMatrix(stream, { draws: 'exact' });
      expect(gapOf(drawn, await withoutDecay(stream, dense))).toBeLessThan(1e-12);
    };
    await check(bilinearStream());
    await check(towerStream());
    await check(smallClip, clipMatrix);
  });

  it('some of them make it up in expectation: the error falls as one over the root of their number', async () => {
    const stream = bilinearStream(2);
    const expected = await withoutDecay(stream);
    const error = async (draws: number): Promise<number> =>
      gapOf(await drawnMatrix(stream, { draws, seed: 3 }), expected);
    const [few, many] = [await error(10), await error(1000)];
    expect(many).toBeLessThan(0.07);
    expect(few / many).toBeGreaterThan(4);
  });

  it('the gradient of the loss itself does not', async () => {
    const stream = bilinearStream(2);
    const { loss, theta } = stream;
    const flat = new Flat(theta);
    const empirical = new Float64Array(flat.size ** 2);
    for (const rows of loss.partitions.flat()) {
      const pairs = await loss.batch(rows);
      const g = await flat.read(() => ecif.grad((t: typeof theta) => ecif.batchLoss(loss.model, t, pairs))(theta));
      empirical.forEach((_, i) => (empirical[i] += (g[Math.floor(i / g.length)] * g[i % g.length]) / 2));
    }
    expect(gapOf(empirical, await withoutDecay(stream))).toBeGreaterThan(0.3);
  });

  it('a part of the batches counts for all, equal seeds give equal draws', async () => {
    const stream = bilinearStream(2);
    const whole = await drawnMatrix(stream, { draws: 'exact' });
    const parts = await Promise.all(
      Array.from({ length: 24 }, (_, seed) => drawnMatrix(stream, { draws: 'exact', batches: 2, seed })),
    );
    const mean = whole.map((_, i) => parts.reduce((total, part) => total + part[i] / parts.length, 0));
    expect(gapOf(mean, whole)).toBeLessThan(0.2);
    expect(gapOf(parts[0], whole)).toBeGreaterThan(0.01);
    const [a, b, c] = [7, 7, 8].map((seed) => drawnMatrix(stream, { draws: 2, seed }));
    expect(await a).toEqual(await b);
    expect(await a).not.toEqual(await c);
  });

  it('a number of draws that is none is refused', async () => {
    const { loss, theta } = bilinearStream();
    await expect(ekfacOf(loss, theta, { draws: 0 })).rejects.toThrow(
      'draws: found 0; give a whole number of at least 1',
    );
    await expect(ekfacOf(loss, theta, { batches: 1.5 })).rejects.toThrow('batches: found 1.5');
  });
});

/** (H + damping)⁻¹·b, dense and by the decomposition. */
async function solveBoth<T, B>(
  stream: Streamed<T, B>,
  made: Decomposition<T>,
  damping = 0,
): Promise<{ exact: Float64Array; found: Float64Array }> {
  const { size, matrix } = await denseCurvature(stream);
  const b = normals(9, size);
  const flat = new Flat(stream.theta);
  const solver = made.solver(damping);
  const found = await flat.toVector(await solver.solve(flat.toTree(b)));
  return { exact: ecif.choleskySolve(ecif.cholesky(matrix, size, damping), b), found };
}

const SIZES = { pairs: 7, text: 3, image: 4 };

/** Features of one batch, their mean taken away or not. */
function batchOf(centred: boolean, l2: number): Streamed<ecif.Bilinear, ecif.PairBatch> {
  const centre = (x: Float64Array, width: number): Float64Array =>
    x.map((v, i) => {
      let mean = 0;
      for (let k = i % width; k < x.length; k += width) mean += x[k] / SIZES.pairs;
      return centred ? v - mean : v + 1;
    });
  const [text, image] = [normals(1, SIZES.pairs * SIZES.text), normals(2, SIZES.pairs * SIZES.image)];
  return oneBatch(centre(text, SIZES.text), centre(image, SIZES.image), SIZES, l2);
}

// At W = 0 every p is 1/B, and if both sides have mean 0 the Gauss-Newton matrix is (2/B)·XᵀX ⊗ YᵀY.
describe('where the Gauss-Newton matrix is Kronecker', () => {
  it.each([0, 0.1, 3])('EK-FAC is the inverse, damping %d', async (damping) => {
    const stream = batchOf(true, 0.2);
    const { exact, found } = await solveBoth(
      stream,
      await ekfacOf(stream.loss, stream.theta, { draws: 'exact' }),
      damping,
    );
    expect(gapOf(found, exact)).toBeLessThan(1e-12);
  });

  it('K-FAC is the inverse but for the factor of the terms between tokens, 1 − 1/(2B)', async () => {
    const stream = batchOf(true, 0);
    const { exact, found } = await solveBoth(stream, await kfacOf(stream.loss, stream.theta, { draws: 'exact' }));
    expect(
      gapOf(
        found.map((v) => v * (1 - 1 / (2 * SIZES.pairs))),
        exact,
      ),
    ).toBeLessThan(1e-11);
    expect(gapOf(found, exact)).toBeGreaterThan(0.05);
  });

  it('EK-FAC of features with a mean is not', async () => {
    const stream = batchOf(false, 0.2);
    const { exact, found } = await solveBoth(stream, await ekfacOf(stream.loss, stream.theta, { draws: 'exact' }));
    expect(gapOf(found, exact)).toBeGreaterThan(0.02);
  });

  it('with many draws EK-FAC is near it', async () => {
    const stream = batchOf(true, 0.2);
    const { exact, found } = await solveBoth(stream, await ekfacOf(stream.loss, stream.theta, { draws: 1000 }));
    expect(gapOf(found, exact)).toBeLessThan(0.1);
  });
});

describe('on other objectives', () => {
  /** Mean relative error of ten solves. */
  async function errors<T, B>(stream: Streamed<T, B>, dense = denseCurvature(stream)) {
    const { loss, theta } = stream;
    const { size, matrix } = await dense;
    const factor = ecif.cholesky(matrix, size);
    const flat = new Flat(theta);
    const error = async (made: Decomposition<T>): Promise<number> => {
      let total = 0;
      for (let seed = 100; seed < 110; seed++) {
        const b = normals(seed, size);
        const found = await flat.toVector(await made.solver().solve(flat.toTree(b)));
        total += gapOf(found, ecif.choleskySolve(factor, b)) / 10;
      }
      return total;
    };
    return {
      ekfac: await error(await ekfacOf(loss, theta, { draws: 'exact' })),
      kfac: await error(await kfacOf(loss, theta, { draws: 'exact' })),
      diagonal: await error(await diagonalOf(loss, theta, { draws: 'exact' })),
      identity: await error(await identityOf(loss, theta)),
    };
  }

  it.each([1, 2, 3])('EK-FAC is nearer than K-FAC, the diagonal and the identity, features %d', async (seed) => {
    const { ekfac, kfac, diagonal, identity } = await errors(bilinearStream(seed, 0.1));
    expect(ekfac).toBeLessThan(0.95 * kfac);
    expect(ekfac).toBeLessThan(0.95 * diagonal);
    expect(ekfac).toBeLessThan(0.5 * identity);
  });

  it('also for a CLIP', async () => {
    const { ekfac, kfac, diagonal, identity } = await errors(smallClip, clipMatrix);
    expect(ekfac).toBeLessThan(0.9 * kfac);
    expect(kfac).toBeLessThan(0.9 * diagonal);
    expect(diagonal).toBeLessThan(0.9 * identity);
  });

  it('the diagonal is that of the matrix, and what has no linear map gets it in EK-FAC and K-FAC', async () => {
    const stream = towerStream();
    const { size, matrix } = await denseCurvature(stream);
    const diagonal = Float64Array.from({ length: size }, (_, i) => matrix[i * (size + 1)]);
    const options = { draws: 'exact' } as const;
    const { found } = await solveBoth(stream, await diagonalOf(stream.loss, stream.theta, options));
    expect(
      gapOf(
        found,
        normals(9, size).map((v, i) => v / diagonal[i]),
      ),
    ).toBeLessThan(1e-12);
    for (const make of [ekfacOf, kfacOf]) {
      const other = (await solveBoth(stream, await make(stream.loss, stream.theta, options))).found;
      expect(Math.abs(other[0] - found[0])).toBeLessThan(1e-12);
      expect(gapOf(other, found)).toBeGreaterThan(1e-3);
    }
  });

  it('its trace is that of the matrix in every basis', async () => {
    const { size, matrix } = await clipMatrix;
    const trace = Array.from({ length: size }, (_, i) => matrix[i * (size + 1)]).reduce((a, b) => a + b, 0);
    for (const longestSide of [1024, 8, 1]) {
      const { spectrum } = await ekfacOf(smallClip.loss, clipTheta, { draws: 'exact', longestSide });
      expect(Math.abs(spectrum.reduce((a, b) => a + b, 0) / trace - 1)).toBeLessThan(1e-12);
    }
  });
});

it('factors of a long side are the diagonal of those of a short one', async () => {
  const { loss, theta } = bilinearStream();
  const of = async (longestSide: number) => {
    const { rows, columns } = (await kroneckerFactors(loss, theta, { draws: 'exact', longestSide })).get('w') ?? {};
    return [rows, columns].map((factor) => factor && ('matrix' in factor ? factor.matrix : factor.diagonal));
  };
  const [whole, parts] = [await of(4), await of(3)];
  expect(parts[0]).toEqual(whole[0]);
  expect(parts[1]).toHaveLength(4);
  expect(
    gapOf(
      parts[1] as Float64Array,
      Float64Array.from([0, 5, 10, 15], (i) => (whole[1] as Float64Array)[i]),
    ),
  ).toBeLessThan(1e-13);
});

it('solvers say what they are, and give back what they took', async () => {
  const { loss, theta } = bilinearStream();
  const { device } = theta.w;
  const live = device.memory().live;
  const ekfac = await ekfacOf(loss, theta, { draws: 3, seed: 5 });
  const solver = ekfac.solver(0.2);
  expect(solver.about).toEqual({
    method: 'ekfac',
    curvature: 'gauss-newton',
    l2: 0.3,
    damping: 0.2,
    settings: { draws: 3, seed: 5, batches: null },
  });
  ecif.disposeTree(await solver.solve(theta));
  solver.dispose();
  ekfac.dispose();
  expect(device.memory().live).toBe(live);
  expect(() => ekfac.solver(-10)).toThrow('raise the damping above');
});
