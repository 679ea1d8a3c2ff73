// Trust regions: steps against dense algebra, indefinite models, a start where the Hessian is not positive.
import { describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import { cholesky, choleskySolve } from '../src/linalg/cholesky.ts';
import { float64Space } from '../src/linalg/space.ts';
import { truncatedCg } from '../src/linalg/truncated-cg.ts';
import { trustRegion } from '../src/linalg/trust-region.ts';

const N = 12;
const rng = createRng(4);
const g = Float64Array.from({ length: N }, () => rng.normal());
/** Q·diag(values)·Qᵀ for a reflection Q. */
function matrixOf(values: readonly number[]): Float64Array {
  const w = Float64Array.from({ length: N }, () => rng.normal());
  const ww = w.reduce((sum, x) => sum + x * x, 0);
  const q = (i: number, k: number): number => (i === k ? 1 : 0) - (2 * w[i] * w[k]) / ww;
  return Float64Array.from({ length: N * N }, (_, at) =>
    values.reduce((sum, value, k) => sum + q(Math.floor(at / N), k) * value * q(at % N, k), 0),
  );
}
const times = (a: Float64Array, v: Float64Array): Float64Array =>
  v.map((_, i) => v.reduce((sum, x, k) => sum + a[i * N + k] * x, 0));
const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, x, i) => sum + x * b[i], 0);
const positive = matrixOf(Array.from({ length: N }, (_, k) => 1 + k));

describe('truncatedCg', () => {
  it('solves a positive model that fits in the region, with a preconditioner too', async () => {
    const exact = choleskySolve(cholesky(positive, N), g);
    const settings = { radius: 1e6, tolerance: 1e-12, maxIterations: 40 };
    for (const preconditioner of [undefined, (r: Float64Array) => r.map((x, i) => x / positive[i * N + i])]) {
      const found = await truncatedCg(float64Space, (v) => times(positive, v), g, { ...settings, preconditioner });
      expect(found.end).toBe('solved');
      found.step.forEach((x, i) => expect(x).toBeCloseTo(-exact[i], 9));
      expect(found.predicted).toBeCloseTo(dot(g, exact) / 2, 9);
    }
  });

  it.each([
    ['positive', positive, 'edge'],
    ['indefinite', matrixOf([-3, -1, ...Array.from({ length: N - 2 }, (_, k) => 1 + k)]), 'negative-curvature'],
  ] as const)('ends at the edge of the region for a %s model, and promises what the model says', async (_n, a, end) => {
    const radius = end === 'edge' ? 0.3 : 1e3;
    const settings = { radius, tolerance: 1e-12, maxIterations: 40 };
    const { step, ...found } = await truncatedCg(float64Space, (v) => times(a, v), g, settings);
    expect(found.end).toBe(end);
    expect(found.length).toBeCloseTo(radius, 9);
    expect(Math.sqrt(dot(step, step)) / radius).toBeCloseTo(1, 9);
    const model = dot(g, step) + dot(step, times(a, step)) / 2;
    expect(found.predicted / -model).toBeCloseTo(1, 9);
  });
});

describe('trustRegion', () => {
  // Σ (x² − 1)² + 100·(y − x²)²: the Hessian is indefinite near x = 0, Gauss-Newton never.
  const objective = ([x, y]: Float64Array) => ({
    value: (x * x - 1) ** 2 + 100 * (y - x * x) ** 2,
    gradient: Float64Array.of(4 * x * (x * x - 1) - 400 * x * (y - x * x), 200 * (y - x * x)),
  });
  const curvatureAt = ([x, y]: Float64Array, kind: 'hessian' | 'gauss-newton') => {
    const xx = kind === 'hessian' ? 12 * x * x - 4 - 400 * y + 1200 * x * x : 8 * x * x + 800 * x * x;
    const product = ([a, b]: Float64Array) => Float64Array.of(xx * a - 400 * x * b, -400 * x * a + 200 * b);
    kinds.push(kind);
    return Promise.resolve({ product, release: () => released++ });
  };
  let kinds: string[] = [];
  let released = 0;

  it('finds the minimum from a point of negative curvature, by Gauss-Newton after it', async () => {
    [kinds, released] = [[], 0];
    const found = await trustRegion(float64Space, objective, Float64Array.of(0.05, 0.5), curvatureAt);
    expect(found).toMatchObject({ converged: true, status: 'converged' });
    expect(Math.abs(found.x[0])).toBeCloseTo(1, 10);
    expect(found.x[1]).toBeCloseTo(1, 10);
    expect(kinds.slice(0, 2)).toEqual(['hessian', 'gauss-newton']);
    expect(kinds.at(-1)).toBe('hessian');
    expect(released).toBe(kinds.length);
  });

  it('goes on from its region as if it had never stopped', async () => {
    const whole = await trustRegion(float64Space, objective, Float64Array.of(-0.7, 3), curvatureAt, {
      maxIterations: 6,
    });
    let part = await trustRegion(float64Space, objective, Float64Array.of(-0.7, 3), curvatureAt, { maxIterations: 3 });
    const { radius, gaussNewton, gradientNorms } = part;
    part = await trustRegion(float64Space, objective, part.x, curvatureAt, {
      ...{ maxIterations: 3, radius, gaussNewton, referenceNorm: gradientNorms[0] },
    });
    expect(part.x).toEqual(whole.x);
    expect(part.radius).toBe(whole.radius);
  });
});
