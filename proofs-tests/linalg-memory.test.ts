// Every solver, on a space that counts: live vectors do not grow with iterations, only results stay, and waits are few.
import { describe, expect, it } from 'vitest';
import {
  cg,
  cgDirection,
  extremeEigenvalues,
  lbfgs,
  lissa,
  minres,
  newton,
  type Evaluation,
} from '../src/linalg/index.ts';
import {
  countingSpace,
  logistic,
  normals,
  rosenbrock,
  times,
  withSpectrum,
  type CountingSpace,
} from './support/linalg.ts';

const n = 30;
const positive = withSpectrum(
  1,
  Array.from({ length: n }, (_, i) => 10 ** ((5 * i) / n)),
);
const mixed = withSpectrum(
  2,
  Array.from({ length: n }, (_, i) => (i % 3 === 0 ? -1 : 1) * 10 ** ((3 * i) / n)),
);
const b = normals(3, n);
const start = normals(4, n);
const problem = logistic(5, 60, n, 1e-3);
const valley = rosenbrock(2);

const product = (space: CountingSpace, a: Float64Array) => (v: Float64Array) => space.made(times(a, v));

const objective =
  (space: CountingSpace) =>
  async (x: Float64Array): Promise<Evaluation<Float64Array>> => {
    const { value, gradient } = await problem.objective(x);
    return { value, gradient: space.made(gradient) };
  };

const hvp = (space: CountingSpace) => (x: Float64Array, v: Float64Array) => space.made(times(problem.hessian(x), v));

/** Runs a method for a number of iterations on a counting space; returns the vectors it hands to the caller. */
type Method = (space: CountingSpace, maxIterations: number) => Promise<Float64Array[]>;

const methods: Record<string, { run: Method; peak: number }> = {
  cg: {
    run: async (space, maxIterations) => [
      (await cg(space, product(space, positive), b, { tolerance: 1e-12, maxIterations, refresh: 3 })).x,
    ],
    peak: 6,
  },
  'cg with everything': {
    run: async (space, maxIterations) => {
      const preconditioner = (r: Float64Array) => space.made(r.map((x, i) => x / (1 + i)));
      const options = { tolerance: 1e-12, maxIterations, damping: 0.1, x0: start, preconditioner };
      return [(await cg(space, product(space, positive), b, options)).x];
    },
    peak: 8,
  },
  'cg on an indefinite operator': {
    run: async (space, maxIterations) => {
      const { x, negativeCurvature } = await cg(space, product(space, mixed), b, { maxIterations, tolerance: 1e-14 });
      return negativeCurvature ? [x, negativeCurvature.direction] : [x];
    },
    peak: 6,
  },
  minres: {
    run: async (space, maxIterations) => [
      (await minres(space, product(space, mixed), b, { tolerance: 1e-13, maxIterations, x0: start })).x,
    ],
    peak: 8,
  },
  lissa: {
    run: async (space, maxIterations) => [
      (await lissa(space, product(space, positive), b, { scale: 1e5, maxIterations, repeats: 3, checkEvery: 2 })).x,
    ],
    peak: 6,
  },
  'lissa, diverging': {
    run: async (space, maxIterations) => [
      (await lissa(space, product(space, mixed), b, { scale: 1e3, maxIterations, repeats: 2 })).x,
    ],
    peak: 6,
  },
  lbfgs: {
    run: async (space, maxIterations) => [
      (await lbfgs(space, objective(space), problem.start, { maxIterations, history: 4, gradientTolerance: 0 })).x,
    ],
    peak: 2 * 4 + 8,
  },
  'newton with products': {
    run: async (space, maxIterations) => [
      (await newton(space, objective(space), problem.start, cgDirection(space, hvp(space)), { maxIterations })).x,
    ],
    peak: 12,
  },
  'newton through negative curvature': {
    run: async (space, maxIterations) => {
      const f = async (x: Float64Array): Promise<Evaluation<Float64Array>> => {
        const { value, gradient } = await valley.objective(x);
        return { value, gradient: space.made(gradient) };
      };
      const direction = cgDirection(space, (x, v: Float64Array) => space.made(times(valley.hessian(x), v)));
      return [(await newton(space, f, Float64Array.of(0.5, 2), direction, { maxIterations })).x];
    },
    peak: 12,
  },
  'extreme eigenvalues': {
    run: async (space, maxIterations) => {
      await extremeEigenvalues(space, product(space, positive), start, { maxIterations, tolerance: 1e-14 });
      return [];
    },
    peak: 5,
  },
};

