// L-BFGS and Newton on convex and curved problems; gradients at the result come from a second, independent formula.
import { describe, expect, it } from 'vitest';
import {
  cgDirection,
  cholesky,
  choleskySolve,
  denseDirection,
  float64Space,
  lbfgs,
  newton,
  NotPositiveDefiniteError,
  type MinimizeResult,
} from '../src/linalg/index.ts';
import { wolfeSearch } from '../src/linalg/line-search.ts';
import {
  logistic,
  maxAbs,
  minus,
  norm,
  normals,
  quadratic,
  rosenbrock,
  softmaxRegression,
  times,
  withSpectrum,
  type Problem,
} from './support/linalg.ts';

const conditioned = (n: number, power: number) => Array.from({ length: n }, (_, i) => 10 ** ((power * i) / (n - 1)));

const convex: Record<string, Problem> = {
  'logistic, δ = 1': logistic(1, 80, 12, 1),
  'logistic, δ = 1e-3, few samples': logistic(3, 10, 6, 1e-3),
  'softmax, δ = 0.1': softmaxRegression(5, 60, 5, 4, 0.1),
  'quadratic, condition 1e4': quadratic(withSpectrum(7, conditioned(15, 4)), normals(8, 15)),
};

const hvp = (problem: Problem) => (x: Float64Array, v: Float64Array) => times(problem.hessian(x), v);

function independentNorm(problem: Problem, found: MinimizeResult<Float64Array>): number {
  return norm(problem.independentGradient(found.x));
}

describe('test problems', () => {
  it('have gradients and Hessians that agree with differences and with their second formula', async () => {
    for (const problem of [...Object.values(convex), rosenbrock(4)]) {
      const x = normals(21, problem.start.length);
      const { gradient } = await problem.objective(x);
      expect(maxAbs(minus(gradient, problem.independentGradient(x)))).toBeLessThan(1e-11 * (1 + maxAbs(gradient)));
      const [d, h] = [normals(22, x.length), 1e-5];
      const at = (t: number) => problem.objective(x.map((xi, i) => xi + t * d[i]));
      const [up, down] = [await at(h), await at(-h)];
      const slope = gradient.reduce((sum, g, i) => sum + g * d[i], 0);
      expect((up.value - down.value) / (2 * h) / slope).toBeCloseTo(1, 5);
      const hd = times(problem.hessian(x), d);
      const differenced = up.gradient.map((g, i) => (g - down.gradient[i]) / (2 * h));
      expect(norm(minus(hd, differenced)) / norm(hd)).toBeLessThan(1e-6);
    }
  });
});

describe('lbfgs', () => {
  for (const [name, problem] of Object.entries(convex)) {
    it(`reaches a gradient 1e-10 of its start: ${name}`, async () => {
      const options = { relativeTolerance: 1e-10, gradientTolerance: 0, maxIterations: 3000 };
      const found = await lbfgs(float64Space, problem.objective, problem.start, options);
      expect(found).toMatchObject({ status: 'converged', converged: true });
      expect(independentNorm(problem, found)).toBeLessThan(1.1e-10 * norm(problem.independentGradient(problem.start)));
      expect(found.gradientNorms).toHaveLength(found.iterations + 1);
      expect(found.evaluations).toBeLessThan(2 * found.iterations + 10);
    });
  }

  it('finds the minimum of Rosenbrock’s valley in 2 and in 10 dimensions', async () => {
    for (const n of [2, 10]) {
      const problem = rosenbrock(n);
      const start = n === 2 ? problem.start : new Float64Array(n);
      const found = await lbfgs(float64Space, problem.objective, start, { gradientTolerance: 1e-9 });
      expect(found.converged).toBe(true);
      expect(independentNorm(problem, found)).toBeLessThan(1e-8);
      expect(maxAbs(found.x.map((x) => x - 1))).toBeLessThan(1e-8);
      expect(found.evaluations).toBeLessThan(100);
    }
  });

  it('agrees with the dense solution of a quadratic, with a history of 1 and of more than n', async () => {
    const a = withSpectrum(1, conditioned(8, 2));
    const b = normals(2, 8);
    const exact = choleskySolve(cholesky(a, 8), b);
    for (const history of [1, 3, 20]) {
      const found = await lbfgs(float64Space, quadratic(a, b).objective, new Float64Array(8), {
        ...{ history, gradientTolerance: 1e-11, maxIterations: 2000 },
      });
      expect(found.converged).toBe(true);
      expect(maxAbs(minus(found.x, exact))).toBeLessThan(1e-9);
    }
  });

  it('uses the history: 10 pairs need far fewer iterations than 1', async () => {
    const problem = quadratic(withSpectrum(7, conditioned(40, 4)), normals(8, 40));
    const count = async (history: number) => {
      const options = { history, relativeTolerance: 1e-8, gradientTolerance: 0, maxIterations: 20000 };
      return (await lbfgs(float64Space, problem.objective, problem.start, options)).iterations;
    };
    expect(await count(20)).toBeLessThan(0.7 * (await count(1)));
  });

  it('stops as stagnated, close to the minimum, when asked for more than rounding allows', async () => {
    const problem = convex['logistic, δ = 1'];
    const found = await lbfgs(float64Space, problem.objective, problem.start, { gradientTolerance: 0 });
    expect(found.status).toBe('stagnated');
    expect(found.converged).toBe(false);
    expect(independentNorm(problem, found)).toBeLessThan(1e-11);
    expect(found.iterations).toBeLessThan(300);
  });

  it('steps back from infinite values', async () => {
    const found = await lbfgs(
      float64Space,
      (x) => ({ value: x[0] > 0 ? x[0] - Math.log(x[0]) : Infinity, gradient: x.map((v) => 1 - 1 / v) }),
      Float64Array.of(1e-3),
    );
    expect(found.converged).toBe(true);
    expect(found.x[0]).toBeCloseTo(1, 8);
  });

  it('control: a gradient of another function does not pass the independent check', async () => {
    const [right, wrong] = [convex['logistic, δ = 1'], logistic(1, 80, 12, 1.5)];
    const found = await lbfgs(float64Space, wrong.objective, wrong.start, { gradientTolerance: 1e-10 });
    expect(found.converged).toBe(true);
    expect(independentNorm(right, found)).toBeGreaterThan(1e-2);
  });
});

