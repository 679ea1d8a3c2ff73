// CG, MINRES, LiSSA and Lanczos against dense solutions; what they report when the system is not theirs.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NumericsError } from '../src/array/errors.ts';
import { createRng } from '../src/array/rng.ts';
import {
  cg,
  type CgState,
  cholesky,
  choleskySolve,
  DivergenceError,
  extremeEigenvalues,
  float64Space,
  lissa,
  lu,
  luSolve,
  minres,
  NegativeCurvatureError,
} from '../src/linalg/index.ts';
import { minus, norm, normals, relativeResidual, times, withSpectrum } from './support/linalg.ts';

const sized = fc.tuple(fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 1, max: 30 }));
const runs = { numRuns: 40 };

function spectrum(seed: number, n: number, negativeShare = 0): number[] {
  const rng = createRng(seed);
  return Array.from({ length: n }, () => 10 ** (3 * rng.uniform() - 1.5) * (rng.uniform() < negativeShare ? -1 : 1));
}

const operator = (a: Float64Array) => (v: Float64Array) => times(a, v);
const relativeError = (x: Float64Array, reference: Float64Array): number => norm(minus(x, reference)) / norm(reference);
const quadraticForm = (a: Float64Array, d: Float64Array): number => times(a, d).reduce((s, x, i) => s + x * d[i], 0);
const diagonal = (values: readonly number[]) => (v: Float64Array) => v.map((x, i) => x * values[i]);

