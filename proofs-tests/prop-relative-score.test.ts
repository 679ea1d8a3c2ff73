// The relative score: the length of the gradient's projection on the plane of both influences, at any angle between them.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dot } from '../src/array/vector.ts';
import * as ecif from '../src/index.ts';
import { cpu, matrix, median } from './support/hand.ts';
import { acrossBatches } from './support/settings.ts';
import { prove } from './support/proof.ts';

prove('prop-relative-score');

/** √(bᵀM⁻¹b) with the Gram matrix M of p and n: the textbook form. */
function byGram(p: Float64Array, n: Float64Array, g: Float64Array): number {
  const [pp, pn, nn, a, b] = [dot(p, p), dot(p, n), dot(n, n), dot(p, g), dot(n, g)];
  return Math.sqrt((a * a * nn - 2 * a * b * pn + b * b * pp) / (pp * nn - pn * pn));
}

describe('p and n at a small angle', () => {
  const g = Float64Array.of(0.3, 0.8, -0.5);
  const truth = Math.hypot(0.3, 0.8);
  const at = (angle: number): [Float64Array, Float64Array] => [
    Float64Array.of(1, 0, 0),
    Float64Array.of(-3, -3 * angle, 0),
  ];

  it.each([1, 1e-2, 1e-5, 1e-8, 1e-11])('%d: the projection keeps its digits', (angle) => {
    expect(Math.abs(ecif.relativeScore(...at(angle), g) / truth - 1)).toBeLessThan(1e-12);
  });

  it('control: the inverse of the 2×2 Gram matrix agrees at 0.1 and is lost at 1e-8', () => {
    expect(Math.abs(byGram(...at(0.1), g) / truth - 1)).toBeLessThan(1e-9);
    expect(Math.abs(byGram(...at(1e-8), g) / truth - 1)).not.toBeLessThan(0.05);
  });

  it('below the rounding of the vectors they are parallel, and only that direction counts', () => {
    expect(ecif.relativeScore(...at(1e-17), g)).toBeCloseTo(0.3, 14);
  });
});

it('an influence that is zero spans nothing', () => {
  const [zero, n, g] = [new Float64Array(2), Float64Array.of(0, -4), Float64Array.of(3, 2)];
  expect(ecif.relativeScore(zero, n, g)).toBe(2);
  expect(ecif.relativeScore(n, zero, g)).toBe(2);
  expect(ecif.relativeScore(zero, zero, g)).toBe(0);
});

it('never above ‖g‖, the same for any lengths, signs and order of p and n', () => {
  const vector = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 });
  const factor = fc.double({ min: 0.01, max: 100, noNaN: true });
  fc.assert(
    fc.property(vector, vector, vector, factor, (p, n, g, c) => {
      const [a, b, v] = [p, n, g].map((x) => Float64Array.from(x));
      const cosine = dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
      fc.pre(Math.min(dot(a, a), dot(b, b)) > 1e-6 && Math.abs(cosine) < 0.999);
      const score = ecif.relativeScore(a, b, v);
      expect(score).toBeLessThanOrEqual(Math.hypot(...v) * (1 + 1e-12));
      expect(score).toBeGreaterThanOrEqual(Math.abs(dot(a, v)) / Math.hypot(...a) - 1e-12);
      for (const other of [
        ecif.relativeScore(b, a, v),
        ecif.relativeScore(
          a.map((x) => -c * x),
          b,
          v,
        ),
      ])
        expect(Math.abs(other - score)).toBeLessThan(1e-9);
    }),
    { numRuns: 500, seed: 8 },
  );
});

describe('all pairs', () => {
  const prepared = acrossBatches().then(async ({ problem, theta, h, read, validation }) => {
    const loss = (t: ecif.Bilinear): ecif.Tensor => ecif.batchLoss(problem.model, t, validation);
    const gradient = ecif.grad(loss)(theta);
    const g = Float64Array.from(await gradient.w.data());
    const run = (options?: ecif.ProbeOptions): Promise<ecif.PairEstimate[]> =>
      ecif.relativeScores(problem, theta, h, gradient, options);
    return { problem, theta, h, read, g, run };
  });

  it('the exact sweep is the score of each pair from its own influences', async () => {
    const { problem, theta, h, read, g, run } = await prepared;
    const found = await run();
    expect(found).toHaveLength(12);
    for (const { batch, position, value, standardError } of found) {
      const seg = [{ batch, positions: [position] }];
      const p = await ecif.positiveIF(problem, theta, seg, h);
      const n = await ecif.negativeIF(problem, theta, seg, 'corrected', h);
      expect(value).toBeCloseTo(byGram(await read(() => p), await read(() => n), g), 8);
      expect(standardError).toBe(0);
    }
  });

  it('probes: within two standard errors for most pairs, and closer like 1/√r', async () => {
    const { run } = await prepared;
    const exact = (await run()).map(({ value }) => value);
    const spread: number[] = [];
    const within: boolean[] = [];
    for (const probes of [32, 512]) {
      const errors: number[] = [];
      for (let seed = 0; seed < 12; seed++) {
        (await run({ probes, seed })).forEach(({ value, standardError }, i) => {
          errors.push(Math.abs(value - exact[i]));
          within.push(errors[errors.length - 1] <= 2 * standardError);
          expect(standardError).toBeGreaterThan(0);
        });
      }
      spread.push(median(errors));
    }
    expect(within.filter(Boolean).length / within.length).toBeGreaterThan(0.85);
    // Sixteen times the probes, a quarter of the error.
    expect(spread[0] / spread[1]).toBeGreaterThan(2.5);
    expect(spread[0] / spread[1]).toBeLessThan(6);
  });
});

it('a model whose influences are all parallel: each score is the gradient along that one direction', async () => {
  for (let seed = 0; seed < 6; seed++) {
    const rng = ecif.createRng(seed);
    const normal = (n: number): number[] => Array.from({ length: n }, () => rng.normal());
    const [a, g] = [normal(3), normal(3)];
    // Every text is a multiple of a, every image a number: H and all gradients keep to the direction of a.
    const batch = {
      text: matrix(normal(6).map((k) => a.map((x) => k * x))),
      image: matrix(normal(6).map((y) => [y])),
    };
    const problem = { model: ecif.bilinear(0.5), batches: [batch], decay: 0.1 };
    const { theta } = await ecif.minimise(ecif.totalLoss(problem), { w: ecif.zeros(cpu, [3, 1]) });
    const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta);
    const gradient = { w: matrix(g.map((x) => [x])) };
    const along = Math.abs(dot(Float64Array.from(a), Float64Array.from(g))) / Math.hypot(...a);
    for (const { value } of await ecif.relativeScores(problem, theta, h, gradient))
      expect(Math.abs(value / along - 1)).toBeLessThan(1e-6);
  }
});

it.each([1, 2, 3, 4])('%i probes are too few for a value with an error, and refused', async (probes) => {
  const { problem, theta, h } = await acrossBatches();
  await expect(ecif.relativeScores(problem, theta, h, theta, { probes })).rejects.toThrow(ecif.EcifError);
});
