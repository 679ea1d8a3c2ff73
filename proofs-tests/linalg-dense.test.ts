// Dense factorisations against their definitions, with controls that must fail.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import {
  asymmetry,
  cholesky,
  choleskyInverse,
  choleskyLogDet,
  choleskySolve,
  identity,
  lu,
  luLogDet,
  luSolve,
  matMul,
  matVec,
  NotPositiveDefiniteError,
  SingularMatrixError,
  symmetricEigen,
  transpose,
} from '../src/linalg/index.ts';
import {
  flip,
  maxAbs,
  minus,
  naiveProduct,
  norm,
  normals,
  relativeResidual,
  times,
  withSpectrum,
} from './support/linalg.ts';

const sized = fc.tuple(fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 1, max: 24 }));

/** Random eigenvalues in ±[0.1, 10], or all positive. */
function spectrum(seed: number, n: number, sign: 'positive' | 'mixed'): number[] {
  const rng = createRng(seed);
  return Array.from(
    { length: n },
    () => 10 ** (2 * rng.uniform() - 1) * (sign === 'mixed' && rng.uniform() < 0.5 ? -1 : 1),
  );
}

const sorted = (values: readonly number[]): number[] => [...values].sort((x, y) => x - y);

function expectEigen(a: Float64Array, n: number, tolerance = 1e-12): void {
  const { values, vectors } = symmetricEigen(a, n);
  const size = Math.max(maxAbs(a), 1e-300) * Math.sqrt(n);
  for (let k = 0; k < n; k++) {
    const v = vectors.slice(k * n, (k + 1) * n);
    expect(
      norm(
        minus(
          times(a, v),
          v.map((x) => x * values[k]),
        ),
      ),
    ).toBeLessThanOrEqual(tolerance * size * 4);
    if (k > 0) expect(values[k]).toBeGreaterThanOrEqual(values[k - 1]);
  }
  const gram = naiveProduct(vectors, flip(vectors, n), n);
  expect(maxAbs(minus(gram, identity(n)))).toBeLessThanOrEqual(tolerance);
}

describe('products', () => {
  it('matMul, matVec and transpose agree with the textbook loop, rectangular too', () => {
    const [a, b, x] = [normals(1, 3 * 5), normals(2, 5 * 4), normals(3, 5)];
    expect(maxAbs(minus(matMul(a, b, 3, 5, 4), naiveProduct(a, b, 3, 5, 4)))).toBeLessThan(1e-14);
    expect(maxAbs(minus(matVec(a, x, 3), naiveProduct(a, x, 3, 5, 1)))).toBeLessThan(1e-14);
    expect(transpose(transpose(a, 3, 5), 5, 3)).toEqual(a);
    expect(transpose(a, 3, 5)[1]).toBe(a[5]);
    expect(() => matVec(a, x, 4)).toThrow(/15 numbers for 4×5/);
  });

  it('asymmetry is zero only for symmetric matrices', () => {
    expect(asymmetry(withSpectrum(1, [1, 2, 3]), 3)).toBe(0);
    expect(asymmetry(Float64Array.of(1, 2, 0, 4), 2)).toBe(0.5);
  });
});

describe('cholesky', () => {
  it('reconstructs L·Lᵀ = A, solves, inverts, and matches log det from the spectrum', () => {
    fc.assert(
      fc.property(sized, ([seed, n]) => {
        const values = spectrum(seed, n, 'positive');
        const a = withSpectrum(seed + 1, values);
        const factor = cholesky(a, n);
        expect(maxAbs(minus(naiveProduct(factor.lower, flip(factor.lower, n), n), a))).toBeLessThan(
          1e-13 * maxAbs(a) * n,
        );
        const b = normals(seed + 2, n);
        expect(relativeResidual(a, choleskySolve(factor, b), b)).toBeLessThan(1e-12);
        expect(maxAbs(minus(naiveProduct(a, choleskyInverse(factor), n), identity(n)))).toBeLessThan(1e-11);
        expect(choleskyLogDet(factor)).toBeCloseTo(
          values.reduce((sum, v) => sum + Math.log(v), 0),
          10,
        );
      }),
      { numRuns: 60 },
    );
  });

  it('names the failing pivot and its value', () => {
    const a = Float64Array.of(4, 2, 2, 1 - 3);
    const attempt = () => cholesky(a, 2);
    expect(attempt).toThrow(NotPositiveDefiniteError);
    expect(attempt).toThrow(/pivot 1 of 2 is -3; add damping/);
    try {
      attempt();
    } catch (error) {
      expect(error).toMatchObject({ pivot: 1, value: -3 });
    }
    const shifted = choleskySolve(cholesky(a, 2, 4), Float64Array.of(8, 2));
    expect(maxAbs(minus(shifted, Float64Array.of(1, 0)))).toBeLessThan(1e-14);
    expect(() => cholesky(Float64Array.of(NaN), 1)).toThrow(NotPositiveDefiniteError);
  });

  it('control: a factor of another matrix does not pass the check', () => {
    const [a, other] = [withSpectrum(1, [1, 2, 3, 4]), withSpectrum(2, [1, 2, 3, 4])];
    const b = normals(3, 4);
    expect(relativeResidual(a, choleskySolve(cholesky(other, 4), b), b)).toBeGreaterThan(0.1);
  });
});