describe('cg', () => {
  it('agrees with dense Cholesky to 1e-8, plain, damped, and from a starting point', async () => {
    await fc.assert(
      fc.asyncProperty(sized, fc.constantFrom(0, 0.25, 4), fc.boolean(), async ([seed, n], damping, warm) => {
        const a = withSpectrum(seed, spectrum(seed + 1, n));
        const b = normals(seed + 2, n);
        const x0 = warm ? normals(seed + 3, n) : undefined;
        const found = await cg(float64Space, operator(a), b, { tolerance: 1e-13, damping, x0, maxIterations: 2000 });
        expect(relativeError(found.x, choleskySolve(cholesky(a, n, damping), b))).toBeLessThan(1e-8);
        expect(found.residuals).toHaveLength(found.iterations + 1);
      }),
      runs,
    );
  });

  it('goes on from any of its states, bit for bit as if it had not been interrupted', async () => {
    const a = withSpectrum(7, spectrum(8, 24));
    const b = normals(9, 24);
    const weights = Array.from({ length: 24 }, (_, i) => 1 + (i % 5));
    for (const preconditioner of [undefined, diagonal(weights)]) {
      const states: CgState<Float64Array>[] = [];
      const settings = { tolerance: 1e-10, damping: 0.1, preconditioner };
      const whole = await cg(float64Space, operator(a), b, {
        ...settings,
        onState: ({ x, r, p, ...rest }) => void states.push({ ...rest, x: x.slice(), r: r.slice(), p: p.slice() }),
      });
      expect(states.length).toBeGreaterThan(5);
      for (const resume of [states[0], states[4], states[states.length - 1]]) {
        expect(await cg(float64Space, operator(a), b, { ...settings, resume })).toEqual(whole);
      }
      // The same x alone does not go on the same way.
      const restarted = await cg(float64Space, operator(a), b, { ...settings, x0: states[4].x });
      expect(restarted.residuals).not.toEqual(whole.residuals.slice(5));
    }
  });

  it('reports residuals that are those of the x it returns', async () => {
    const a = withSpectrum(1, spectrum(2, 20));
    const b = normals(3, 20);
    const found = await cg(float64Space, operator(a), b, { tolerance: 1e-10 });
    expect(found).toMatchObject({ converged: true, status: 'converged', negativeCurvature: null });
    expect(found.residuals.at(-1)).toBeCloseTo(relativeResidual(a, found.x, b), 14);
    expect(relativeResidual(a, found.x, b)).toBeLessThanOrEqual(1e-10);
  });

  it('spends a product on confirming convergence only where rounding of the products may matter', async () => {
    const a = withSpectrum(1, spectrum(2, 20));
    const b = normals(3, 20);
    const solve = (tolerance: number, productError?: number) =>
      cg(float64Space, operator(a), b, { tolerance, ...(productError === undefined ? {} : { productError }) });
    const loose = await solve(1e-3, 1e-13);
    expect(loose.products).toBe(loose.iterations);
    expect(relativeResidual(a, loose.x, b)).toBeLessThan(1.001e-3);
    expect((await solve(1e-3)).products).toBe(loose.iterations + 1);
    // The same claim in products that are wrong in their fifth digit is looked at again.
    expect((await solve(1e-3, 1e-5)).products).toBe(loose.iterations + 1);
    expect((await solve(1e-12, 1e-13)).products).toBeGreaterThan((await solve(1e-12, 1e-13)).iterations);
  });

  it('is never told converged far from it in products that are rounded to float32, however ill-conditioned', async () => {
    const n = 60;
    let skipped = 0;
    for (const power of [1, 3, 5, 7]) {
      const values = Array.from({ length: n }, (_, i) => 10 ** ((power * i) / (n - 1)));
      const a = withSpectrum(5, values).map(Math.fround);
      const rough = (v: Float64Array): Float64Array => times(a, v.map(Math.fround)).map(Math.fround);
      const random = normals(7, n);
      // The second lies in the directions of least curvature, which show little of ‖A‖.
      for (const b of [
        random,
        times(
          withSpectrum(
            5,
            values.map((x) => 1 / x),
          ),
          random,
        ),
      ]) {
        for (const tolerance of [0.3, 0.1, 1e-2, 1e-4]) {
          const options = { tolerance, productError: 64 * 2 ** -24, maxIterations: 2000 };
          const found = await cg(float64Space, rough, b, options);
          if (found.converged) expect(relativeResidual(a, found.x, b)).toBeLessThan(1.3 * tolerance);
          if (found.converged && found.products === found.iterations) skipped++;
        }
      }
    }
    expect(skipped).toBeGreaterThan(4);
  });

  it('ends within as many iterations as there are distinct eigenvalues', async () => {
    for (const distinct of [1, 2, 3, 5]) {
      const values = Array.from({ length: 40 }, (_, i) => 1 + 3 * (i % distinct));
      const a = withSpectrum(distinct, values);
      const found = await cg(float64Space, operator(a), normals(9, 40), { tolerance: 1e-10 });
      expect(found.converged).toBe(true);
      expect(found.iterations).toBe(distinct);
    }
  });

  it('a diagonal preconditioner cuts the iterations of an ill-conditioned diagonal-plus-low-rank problem', async () => {
    const n = 200;
    const values = Array.from({ length: n }, (_, i) => 10 ** ((6 * i) / n));
    const u = normals(4, n);
    const apply = (v: Float64Array) => {
      const uv = u.reduce((sum, x, i) => sum + x * v[i], 0);
      return v.map((x, i) => x * values[i] + uv * u[i]);
    };
    const b = normals(5, n);
    const plain = await cg(float64Space, apply, b, { tolerance: 1e-9, maxIterations: 20000 });
    const preconditioner = (r: Float64Array) => r.map((x, i) => x / values[i]);
    const fast = await cg(float64Space, apply, b, { tolerance: 1e-9, preconditioner });
    expect(plain.converged && fast.converged).toBe(true);
    expect(fast.iterations).toBeLessThanOrEqual(5);
    expect(plain.iterations).toBeGreaterThan(20 * fast.iterations);
    expect(relativeError(fast.x, plain.x)).toBeLessThan(1e-4);
  });

  it('reports negative curvature with a direction d, dᵀAd < 0, and the x so far', async () => {
    await fc.assert(
      fc.asyncProperty(sized, async ([seed, n]) => {
        const a = withSpectrum(seed, [...spectrum(seed + 1, n), -1, -2]);
        const b = normals(seed + 2, n + 2);
        const found = await cg(float64Space, operator(a), b, { tolerance: 1e-14, maxIterations: 500 });
        expect(found.status).toBe('negative-curvature');
        expect(found.converged).toBe(false);
        const { direction, curvature, iteration } = found.negativeCurvature!;
        expect(quadraticForm(a, direction)).toBeLessThan(0);
        expect(curvature).toBeCloseTo(quadraticForm(a, direction) / norm(direction) ** 2, 8);
        expect(curvature).toBeGreaterThanOrEqual(-2 - 1e-9);
        expect(iteration).toBe(found.iterations);
        expect(found.x.every(Number.isFinite)).toBe(true);
        const damped = await cg(float64Space, operator(a), b, { damping: 2.5, maxIterations: 500 });
        expect(damped.converged).toBe(true);
      }),
      runs,
    );
  });

  it('throws on request, naming the damping that would help', async () => {
    const attempt = cg(float64Space, (v) => v.map((x) => -3 * x), Float64Array.of(1, 2), {
      onNegativeCurvature: 'throw',
    });
    await expect(attempt).rejects.toThrow(NegativeCurvatureError);
    await expect(attempt).rejects.toThrow(/curvature -3 at iteration 0.*raise damping by more than 3/);
  });

  it('says stagnated when the tolerance is below rounding, and stops at max-iterations', async () => {
    const a = withSpectrum(6, [1e-7, 1e-3, 1, 1e4, 1e7]);
    const b = normals(7, 5);
    const deep = await cg(float64Space, operator(a), b, { tolerance: 1e-30, maxIterations: 5000 });
    expect(deep.status).toBe('stagnated');
    expect(deep.iterations).toBeLessThan(1000);
    const short = await cg(float64Space, operator(a), b, { maxIterations: 2 });
    expect(short).toMatchObject({ status: 'max-iterations', iterations: 2, converged: false });
  });

  it('solves b = 0, keeps the caller’s vectors, tolerates an identity that returns its argument', async () => {
    const zero = await cg(float64Space, operator(withSpectrum(1, [1, 2])), new Float64Array(2), { x0: normals(1, 2) });
    expect(zero).toMatchObject({ x: new Float64Array(2), iterations: 0, converged: true, residuals: [0] });
    const b = normals(2, 3);
    const same = await cg(float64Space, (v) => v, b, { preconditioner: (r) => r });
    expect(relativeError(same.x, b)).toBeLessThan(1e-15);
    expect(same.x).not.toBe(b);
    const exact = await cg(float64Space, (v) => v, b, { x0: b });
    expect(exact.x).not.toBe(b);
    expect(exact.iterations).toBe(0);
  });

  it('names NaN products and obeys an abort signal', async () => {
    const attempt = cg(float64Space, (v) => v.map(() => NaN), normals(1, 3));
    await expect(attempt).rejects.toThrow(NumericsError);
    await expect(attempt).rejects.toThrow(/cg: pᵀAp is NaN at iteration 0/);
    const aborter = new AbortController();
    const a = withSpectrum(1, spectrum(2, 20));
    const onIteration = ({ iteration }: { iteration: number }) => {
      if (iteration === 3) aborter.abort(new Error('enough'));
    };
    const { signal } = aborter;
    await expect(cg(float64Space, operator(a), normals(3, 20), { signal, onIteration })).rejects.toThrow('enough');
  });

  it('control: the solution of another matrix does not pass the residual check', async () => {
    const [a, wrong] = [withSpectrum(1, spectrum(2, 12)), withSpectrum(3, spectrum(2, 12))];
    const b = normals(4, 12);
    const found = await cg(float64Space, operator(wrong), b, { tolerance: 1e-10 });
    expect(found.converged).toBe(true);
    expect(relativeResidual(a, found.x, b)).toBeGreaterThan(0.1);
  });
});

