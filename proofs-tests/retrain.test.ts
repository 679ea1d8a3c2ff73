// Retraining: both methods end at the one minimiser, which an independent Newton method finds too.

import { describe, expect, it } from 'vitest';
import { distance, norm } from '../src/array/vector.ts';
import * as ecif from '../src/index.ts';
import { placeConvex } from '../src/ecif/convex-file.ts';
import { DENSE_UP_TO } from '../src/ecif/solver.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { plainMinimum } from '../src/verify/plain.ts';
import { plainProblem } from '../src/verify/setting.ts';
import { cpu, matrix } from './support/hand.ts';
import { readFlat } from './support/random-graph.ts';
import { towerProblem } from './support/towers.ts';

describe.each([1, 2, 3, 4])('convex instance %i', (seed) => {
  const file = randomInstance(seed, { text: 3, image: 3, pairs: 10, batches: 2, decay: [0.05, 0.2, 1, 5][seed - 1] });
  const { problem, start } = placeConvex(file, cpu);
  const loss = ecif.totalLoss(problem);
  const { total } = plainProblem(file);

  it('Newton reaches a gradient of 1e-12, as an independent gradient confirms', async () => {
    const found = await ecif.minimise(loss, start);
    expect(found.method).toBe('newton');
    expect(found.status).toBe('converged');
    expect(found.gradientNorm).toBeLessThanOrEqual(1e-12);
    const w = await readFlat([found.theta.w]);
    expect(norm(total(w).gradient)).toBeLessThan(2e-11);
    expect(found.value).toBeCloseTo(total(w).value, 11);
    expect(distance(w, plainMinimum(total, new Float64Array(9)))).toBeLessThan(1e-10);
  });

  it('L-BFGS ends at the same parameters, from another start too', async () => {
    const newton = await readFlat([(await ecif.minimise(loss, start)).theta.w]);
    const rng = ecif.createRng(seed);
    const other = {
      w: ecif.tensor(
        cpu,
        Float64Array.from({ length: 9 }, () => 3 * rng.normal()),
        [3, 3],
      ),
    };
    const before = await readFlat([other.w]);
    for (const from of [start, other]) {
      const found = await ecif.minimise(loss, from, { method: 'lbfgs' });
      expect(found.gradientNorm).toBeLessThanOrEqual(1e-9);
      expect(distance(await readFlat([found.theta.w]), newton)).toBeLessThan(1e-9 / file.delta);
    }
    expect(await readFlat([other.w])).toEqual(before);
    expect(distance(before, newton)).toBeGreaterThan(1);
  });
});

it('the value never rises by more than rounding, and every iteration is told', async () => {
  const { problem, start } = placeConvex(randomInstance(9, { decay: 0.05, temperature: 0.2 }), cpu);
  for (const method of ['newton', 'lbfgs'] as const) {
    const values: number[] = [];
    const { iterations } = await ecif.minimise(ecif.totalLoss(problem), start, {
      method,
      onIteration: ({ value }) => values.push(value),
    });
    expect(values).toHaveLength(iterations);
    values.slice(1).forEach((v, i) => expect(v).toBeLessThan(values[i] + 1e-8));
    expect(values[0] - values[values.length - 1]).toBeGreaterThan(1e-3);
  }
});

it('a looser tolerance and a limit of iterations are kept to', async () => {
  const { problem, start } = placeConvex(randomInstance(9, { decay: 0.05, temperature: 0.2 }), cpu);
  const loss = ecif.totalLoss(problem);
  const loose = await ecif.minimise(loss, start, { method: 'lbfgs', gradientTolerance: 1e-2 });
  expect(loose.gradientNorm).toBeLessThanOrEqual(1e-2);
  expect(loose.gradientNorm).toBeGreaterThan(1e-9);
  const short = await ecif.minimise(loss, start, { maxIterations: 1 });
  expect({ status: short.status, iterations: short.iterations }).toEqual({ status: 'max-iterations', iterations: 1 });
});

it('where the Hessian is too large to be dense, L-BFGS is taken unless told', async () => {
  const quadratic = ({ w }: { w: ecif.Tensor }): ecif.Tensor => ecif.sum(ecif.square(ecif.add(w, -2)));
  const methodFor = async (n: number): Promise<string> =>
    (await ecif.minimise(quadratic, { w: ecif.zeros(cpu, [n]) })).method;
  expect([await methodFor(DENSE_UP_TO), await methodFor(DENSE_UP_TO + 1)]).toEqual(['newton', 'lbfgs']);
});

describe('an indefinite Hessian', () => {
  const saddle = ({ w }: { w: ecif.Tensor }): ecif.Tensor =>
    ecif.sum(ecif.mul(ecif.sub(ecif.square(ecif.square(w)), ecif.mul(ecif.square(w), 2)), ecif.tensor(cpu, [1, 0.5])));
  const start = { w: ecif.tensor(cpu, [0.1, -0.2]) };

  it('is an error with what to do, or reflected on request to a minimum', async () => {
    await expect(ecif.minimise(saddle, start)).rejects.toThrow(ecif.NotPositiveDefiniteError);
    await expect(ecif.minimise(saddle, start)).rejects.toThrow(/add damping/);
    const { theta } = await ecif.minimise(saddle, start, { indefinite: 'reflect' });
    // w⁴ − 2w² has its minima at ±1.
    const w = await readFlat([theta.w]);
    expect(w[0]).toBeCloseTo(1, 10);
    expect(w[1]).toBeCloseTo(-1, 10);
  });

  it('is not met again at the end: towers are trained to a minimum by both methods', async () => {
    const { problem, start: towers } = towerProblem(cpu, 8);
    const loss = ecif.totalLoss(problem);
    const found = await ecif.minimise(loss, towers, { indefinite: 'reflect' });
    const { matrix: h, size } = await ecif.hessian(loss, found.theta);
    expect(ecif.symmetricEigen(h, size).values[0]).toBeGreaterThan(0.5);
    const other = await ecif.minimise(loss, towers, { method: 'lbfgs' });
    const [a, b] = [
      await readFlat([found.theta.text, found.theta.image]),
      await readFlat([other.theta.text, other.theta.image]),
    ];
    expect(distance(a, b)).toBeLessThan(1e-8);
  });
});

it('nothing is left in memory but the result', async () => {
  const f = ({ w }: { w: ecif.Tensor }): ecif.Tensor => ecif.sum(ecif.square(ecif.add(w, -2)));
  for (const method of ['newton', 'lbfgs'] as const) {
    const start = {
      w: matrix([
        [1, 2],
        [3, 4],
      ]),
    };
    const before = cpu.memory().buffers;
    ecif.disposeTree((await ecif.minimise(f, start, { method })).theta);
    expect(cpu.memory().buffers).toBe(before);
  }
});