describe('symmetricEigen', () => {
  it('A·v = λ·v, orthonormal, ascending, and recovers the prescribed spectrum, trace and determinant', () => {
    fc.assert(
      fc.property(sized, ([seed, n]) => {
        const values = spectrum(seed, n, 'mixed');
        const a = withSpectrum(seed + 1, values);
        expectEigen(a, n);
        const found = symmetricEigen(a, n).values;
        sorted(values).forEach((v, i) => expect(Math.abs(found[i] - v)).toBeLessThan(1e-12 * 10 * n));
        const trace = a.reduce((sum, x, at) => sum + (at % (n + 1) === 0 ? x : 0), 0);
        expect(found.reduce((sum, x) => sum + x, 0)).toBeCloseTo(trace, 10);
        const { sign, logAbs } = luLogDet(lu(a, n));
        expect(found.reduce((s, x) => s * Math.sign(x), 1)).toBe(sign);
        expect(found.reduce((s, x) => s + Math.log(Math.abs(x)), 0)).toBeCloseTo(logAbs, 8);
      }),
      { numRuns: 60 },
    );
  });

  it('handles 1×1, zero, diagonal, repeated, graded and extreme scales', () => {
    expect(symmetricEigen(Float64Array.of(-3), 1).values).toEqual(Float64Array.of(-3));
    expectEigen(new Float64Array(25), 5);
    expectEigen(Float64Array.of(3, 0, 0, 0, 1, 0, 0, 0, 2), 3);
    expectEigen(withSpectrum(5, [2, 2, 2, 2, 7, 7]), 6);
    expectEigen(withSpectrum(6, [1e-12, 1e-8, 1e-4, 1, 1e4]), 5);
    const tiny = withSpectrum(7, [1, 2, 3]).map((x) => x * 1e-200);
    expect(symmetricEigen(tiny, 3).values[2] / 3e-200).toBeCloseTo(1, 12);
    const huge = withSpectrum(7, [1, 2, 3]).map((x) => x * 1e200);
    expect(symmetricEigen(huge, 3).values[0] / 1e200).toBeCloseTo(1, 12);
  });

  it('stays orthonormal to 1e-12 at n = 200 and on the second-difference matrix with its closed-form spectrum', () => {
    const n = 200;
    const a = new Float64Array(n * n);
    for (let i = 0; i < n; i++) {
      a[i * n + i] = 2;
      if (i > 0) a[i * n + i - 1] = a[(i - 1) * n + i] = -1;
    }
    const { values } = symmetricEigen(a, n);
    values.forEach((v, k) => expect(v).toBeCloseTo(4 * Math.sin((Math.PI * (k + 1)) / (2 * n + 2)) ** 2, 12));
    expectEigen(a, n);
    const g = normals(11, n * n);
    const gt = flip(g, n);
    expectEigen(
      g.map((x, at) => x + gt[at]),
      n,
    );
  });

  it('refuses NaN; control: a perturbed eigenvector does not satisfy A·v = λ·v', () => {
    expect(() => symmetricEigen(Float64Array.of(1, 0, NaN, 1), 2)).toThrow(/entry \(1,0\) is NaN/);
    const a = withSpectrum(8, [1, 2, 3]);
    const { values, vectors } = symmetricEigen(a, 3);
    const v = vectors.slice(0, 3).map((x, i) => x + (i === 0 ? 1e-6 : 0));
    expect(
      norm(
        minus(
          times(a, v),
          v.map((x) => x * values[0]),
        ),
      ),
    ).toBeGreaterThan(1e-8);
  });
});

describe('lu', () => {
  it('solves indefinite and nonsymmetric systems', () => {
    fc.assert(
      fc.property(sized, ([seed, n]) => {
        const b = normals(seed, n);
        const symmetric = withSpectrum(seed + 1, spectrum(seed, n, 'mixed'));
        expect(relativeResidual(symmetric, luSolve(lu(symmetric, n), b), b)).toBeLessThan(1e-11);
        const general = naiveProduct(symmetric, withSpectrum(seed + 2, spectrum(seed + 3, n, 'mixed')), n);
        expect(relativeResidual(general, luSolve(lu(general, n), b), b)).toBeLessThan(1e-9);
      }),
      { numRuns: 60 },
    );
  });

  it('knows the determinant of small matrices, pivots on a zero, and names a singular pivot', () => {
    const swap = lu(Float64Array.of(0, 2, 3, 0), 2);
    expect(luLogDet(swap).sign * Math.exp(luLogDet(swap).logAbs)).toBeCloseTo(-6, 12);
    expect(luSolve(swap, Float64Array.of(2, 3))).toEqual(Float64Array.of(1, 1));
    expect(() => lu(Float64Array.of(1, 2, 2, 4), 2)).toThrow(SingularMatrixError);
  });
});