describe('minres', () => {
  it('agrees with dense LU on indefinite systems, damped and from a starting point; residuals never grow', async () => {
    await fc.assert(
      fc.asyncProperty(sized, fc.constantFrom(0, 0.5), fc.boolean(), async ([seed, n], damping, warm) => {
        const values = spectrum(seed + 1, n, 0.4).map((v) => (v < 0 ? v - 1 : v));
        const a = withSpectrum(seed, values);
        const b = normals(seed + 2, n);
        const x0 = warm ? normals(seed + 3, n) : undefined;
        const found = await minres(float64Space, operator(a), b, {
          tolerance: 1e-12,
          damping,
          x0,
          maxIterations: 3000,
        });
        const shifted = a.map((x, at) => x + (at % (n + 1) === 0 ? damping : 0));
        expect(found.converged).toBe(true);
        expect(relativeError(found.x, luSolve(lu(shifted, n), b))).toBeLessThan(1e-8);
        expect(found.residuals.at(-1)).toBeCloseTo(relativeResidual(shifted, found.x, b), 12);
        found.residuals.forEach(
          (r, i) => i > 0 && expect(r).toBeLessThanOrEqual(found.residuals[i - 1] * 1.01 + 1e-12),
        );
      }),
      runs,
    );
  });

  it('solves the system on which cg meets negative curvature at once', async () => {
    const b = Float64Array.of(1, 1);
    const apply = diagonal([2, -3]);
    expect((await cg(float64Space, apply, b)).status).toBe('negative-curvature');
    const { x } = await minres(float64Space, apply, b, { tolerance: 1e-12 });
    expect(norm(minus(x, Float64Array.of(0.5, -1 / 3)))).toBeLessThan(1e-12);
  });

  it('gives the least-squares solution of an inconsistent system and says so', async () => {
    const values = [0, 0, 1, -2, 5, 3];
    const b = normals(3, 6);
    const found = await minres(float64Space, diagonal(values), b);
    expect(found).toMatchObject({ status: 'least-squares', converged: false });
    values.forEach((v, i) => v !== 0 && expect(found.x[i]).toBeCloseTo(b[i] / v, 8));
    expect(found.residuals.at(-1)).toBeCloseTo(Math.hypot(b[0], b[1]) / norm(b), 10);
  });

  it('reports stagnation, iteration limits, b = 0 and NaN', async () => {
    const a = withSpectrum(6, [-1e-7, 1e-3, 1, -1e4, 1e7]);
    const deep = await minres(float64Space, operator(a), normals(7, 5), { tolerance: 1e-30, leastSquaresTolerance: 0 });
    expect(deep.status).toBe('stagnated');
    const limited = await minres(float64Space, operator(withSpectrum(1, spectrum(1, 30, 0.5))), normals(2, 30), {
      maxIterations: 3,
    });
    expect(limited).toMatchObject({ status: 'max-iterations', iterations: 3 });
    const zero = await minres(float64Space, operator(a), new Float64Array(5));
    expect(zero).toMatchObject({ x: new Float64Array(5), converged: true, iterations: 0 });
    await expect(minres(float64Space, (v) => v.map(() => NaN), normals(1, 3))).rejects.toThrow(NumericsError);
  });

  it('control: the solution of another matrix does not pass the residual check', async () => {
    const [a, wrong] = [withSpectrum(1, spectrum(2, 12, 0.5)), withSpectrum(3, spectrum(2, 12, 0.5))];
    const b = normals(4, 12);
    const found = await minres(float64Space, operator(wrong), b, { tolerance: 1e-10 });
    expect(found.converged).toBe(true);
    expect(relativeResidual(a, found.x, b)).toBeGreaterThan(0.1);
  });
});