describe('newton', () => {
  for (const [name, problem] of Object.entries(convex)) {
    it(`reaches ‖∇‖ ≤ 1e-12 with a dense Hessian and with products: ${name}`, async () => {
      const dense = await newton(
        float64Space,
        problem.objective,
        problem.start,
        denseDirection(problem.hessian, 'throw'),
      );
      const free = await newton(
        float64Space,
        problem.objective,
        problem.start,
        cgDirection(float64Space, hvp(problem)),
      );
      for (const found of [dense, free]) {
        expect(found).toMatchObject({ status: 'converged', converged: true, modified: 0 });
        expect(found.gradientNorm).toBeLessThanOrEqual(1e-12);
        expect(independentNorm(problem, found)).toBeLessThan(1e-11);
        expect(found.gradientNorms).toHaveLength(found.iterations + 1);
      }
      expect(dense.iterations).toBeLessThan(15);
      expect(maxAbs(minus(dense.x, free.x))).toBeLessThan(1e-8);
    });
  }

  it('needs one step on a quadratic, and converges quadratically on logistic regression', async () => {
    const a = withSpectrum(1, conditioned(8, 2));
    const b = normals(2, 8);
    const { objective, hessian } = quadratic(a, b);
    const options = { gradientTolerance: 1e-11 };
    const one = await newton(float64Space, objective, normals(3, 8), denseDirection(hessian), options);
    expect(one).toMatchObject({ iterations: 1, evaluations: 2, converged: true });
    expect(maxAbs(minus(one.x, choleskySolve(cholesky(a, 8), b)))).toBeLessThan(1e-12);
    const tight = cgDirection(float64Space, (_, v: Float64Array) => times(a, v), { tolerance: () => 1e-13 });
    const free = await newton(float64Space, objective, normals(3, 8), tight, options);
    expect(free.iterations).toBe(1);
    const problem = convex['logistic, δ = 1'];
    const { gradientNorms } = await newton(
      float64Space,
      problem.objective,
      problem.start,
      denseDirection(problem.hessian),
    );
    const late = gradientNorms.filter((g) => g < 1e-1 && g > 1e-7);
    late.slice(1).forEach((g, i) => expect(g).toBeLessThan(late[i] ** 1.5));
  });

  it('crosses Rosenbrock’s valley and a region of negative curvature, counting modified steps', async () => {
    const valley = rosenbrock(2);
    const dense = await newton(float64Space, valley.objective, valley.start, denseDirection(valley.hessian));
    const free = await newton(float64Space, valley.objective, valley.start, cgDirection(float64Space, hvp(valley)));
    for (const found of [dense, free]) {
      expect(found.converged).toBe(true);
      expect(maxAbs(found.x.map((x) => x - 1))).toBeLessThan(1e-10);
    }
    const saddle = Float64Array.of(0.5, 2); // H₁₁ = −498 here
    const reflected = await newton(float64Space, valley.objective, saddle, denseDirection(valley.hessian));
    const truncated = await newton(float64Space, valley.objective, saddle, cgDirection(float64Space, hvp(valley)));
    for (const found of [reflected, truncated]) {
      expect(found.converged).toBe(true);
      expect(found.modified).toBeGreaterThan(0);
      expect(independentNorm(valley, found)).toBeLessThan(1e-10);
    }
    const strict = newton(float64Space, valley.objective, saddle, denseDirection(valley.hessian, 'throw'));
    await expect(strict).rejects.toThrow(NotPositiveDefiniteError);
  });

  it('leaves a maximum behind: x⁴/4 − x²/2 from x = 0.1, where −f′/f″ points back at 0', async () => {
    const objective = (x: Float64Array) => ({
      value: x[0] ** 4 / 4 - x[0] ** 2 / 2,
      gradient: x.map((v) => v ** 3 - v),
    });
    const second = (x: Float64Array) => Float64Array.of(3 * x[0] ** 2 - 1);
    const free = cgDirection(float64Space, (x, v: Float64Array) => v.map((vi) => vi * second(x)[0]));
    for (const direction of [denseDirection(second), free]) {
      const found = await newton(float64Space, objective, Float64Array.of(0.1), direction);
      expect(found.converged).toBe(true);
      expect(found.x[0]).toBeCloseTo(1, 12);
      expect(found.modified).toBeGreaterThan(0);
    }
  });

  it('backtracks where a full step overshoots', async () => {
    const found = await newton(
      float64Space,
      (x) => ({ value: Math.sqrt(1 + x[0] * x[0]), gradient: x.map((v) => v / Math.sqrt(1 + v * v)) }),
      Float64Array.of(3),
      denseDirection((x) => Float64Array.of((1 + x[0] * x[0]) ** -1.5)),
    );
    expect(found.converged).toBe(true);
    expect(Math.abs(found.x[0])).toBeLessThan(1e-12);
  });

  it('control: a Hessian of another function needs many more steps', async () => {
    const problem = convex['logistic, δ = 1'];
    const wrong = (x: Float64Array) => problem.hessian(x).map((h, at) => h * (at % 13 === 0 ? 3 : 1));
    const found = await newton(float64Space, problem.objective, problem.start, denseDirection(wrong));
    const right = await newton(float64Space, problem.objective, problem.start, denseDirection(problem.hessian));
    expect(found.iterations).toBeGreaterThan(3 * right.iterations);
  });

  it('obeys an abort signal and names a start that is not finite', async () => {
    const problem = convex['logistic, δ = 1'];
    const signal = AbortSignal.abort(new Error('enough'));
    const direction = denseDirection(problem.hessian);
    await expect(newton(float64Space, problem.objective, problem.start, direction, { signal })).rejects.toThrow(
      'enough',
    );
    await expect(lbfgs(float64Space, problem.objective, problem.start, { signal })).rejects.toThrow('enough');
    const nan = problem.start.map(() => NaN);
    await expect(lbfgs(float64Space, problem.objective, nan)).rejects.toThrow(/lbfgs: f\(x0\) or its gradient is NaN/);
  });
});

