// One decomposition, many dampings: each solution is that of the damped matrix, and a bad condition number is told.

import { describe, expect, it } from 'vitest';
import { Flat } from '../src/autodiff/flat.ts';
import * as ecif from '../src/index.ts';
import { normals } from './support/linalg.ts';
import { bilinearStream, denseCurvature, gapOf } from './support/streamed.ts';

const DAMPINGS = [0, 0.01, 0.3, 20];
const stream = bilinearStream(6, 1e-3);
const { loss, theta } = stream;
const flat = new Flat(theta);

/** The same objective, its products counted by the batches that are asked for. */
function counted() {
  let batches = 0;
  const counting = {
    ...loss,
    batch: (rows: Uint32Array) => {
      batches++;
      return loss.batch(rows);
    },
  };
  return { counting, batches: () => batches };
}

describe('solutions at many dampings', () => {
  it.each<[string, (of: typeof loss) => Promise<ecif.Decomposition<ecif.Bilinear>>]>([
    ['dense', (of) => ecif.denseOf(of, theta)],
    ['lanczos', (of) => ecif.lanczosOf(of, theta, { rank: 12 })],
    ['logra', (of) => ecif.lograOf(of, theta, { size: 4, init: 'orthogonal' })],
  ])('%s: those of the damped matrix, without another product', async (_name, make) => {
    const { counting, batches } = counted();
    const { size, matrix } = await denseCurvature(stream);
    const b = normals(5, size);
    const decomposition = await make(counting);
    const before = batches();
    const swept = await ecif.dampingSweep(decomposition, flat.toTree(b), DAMPINGS);
    expect(batches()).toBe(before);
    expect(swept.map(({ about }) => about.damping)).toEqual(DAMPINGS);
    for (const { damping, x, condition } of swept) {
      const exact = ecif.choleskySolve(ecif.cholesky(matrix, size, damping), b);
      expect(gapOf(await flat.toVector(x), exact)).toBeLessThan(1e-9);
      const { values } = ecif.symmetricEigen(matrix, size);
      const expected = (values[size - 1] + damping) / (values[0] + damping);
      expect(Math.abs(condition / expected - 1)).toBeLessThan(1e-6);
    }
  });

  it('EK-FAC: those that it gives alone', async () => {
    const ekfac = await ecif.ekfacOf(loss, theta, { draws: 2 });
    const b = flat.toTree(normals(5, flat.size));
    const [first, second] = await ecif.dampingSweep(ekfac, b, [0.1, 2]);
    expect(await first.x.w.data()).toEqual(await (await ekfac.solver(0.1).solve(b)).w.data());
    expect(await second.x.w.data()).not.toEqual(await first.x.w.data());
  });
});

describe('the condition number', () => {
  const spectrum = Float64Array.of(1e-6, 1, 100);
  const about = { method: 'dense', curvature: 'gauss-newton', l2: 0, settings: {} } as const;
  const float32 = { about, spectrum, epsilon: 2 ** -23 };

  it('is told where rounding may take too many digits, with the damping that would do', () => {
    const warning = ecif.conditioningAt(float32, 0);
    expect(warning?.condition).toBeCloseTo(1e8, -2);
    expect(warning?.error).toBeCloseTo(1e8 * 2 ** -23);
    expect(warning?.message).toMatch(/^dense: condition number 1\.0e\+8 at damping 0, .* damp by 1\.2e-3 or more/);
    const enough = warning?.enough ?? 0;
    expect(ecif.conditioningAt(float32, 0.99 * enough)).not.toBeNull();
    expect(ecif.conditioningAt(float32, 1.01 * enough)).toBeNull();
  });

  it('is no matter in float64, or where more error is put up with', () => {
    expect(ecif.conditioningAt({ ...float32, epsilon: 2 ** -52 }, 0)).toBeNull();
    expect(ecif.conditioningAt(float32, 0, 20)).toBeNull();
  });

  it('of an indefinite matrix is refused, with the damping that would do', () => {
    const indefinite = { ...float32, spectrum: Float64Array.of(-2, 3) };
    expect(() => ecif.conditioningAt(indefinite, 1.5)).toThrow(
      'dense: smallest eigenvalue -2 with damping 1.5; raise the damping above 2, or take the Gauss-Newton curvature',
    );
    expect(ecif.conditioningAt(indefinite, 2.5)).toBeNull();
  });
});