describe('lissa', () => {
  const values = [0.5, 0.8, 1, 2, 4, 5];
  const a = withSpectrum(1, values);
  const b = normals(2, 6);

  it('agrees with dense Cholesky, and its residual is that of the x it returns', async () => {
    for (const damping of [0, 0.5]) {
      const found = await lissa(float64Space, operator(a), b, { scale: 6, tolerance: 1e-11, damping });
      expect(found).toMatchObject({ converged: true, status: 'converged', diverged: null });
      expect(relativeError(found.x, choleskySolve(cholesky(a, 6, damping), b))).toBeLessThan(1e-9);
      if (damping === 0) expect(found.residuals[0].at(-1)).toBeCloseTo(relativeResidual(a, found.x, b), 13);
    }
  });

  it('is the partial Neumann sum Σ_{j≤k} (I − A/s)ʲ b/s, however often it looks', async () => {
    let expected = b.slice();
    for (let k = 0; k < 7; k++) expected = b.map((bi, i) => bi + expected[i] - times(a, expected)[i] / 8);
    for (const checkEvery of [1, 3, 100]) {
      const found = await lissa(float64Space, operator(a), b, { scale: 8, maxIterations: 7, checkEvery });
      expect(
        relativeError(
          found.x,
          expected.map((x) => x / 8),
        ),
      ).toBeLessThan(1e-14);
      expect(found).toMatchObject({ iterations: 7, status: 'max-iterations' });
    }
  });

  it('averages repeats of a stochastic operator, whose error falls as more are taken', async () => {
    const n = 6;
    const noisy = (seed: number) => (v: Float64Array, at: { iteration: number; repeat: number }) => {
      const rng = createRng(seed + 1000 * at.repeat + at.iteration);
      const shift = 0.5 * (rng.uniform() - 0.5);
      return times(a, v).map((x, i) => x + shift * v[(i + 1) % n]);
    };
    const reference = choleskySolve(cholesky(a, n), b);
    const errorOf = async (repeats: number) => {
      const found = await lissa(float64Space, noisy(5), b, { scale: 6, maxIterations: 120, tolerance: 0, repeats });
      expect(found.iterations).toBe(120 * repeats);
      expect(found.residuals).toHaveLength(repeats);
      return relativeError(found.x, reference);
    };
    const [one, many] = [await errorOf(1), await errorOf(100)];
    expect(many).toBeLessThan(0.02);
    expect(many).toBeLessThan(one);
  });

  it('reports divergence when the scale is too small, and on an indefinite operator, with a finite x', async () => {
    const small = await lissa(float64Space, operator(a), b, { scale: 2 });
    expect(small).toMatchObject({ status: 'diverged', converged: false });
    expect(small.diverged!.residual).toBeGreaterThan(100);
    expect(small.x.every(Number.isFinite)).toBe(true);
    const indefinite = await lissa(float64Space, diagonal([1, -0.5, 3]), Float64Array.of(1, 1e-3, 1), { scale: 4 });
    expect(indefinite.status).toBe('diverged');
    expect(indefinite.x[2]).toBeCloseTo(1 / 3, 2);
    const attempt = lissa(float64Space, operator(a), b, { scale: 2, onDivergence: 'throw' });
    await expect(attempt).rejects.toThrow(DivergenceError);
    await expect(attempt).rejects.toThrow(/raise scale/);
    const { status } = await lissa(float64Space, (v) => v.map(() => NaN), b, { scale: 1 });
    expect(status).toBe('diverged');
  });

  it('takes its scale from extremeEigenvalues; refuses a scale that is none', async () => {
    const { largest } = await extremeEigenvalues(float64Space, operator(a), normals(3, 6));
    const found = await lissa(float64Space, operator(a), b, { scale: largest.value + largest.error });
    expect(found.converged).toBe(true);
    await expect(lissa(float64Space, operator(a), b, { scale: 0 })).rejects.toThrow(/scale 0/);
    const zero = await lissa(float64Space, operator(a), new Float64Array(6), { scale: 6 });
    expect(zero).toMatchObject({ x: new Float64Array(6), converged: true });
  });
});