describe('wolfeSearch', () => {
  const search = (phi: (t: number) => { value: number; slope: number }, first: number, noise = 0) =>
    wolfeSearch(async (t) => ({ t, ...phi(t) }), { t: 0, ...phi(0) }, first, noise);

  it('meets the strong Wolfe conditions from first steps that are far too short or too long', async () => {
    const functions = [
      (t: number) => ({ value: -t / (t * t + 2), slope: (t * t - 2) / (t * t + 2) ** 2 }),
      (t: number) => ({ value: (t - 5) ** 4, slope: 4 * (t - 5) ** 3 }),
      (t: number) => ({ value: 0.1 * t * t - Math.sin(t), slope: 0.2 * t - Math.cos(t) }),
    ];
    for (const phi of functions) {
      for (const first of [1e-6, 1e-3, 1, 1e3, 1e6]) {
        const hit = await search(phi, first);
        expect(hit).not.toBeNull();
        expect(hit!.value).toBeLessThanOrEqual(phi(0).value + 1e-4 * hit!.t * phi(0).slope);
        expect(Math.abs(hit!.slope)).toBeLessThanOrEqual(0.9 * Math.abs(phi(0).slope));
      }
    }
  });

  it('works on slopes where the values are pure rounding', async () => {
    const phi = (t: number) => ({ value: 1 + ((t * 7919) % 3) * 1e-16, slope: (t - 0.37) * 1e-9 });
    const hit = await search(phi, 1, 1e-14);
    expect(Math.abs(hit!.slope)).toBeLessThanOrEqual(0.9 * 0.37e-9);
  });

  it('gives up on a function that rises although its slope says it falls', async () => {
    expect(await search((t) => ({ value: t, slope: -1 }), 1)).toBeNull();
  });
});
