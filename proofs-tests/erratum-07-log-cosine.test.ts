// −log cos is undefined for the pairs one looks for; it stays selectable, and 1 − cos is the default.

import { describe, expect, it } from 'vitest';
import { dot } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { selfGradient } from '../src/ecif/algorithms.ts';
import * as ecif from '../src/index.ts';
import { apart } from '../src/verify/claim.ts';
import { numericGradient } from '../src/verify/plain.ts';
import { cpu, matrix } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-07-log-cosine');

const model = ecif.bilinear(1);
const theta = {
  w: matrix([
    [1, 0.2],
    [-0.3, 0.8],
  ]),
};
const aligned = {
  text: matrix([
    [1, 0.1],
    [0.2, 1],
    [0.7, 0.6],
  ]),
  image: matrix([
    [0.9, 0.4],
    [0.1, 0.7],
    [0.6, 0.9],
  ]),
};
const opposed = {
  text: aligned.text,
  image: matrix([
    [0.9, 0.4],
    [0.1, -0.7],
    [-0.6, -0.9],
  ]),
};

/** cos(Wᵀx, y) of one pair in plain arithmetic. */
function cosine(w: Float64Array, x: ArrayLike<number>, y: ArrayLike<number>): number {
  const u = [x[0] * w[0] + x[1] * w[2], x[0] * w[1] + x[1] * w[3]];
  return (u[0] * y[0] + u[1] * y[1]) / (Math.hypot(...u) * Math.hypot(y[0], y[1]));
}

const FORMS = { '1-cos': (c: number) => 1 - c, '-log-cos': (c: number) => -Math.log(c) } as const;

/** The mean loss of some pairs in plain arithmetic. */
async function plainLoss(batch: ecif.PairBatch, form: ecif.SelfForm): Promise<(w: Float64Array, k?: number) => number> {
  const [x, y] = [await batch.text.data(), await batch.image.data()];
  const one = (w: Float64Array, k: number): number =>
    FORMS[form](cosine(w, x.subarray(2 * k, 2 * k + 2), y.subarray(2 * k, 2 * k + 2)));
  return (w, k) => (k === undefined ? (one(w, 0) + one(w, 1) + one(w, 2)) / 3 : one(w, k));
}

describe('a pair with a cosine below 0', () => {
  it('is named by CosineError, and not found fault with under 1 − cos', async () => {
    await expect(selfGradient(model, theta, opposed, '-log-cos')).rejects.toThrow(ecif.CosineError);
    await expect(selfGradient(model, theta, opposed, '-log-cos')).rejects.toThrow(
      /^-log-cos: pair 1 of D' has cosine -[01]\.\d+, the logarithm needs > 0; use 1-cos$/,
    );
    expect((await selfGradient(model, theta, opposed, '1-cos')).every(Number.isFinite)).toBe(true);
  });

  it('is named with its batch by the scores of all pairs', async () => {
    const problem = { model, batches: [aligned, opposed], decay: 5 };
    const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta);
    await expect(ecif.selfScores(problem, theta, h, { loss: '-log-cos' })).rejects.toThrow('pair 1 of batch 1');
    expect(await ecif.selfScores(problem, theta, h)).toHaveLength(6);
  });
});

describe.each(['1-cos', '-log-cos'] as const)('%s where all cosines are positive', (form) => {
  it('its mean gradient is that of finite differences', async () => {
    const loss = await plainLoss(aligned, form);
    const w = await new Flat(theta).toVector(theta);
    const found = await selfGradient(model, theta, aligned, form);
    expect(
      apart(
        found,
        numericGradient((at) => loss(at), w),
      ),
    ).toBeLessThan(1e-9);
    const other = await plainLoss(aligned, form === '1-cos' ? '-log-cos' : '1-cos');
    expect(
      apart(
        found,
        numericGradient((at) => other(at), w),
      ),
    ).toBeGreaterThan(0.01);
  });

  it("the self score of every pair is its own loss's gradient times the edit that removes it", async () => {
    const problem = { model, batches: [aligned], decay: 0.5 };
    const trained = (await ecif.minimise(ecif.totalLoss(problem), { w: ecif.zeros(cpu, [2, 2]) })).theta;
    const flat = new Flat(trained);
    const w = await flat.toVector(trained);
    const h = await ecif.curvatureAt(ecif.totalLoss(problem), trained);
    const loss = await plainLoss(aligned, form);
    const scores = await ecif.selfScores(problem, trained, h, { loss: form });
    expect(scores).toHaveLength(3);
    for (const { position, value } of scores) {
      const seg = [{ batch: 0, positions: [position] }];
      const edited = await ecif.removeLinear(ecif.removalOf(problem, trained, seg, h), 'corrected');
      const step = (await flat.toVector(edited)).map((x, i) => x - w[i]);
      const own = numericGradient((at) => loss(at, position), w);
      expect(Math.abs(value - dot(own, step))).toBeLessThan(1e-6 * Math.abs(value));
      expect(Math.abs(value)).toBeGreaterThan(1e-4);
    }
  });

  it('probes estimate the self scores within their standard error', async () => {
    const problem = { model, batches: [aligned], decay: 0.5 };
    const trained = (await ecif.minimise(ecif.totalLoss(problem), { w: ecif.zeros(cpu, [2, 2]) })).theta;
    const h = await ecif.curvatureAt(ecif.totalLoss(problem), trained);
    const exact = await ecif.selfScores(problem, trained, h, { loss: form });
    let [within, all] = [0, 0];
    for (let seed = 0; seed < 20; seed++) {
      const found = await ecif.selfScores(problem, trained, h, { loss: form, probes: 128, seed });
      found.forEach(({ value, standardError }, i) => {
        all++;
        if (Math.abs(value - exact[i].value) <= 2 * standardError) within++;
        expect(standardError).toBeLessThan(3 * Math.abs(exact[i].value));
      });
    }
    expect(within / all).toBeGreaterThan(0.85);
  });
});