describe('extremeEigenvalues', () => {
  it('finds both ends of a known spectrum within its own error bound', async () => {
    await fc.assert(
      fc.asyncProperty(sized, async ([seed, n]) => {
        const values = spectrum(seed + 1, n, 0.3);
        const a = withSpectrum(seed, values);
        const start = normals(seed + 2, n);
        const found = await extremeEigenvalues(float64Space, operator(a), start, { which: 'both', tolerance: 1e-9 });
        const size = Math.max(...values.map(Math.abs));
        expect(found.converged).toBe(true);
        for (const [end, value] of [
          [found.largest, Math.max(...values)],
          [found.smallest, Math.min(...values)],
        ] as const) {
          expect(Math.abs(end.value - value)).toBeLessThan(1e-7 * size);
          expect(Math.abs(end.value - value)).toBeLessThanOrEqual(end.error + 1e-12 * size);
        }
      }),
      runs,
    );
  });

  it('works on a large diagonal with few products, and refuses a zero start', async () => {
    const n = 2000;
    const values = Array.from({ length: n }, (_, i) => (i + 1) / n + (i === n - 1 ? 0.5 : 0));
    const found = await extremeEigenvalues(float64Space, diagonal(values), normals(1, n), { tolerance: 1e-8 });
    expect(found.largest.value).toBeCloseTo(1.5, 7);
    expect(found.iterations).toBeLessThan(30);
    await expect(extremeEigenvalues(float64Space, diagonal([1]), new Float64Array(1))).rejects.toThrow(NumericsError);
  });
});