describe('live vectors', () => {
  for (const [name, { run, peak }] of Object.entries(methods)) {
    it(`${name}: bounded, and only results stay`, async () => {
      for (const iterations of [0, 1, 2, 5, 40, 400]) {
        const space = countingSpace();
        const results = await run(space, iterations);
        expect(space.counts.peak).toBeLessThanOrEqual(peak);
        expect(space.live.size).toBe(results.length);
        expect(results.every((v) => space.live.has(v))).toBe(true);
        for (const v of results) expect(v.every(Number.isFinite)).toBe(true);
      }
      expect([b, start, problem.start].every((v) => v.every(Number.isFinite))).toBe(true);
    });

    it(`${name}: nothing stays when the operator fails halfway`, async () => {
      for (const failAt of [1, 2, 3, 7]) {
        const space = countingSpace();
        let calls = 0;
        const made = space.made;
        const failing: CountingSpace = Object.assign(space, {
          made: (v: Float64Array) => {
            if (++calls === failAt) throw new Error('device lost');
            return made(v);
          },
        });
        await run(failing, 50).then(
          (results) => results.forEach((v) => space.release(v)),
          (error: Error) => expect(error.message).toBe('device lost'),
        );
        expect(space.live.size).toBe(0);
      }
    });
  }

  it('callbacks that return their argument do no harm', async () => {
    const space = countingSpace();
    const same = (v: Float64Array) => v;
    const half = (x: Float64Array) => ({ value: x.reduce((sum, v) => sum + (v * v) / 2, 0), gradient: x });
    const results = [
      (await cg(space, same, b, { preconditioner: same, x0: start })).x,
      (await minres(space, same, b, { x0: start })).x,
      (await lissa(space, same, b, { scale: 1.5 })).x,
      (await lbfgs(space, half, start)).x,
      (
        await newton(
          space,
          half,
          start,
          cgDirection(space, (_, v) => v),
        )
      ).x,
    ];
    await extremeEigenvalues(space, same, start);
    expect(space.live.size).toBe(results.length);
    results.slice(0, 3).forEach((x) => x.forEach((xi, i) => expect(xi).toBeCloseTo(b[i], 5)));
    results.slice(3).forEach((x) => x.forEach((xi) => expect(xi).toBeCloseTo(0, 7)));
    expect([b, start].every((v) => v.every(Number.isFinite))).toBe(true);
  });

  it('control: the counting space notices a leak, a double release and a stranger', () => {
    const space = countingSpace();
    const v = space.combine([1], [b]);
    expect(space.live.size).toBe(1);
    space.release(v);
    expect(v[0]).toBeNaN();
    expect(() => space.release(v)).toThrow(/released twice/);
    expect(() => space.release(b)).toThrow(/caller/);
  });
});

describe('cost per iteration', () => {
  const cost = async (run: Method, few: number, many: number) => {
    const [short, long] = [countingSpace(), countingSpace()];
    await run(short, few);
    await run(long, many);
    const per = (key: 'waits' | 'combines') => (long.counts[key] - short.counts[key]) / (many - few);
    return { waits: per('waits'), combines: per('combines') };
  };

  it('cg: 2 waits and 3 combines, with preconditioner and damping too', async () => {
    const plain: Method = async (space, maxIterations) => [
      (await cg(space, product(space, positive), b, { tolerance: 0, maxIterations })).x,
    ];
    expect(await cost(plain, 5, 25)).toEqual({ waits: 2, combines: 3 });
    expect(await cost(methods['cg with everything'].run, 5, 25)).toEqual({ waits: 2, combines: 3 });
  });

  it('minres: 2 waits and 3 combines', async () => {
    expect(await cost(methods.minres.run, 5, 20)).toEqual({ waits: 2, combines: 3 });
  });

  it('lissa: 1 wait and 2 combines at a look, 1 combine otherwise', async () => {
    const run =
      (checkEvery: number): Method =>
      async (space, maxIterations) => [
        (await lissa(space, product(space, positive), b, { scale: 1e5, maxIterations, checkEvery })).x,
      ];
    expect(await cost(run(1), 10, 110)).toEqual({ waits: 1, combines: 2 });
    expect(await cost(run(10), 10, 110)).toEqual({ waits: 0.1, combines: 1.1 });
  });
});
