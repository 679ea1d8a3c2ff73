// The same solvers on vectors and inner products rounded to float32, as on a GPU: honest at the limit of precision.
import { describe, expect, it } from 'vitest';
import {
  cg,
  cgDirection,
  float64Space,
  lbfgs,
  minres,
  newton,
  type Objective,
  type Space,
} from '../src/linalg/index.ts';
import { logistic, norm, normals, relativeResidual, softmaxRegression, times, withSpectrum } from './support/linalg.ts';

const round = (x: Float64Array): Float64Array => x.map(Math.fround);

const float32Space: Space<Float64Array> = {
  ...float64Space,
  dots: async (pairs) => (await float64Space.dots(pairs)).map(Math.fround),
  combine: (coeffs, vectors) => round(float64Space.combine(coeffs, vectors)),
};

const n = 60;
const b = round(normals(2, n));
const conditioned = (power: number) =>
  withSpectrum(
    1,
    Array.from({ length: n }, (_, i) => 10 ** ((power * i) / (n - 1))),
  );

describe('float32', () => {
  for (const solve of [cg, minres]) {
    it(`${solve.name} meets 1e-5 at condition 100`, async () => {
      const a = conditioned(2);
      const found = await solve(float32Space, (v) => round(times(a, v)), b, { tolerance: 1e-5 });
      expect(found.converged).toBe(true);
      expect(relativeResidual(a, found.x, b)).toBeLessThan(1.1e-5);
      expect(found.iterations).toBeLessThan(70);
    });

    it(`${solve.name} stops as stagnated, not worse than its start, where the tolerance is out of reach`, async () => {
      for (const [power, reach] of [
        [2, 1e-5],
        [4, 1e-3],
        [6, 1],
      ]) {
        const a = conditioned(power);
        const options = { tolerance: 1e-9, maxIterations: 5000 };
        const found = await solve(float32Space, (v) => round(times(a, v)), b, options);
        const actual = relativeResidual(a, found.x, b);
        expect(found.status).toBe('stagnated');
        expect(found.iterations).toBeLessThan(3000);
        expect(actual).toBeLessThanOrEqual(reach);
        expect(found.residuals.at(-1)! / actual).toBeCloseTo(1, 1);
      }
    });
  }

  it('minres goes back to its start when the pass made things worse', async () => {
    const a = conditioned(6);
    const options = { tolerance: 1e-9, maxIterations: 1200, refresh: 0 };
    const found = await minres(float32Space, (v) => round(times(a, v)), b, options);
    expect(found.status).toBe('max-iterations');
    expect(relativeResidual(a, found.x, b)).toBeLessThanOrEqual(1);
    expect(found.residuals.at(-1)).toBeCloseTo(relativeResidual(a, found.x, b), 4);
  });

  it('lbfgs and newton come down to float32 rounding and stop', async () => {
    for (const problem of [logistic(1, 80, 12, 1), softmaxRegression(5, 60, 5, 4, 0.1)]) {
      const objective: Objective<Float64Array> = async (x) => {
        const { value, gradient } = await problem.objective(x);
        return { value: Math.fround(value), gradient: round(gradient) };
      };
      const options = { gradientTolerance: 1e-12, valueNoise: 1e-6 };
      const direction = cgDirection(float32Space, (x, v: Float64Array) => round(times(problem.hessian(x), v)));
      for (const found of [
        await lbfgs(float32Space, objective, problem.start, options),
        await newton(float32Space, objective, problem.start, direction, options),
      ]) {
        expect(found.status).toBe('stagnated');
        expect(found.iterations).toBeLessThan(150);
        expect(norm(problem.independentGradient(found.x))).toBeLessThan(1e-5);
      }
    }
  });
});
