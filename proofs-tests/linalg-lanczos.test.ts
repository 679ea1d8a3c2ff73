// Lanczos with full reorthogonalisation: whole spectra, leading pairs with their bounds, nothing left behind.

import { describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import { float64Space, lanczos, type LanczosResult } from '../src/linalg/index.ts';
import { countingSpace, minus, norm, times, withSpectrum } from './support/linalg.ts';

/** Random vectors of length n. */
function drawer(n: number, seed = 1): () => Float64Array {
  const rng = createRng(seed);
  return () => Float64Array.from({ length: n }, () => rng.normal());
}

const run = (a: Float64Array, n: number, steps: number): Promise<LanczosResult<Float64Array>> =>
  lanczos(float64Space, (v) => times(a, v), drawer(n), { steps });

/** The k-th Ritz vector. */
const vectorOf = ({ basis, coordinates }: LanczosResult<Float64Array>, k: number): Float64Array =>
  basis[0].map((_, i) => basis.reduce((total, v, j) => total + coordinates[k * basis.length + j] * v[i], 0));

describe('as many steps as dimensions', () => {
  it.each([
    ['different eigenvalues', [-3, -1, 0.5, 2, 5, 8, 13, 21]],
    ['repeated ones', [1, 1, 1, 1, 2, 2, 7, 7, 7, 9]],
    ['one alone', [4, 4, 4, 4]],
    ['a wide range', [1e-6, 1e-4, 1e-2, 1, 1e2, 1e4]],
  ])('give the whole spectrum and its vectors: %s', async (_what, spectrum) => {
    const n = spectrum.length;
    const a = withSpectrum(3, spectrum);
    const found = await run(a, n, n);
    const scale = Math.max(...spectrum.map(Math.abs));
    found.values.forEach((value, k) => {
      expect(Math.abs(value - spectrum[k])).toBeLessThan(1e-12 * scale);
      const v = vectorOf(found, k);
      expect(Math.abs(norm(v) - 1)).toBeLessThan(1e-12);
      expect(
        norm(
          minus(
            times(a, v),
            v.map((x) => value * x),
          ),
        ),
      ).toBeLessThan(1e-11 * scale);
    });
  });
});

describe('fewer steps', () => {
  const spectrum = Array.from({ length: 40 }, (_, i) => 100 * 0.6 ** i).reverse();
  const a = withSpectrum(5, spectrum);

  it('find the leading pairs, each within its bound', async () => {
    const found = await run(a, 40, 12);
    expect(found.basis).toHaveLength(12);
    for (let k = 6; k < 12; k++) expect(Math.abs(found.values[k] / spectrum[k + 28] - 1)).toBeLessThan(1e-3);
    found.values.forEach((value, k) => {
      const v = vectorOf(found, k);
      const residual = norm(
        minus(
          times(a, v),
          v.map((x) => value * x),
        ),
      );
      expect(Math.abs(residual - found.errors[k])).toBeLessThan(1e-10);
      const nearest = Math.min(...spectrum.map((s) => Math.abs(s - value)));
      expect(nearest).toBeLessThanOrEqual(found.errors[k] + 1e-10);
    });
  });

  it('keep the basis orthonormal', async () => {
    const { basis } = await run(a, 40, 30);
    basis.forEach((u, i) =>
      basis.forEach((v, j) => {
        const product = u.reduce((total, x, k) => total + x * v[k], 0);
        expect(Math.abs(product - (i === j ? 1 : 0))).toBeLessThan(1e-14);
      }),
    );
  });
});

it('owns its basis and nothing else at the end, also when it fails', async () => {
  const space = countingSpace();
  const a = withSpectrum(7, [1, 2, 2, 3]);
  const draw = drawer(4);
  const made = () => space.made(draw());
  const { basis } = await lanczos(space, (v) => space.made(times(a, v)), made, { steps: 4 });
  expect(space.live.size).toBe(4);
  space.release(...basis);
  const failing = lanczos(space, (v) => space.made(times(a, v)), made, { steps: 5 });
  await expect(failing).rejects.toThrow('at most as many steps as there are dimensions');
  expect(space.live.size).toBe(0);
  const broken = lanczos(space, (v) => space.made(v.map(() => NaN)), made, { steps: 2 });
  await expect(broken).rejects.toThrow('lanczos: the residual is NaN');
  expect(space.live.size).toBe(0);
});

it('an aborted run stops', async () => {
  const stop = new AbortController();
  const failing = lanczos(float64Space, (v) => v.map((x) => 2 * x), drawer(6), {
    steps: 6,
    signal: stop.signal,
    onIteration: () => stop.abort(new Error('enough')),
  });
  await expect(failing).rejects.toThrow('enough');
});
