// What makes an influence doubtful: large shares, duplicates, and a model that is not trained to the end.

import { describe, expect, it } from 'vitest';
import { distance } from '../src/array/vector.ts';
import * as ecif from '../src/index.ts';
import { numericGradient } from '../src/verify/plain.ts';
import { cpu, matrix, oneHotBatch, softplus } from './support/hand.ts';
import { acrossBatches } from './support/settings.ts';

const model = ecif.bilinear(1);
const flagsAt = (s: readonly (readonly number[])[], limit?: number): Promise<ecif.PairFlag[]> =>
  ecif.flagPairs({ model, batches: [oneHotBatch(s.length)], decay: 1 }, { w: matrix(s) }, limit);

describe('the gap of linearisation', () => {
  // Row 0: shares 1/2, 1/4, 1/4; row 1: 1/4, 1/2, 1/4; row 2: 1/8, 1/8, 3/4.
  const S = [
    [2, 1, 1],
    [1, 2, 1],
    [1, 1, 6],
  ].map((row) => row.map(Math.log));
  const gap = (p: number): number => -Math.log(1 - p) - p;

  it('is the largest −log(1 − P) − P over the rows and columns of the others, by hand', async () => {
    const flags = await flagsAt(S);
    expect(flags.map(({ position }) => position)).toEqual([0, 1, 2]);
    for (const [n, share] of [1 / 4, 1 / 4, 1 / 4].entries()) expect(flags[n].gap).toBeCloseTo(gap(share), 12);
    const skewed = [
      [2, 6],
      [1, 4],
    ].map((row) => row.map(Math.log));
    // Pair 0 has 1/5 of row 1 and 6/10 of column 1; pair 1 has 6/8 of row 0 and 1/3 of column 0.
    const [first, second] = await flagsAt(skewed);
    expect(first.gap).toBeCloseTo(gap(6 / 10), 12);
    expect(second.gap).toBeCloseTo(gap(6 / 8), 12);
  });

  it('above the limit, and only there, the pair is flagged', async () => {
    expect((await flagsAt(S)).map(({ unreliable }) => unreliable)).toEqual([false, false, false]);
    const limit = gap(1 / 4);
    for (const { unreliable } of await flagsAt(S, limit * 0.99)) expect(unreliable).toBe(true);
    for (const { unreliable } of await flagsAt(S, limit * 1.01)) expect(unreliable).toBe(false);
    // By default from P = 0.42 on.
    const at = async (p: number): Promise<boolean> =>
      (
        await flagsAt([
          [0, Math.log(p / (1 - p))],
          [-9, 0],
        ])
      )[1].unreliable;
    expect([await at(0.41), await at(0.43)]).toEqual([false, true]);
  });

  it.each([20, 40, 700])('stays finite and exact where a negative is %i above the positive', async (x) => {
    const [, second] = await flagsAt([
      [0, x],
      [-x, 0],
    ]);
    expect(Math.abs(second.gap / (softplus(x) - 1 / (1 + Math.exp(-x))) - 1)).toBeLessThan(1e-12);
    expect(second.unreliable).toBe(true);
  });
});

describe('duplicates', () => {
  const flags = async (text: number[][], image: number[][]): Promise<ecif.PairFlag[]> =>
    ecif.flagPairs(
      { model, batches: [{ text: matrix(text), image: matrix(image) }], decay: 1 },
      {
        w: matrix([
          [1, 0.3],
          [-0.2, 1],
        ]),
      },
    );

  it('of texts and of images are named, each on its own', async () => {
    const found = await flags(
      [
        [1, 2],
        [0.5, -1],
        [1, 2],
        [1, 2],
      ],
      [
        [3, 1],
        [0.1, 0.7],
        [3, 1],
        [0.4, 0.4],
      ],
    );
    expect(found.map(({ sameText }) => sameText)).toEqual([[2, 3], [], [0, 3], [0, 2]]);
    expect(found.map(({ sameImage }) => sameImage)).toEqual([[2], [], [0], []]);
  });

  it('near ones are not', async () => {
    const found = await flags(
      [
        [1, 2],
        [1, 2 + 1e-9],
      ],
      [
        [3, 1],
        [3 - 1e-9, 1],
      ],
    );
    expect(found.flatMap(({ sameText, sameImage }) => [...sameText, ...sameImage])).toEqual([]);
  });

  it('of other batches do not count', async () => {
    const batch = { text: matrix([[1, 2]]), image: matrix([[3, 1]]) };
    const found = await ecif.flagPairs(
      { model, batches: [batch, batch], decay: 1 },
      {
        w: matrix([
          [1, 0],
          [0, 1],
        ]),
      },
    );
    expect(found.map(({ batch: m, gap, sameText }) => ({ m, gap, sameText }))).toEqual([
      { m: 0, gap: 0, sameText: [] },
      { m: 1, gap: 0, sameText: [] },
    ]);
  });
});

describe('stationarity', () => {
  const trained = acrossBatches();

  it('at the optimum nothing is left', async () => {
    const { problem, theta, h } = await trained;
    const { gradientNorm, distance: left } = await ecif.stationarityOf(problem, theta, h);
    expect(gradientNorm).toBeLessThan(1e-10);
    expect(left).toBeLessThan(1e-10);
  });

  it('away from it, the gradient is that of finite differences, and the distance what a Newton step moves', async () => {
    const { problem, plain, w, optimum } = await trained;
    const errors: number[] = [];
    for (const far of [0.2, 0.1, 0.05]) {
      const at = w.map((x, i) => x + far * Math.sin(3 * i + 1));
      const theta = { w: ecif.tensor(cpu, at, [3, 2]) };
      const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta);
      const { gradientNorm, distance: left } = await ecif.stationarityOf(problem, theta, h);
      const gradient = numericGradient((x) => plain.total(x, 0).value, at);
      expect(gradientNorm).toBeCloseTo(Math.hypot(...gradient), 7);
      const { hessian } = plain.total(at);
      const step = ecif.choleskySolve(ecif.cholesky(hessian, 6), gradient);
      expect(left).toBeCloseTo(Math.hypot(...step), 7);
      errors.push(Math.abs(left / distance(at, optimum) - 1));
    }
    // It tells the distance to the optimum the better the nearer it is.
    expect(errors[0]).toBeLessThan(0.2);
    expect(errors[2]).toBeLessThan(errors[0] / 2);
  });
});
