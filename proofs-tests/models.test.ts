// Models that are not convex: two linear towers, and a trained temperature; derivatives and influence by training again.

import { describe, expect, it } from 'vitest';
import { addScaled, distance } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import * as ecif from '../src/index.ts';
import { apart } from '../src/verify/claim.ts';
import { cpu, median } from './support/hand.ts';
import { temperatureProblem, towerProblem, trainModel, type Untrained } from './support/towers.ts';

type WithTemperature = ecif.WithTemperature<ecif.LinearTwoTower>;

/** d/dt of the minimiser of L_Total + extra(t) at t = 0, by training again from θ̂. */
async function responseTo<T>(
  { problem, theta }: { problem: ecif.Problem<T, ecif.PairBatch>; theta: T },
  extra: (t: number) => (theta: T) => ecif.Tensor,
): Promise<Float64Array> {
  const flat = new Flat(theta);
  const h = 1e-2;
  const at: Float64Array[] = [];
  for (const t of [-2 * h, -h, h, 2 * h]) {
    const f = (x: T): ecif.Tensor => ecif.add(ecif.totalLoss(problem)(x), extra(t)(x));
    at.push(await flat.toVector((await ecif.minimise(f, theta, { gradientTolerance: 1e-11 })).theta));
  }
  return at[0].map((x, i) => (x - 8 * at[1][i] + 8 * at[2][i] - at[3][i]) / (12 * h));
}

/** The claims every model shares. */
function modelClaims<T>(make: (seed: number) => Untrained<T>): void {
  it('first and second derivatives of the loss are those of finite differences', async () => {
    const { problem, start } = make(1);
    const { jvp, hvp } = await ecif.checkGrads(ecif.totalLoss(problem), start, { tolerance: 1e-6 });
    expect(Math.max(jvp, hvp)).toBeGreaterThan(0);
    for (const form of ['corrected', 'exact', 'published'] as const)
      await ecif.checkGrads(ecif.lossOf(problem, [{ batch: 0, positions: [1, 4] }], form), start, { tolerance: 1e-5 });
  });

  it.each([2, 3, 4])(
    'trained, seed %i: positive and negative influence are what training again finds',
    async (seed) => {
      const trained = await trainModel(make(seed));
      const { problem, theta, h, seg, read } = trained;
      const { matrix, size } = await ecif.hessian(ecif.totalLoss(problem), theta);
      expect(ecif.symmetricEigen(matrix, size).values[0]).toBeGreaterThan(0.5);
      const pos = ecif.posOf(problem, seg);
      const byEpsilon = await responseTo(trained, (t) => (x) => ecif.affine(pos(x), t, 0));
      const s = (x: T): ecif.Tensor => ecif.similarities(problem.model, x, problem.batches[0]);
      const byZeta = await responseTo(
        trained,
        (t) => (x) => ecif.sub(ecif.zetaLoss(s(x), [1, 4], 1 + t), ecif.contrastive(s(x))),
      );
      const positive = await read(await ecif.positiveIF(problem, theta, seg, h));
      const negative = await read(await ecif.negativeIF(problem, theta, seg, 'corrected', h));
      expect(apart(positive, byEpsilon)).toBeLessThan(1e-5);
      expect(apart(negative, byZeta)).toBeLessThan(1e-5);
      // Controls: the two are not each other, and the printed Neg is neither.
      expect(apart(negative, byEpsilon)).toBeGreaterThan(0.05);
      const published = await read(await ecif.negativeIF(problem, theta, seg, 'published', h));
      expect(apart(published, byZeta)).toBeGreaterThan(1);
    },
  );

  it('many Newton steps from θ̂ end where retraining does, each closer', async () => {
    const { problem, theta, h, seg, read } = await trainModel(make(2));
    const removal = ecif.removalOf(problem, theta, seg, h);
    const truth = await read((await ecif.minimise(removal.without, theta, { indefinite: 'reflect' })).theta);
    const errors: number[] = [];
    for (const steps of [1, 2, 6]) errors.push(distance(await read(await ecif.removeByNewton(removal, steps)), truth));
    expect(errors[1]).toBeLessThan(errors[0] / 2);
    expect(errors[2]).toBeLessThan(1e-9);
    expect(errors[0]).toBeGreaterThan(1e-5);
  });
}

describe('two linear towers', () => modelClaims((seed) => towerProblem(cpu, seed)));
describe('two linear towers with a trained temperature', () => modelClaims((seed) => temperatureProblem(cpu, seed)));

describe('a trained temperature', () => {
  it('stands for 1/τ: S at log(1/τ) is S of the model with that τ', async () => {
    const { problem, start } = towerProblem(cpu, 6);
    const batch = problem.batches[0];
    const fixed = await ecif.similarities(ecif.linearTwoTower(0.07), start, batch).data();
    const theta = { tower: start, logScale: ecif.logScale(cpu, 0.07) };
    const free = await ecif.similarities(ecif.trainedTemperature(problem.model), theta, batch).data();
    fixed.forEach((x, i) => expect(free[i]).toBeCloseTo(x, 10));
  });

  it('the derivative of the loss in log(1/τ) is Σ ∂L/∂S·S', async () => {
    const { problem, start } = temperatureProblem(cpu, 7);
    const loss = (t: WithTemperature): ecif.Tensor => ecif.batchLoss(problem.model, t, problem.batches[0]);
    const found = await ecif.grad(loss)(start).logScale.item();
    const s = ecif.similarities(problem.model, start, problem.batches[0]);
    const slope = ecif.grad(({ w }: { w: ecif.Tensor }) => ecif.contrastive(w))({ w: s }).w;
    expect(found).toBeCloseTo(await ecif.sum(ecif.mul(slope, s)).item(), 10);
    expect(Math.abs(found)).toBeGreaterThan(1e-3);
  });

  it('left out of θ, the edit is further from retraining', async () => {
    const errors: { within: number[]; without: number[] } = { within: [], without: [] };
    for (let seed = 20; seed < 32; seed++) {
      const { problem, theta, h, seg, read } = await trainModel(temperatureProblem(cpu, seed, 10));
      const removal = ecif.removalOf(problem, theta, seg, h);
      const flat = new Flat(theta);
      const start = await flat.toVector(theta);
      const truth = await read((await ecif.minimise(removal.without, theta, { indefinite: 'reflect' })).theta);
      // The same model with the temperature held at what training found.
      const tau = Math.exp(-(await theta.logScale.item()));
      const held = {
        ...problem,
        ...{ model: ecif.linearTwoTower(tau), centre: problem.centre?.tower as ecif.LinearTwoTower },
      };
      const hHeld = await ecif.curvatureAt(ecif.totalLoss(held), theta.tower);
      const tower = await ecif.removeLinear(ecif.removalOf(held, theta.tower, seg, hHeld), 'corrected');
      const error = (edited: Float64Array): number => distance(edited, truth) / distance(start, truth);
      errors.within.push(error(await read(await ecif.removeLinear(removal, 'corrected'))));
      errors.without.push(error(await flat.toVector({ tower, logScale: theta.logScale })));
      expect(addScaled(start, -1, truth).some((x) => Math.abs(x) > 1e-3)).toBe(true);
    }
    expect(median(errors.without)).toBeGreaterThan(1.2 * median(errors.within));
  });
});
