// How the edits approach retraining: their order in δ, and what the linearised Neg leaves for ever.

import { describe, expect, it } from 'vitest';
import { addScaled, distance, norm } from '../src/array/vector.ts';
import { RUNGS } from '../src/ecif/estimators.ts';
import * as ecif from '../src/index.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { plainRemoval } from '../src/verify/ladder.ts';
import { plainMinimum } from '../src/verify/plain.ts';
import { plainProblem } from '../src/verify/setting.ts';
import { median, slope } from './support/hand.ts';
import { withSpectrum } from './support/linalg.ts';
import { prove } from './support/proof.ts';

prove('prop-removal-order');

/** One instance of one batch, trained, and the minimiser after removal polished by a last Newton step. */
function instance(seed: number, pairs: number, decay: number) {
  const shape = { pairs, batches: 1, text: 3, image: 3, temperature: 0.5, remove: 1, decay };
  const plain = plainProblem(randomInstance(seed, shape));
  const theta = plainMinimum(plain.total, new Float64Array(9));
  const removal = plainRemoval(plain, theta, ecif.cholesky(plain.total(theta).hessian, 9));
  const polished = plainMinimum(plain.removal(1), theta);
  const { gradient, hessian } = plain.removal(1)(polished);
  const truth = addScaled(polished, -1, ecif.choleskySolve(ecif.cholesky(hessian, 9), gradient));
  return { plain, theta, removal, truth };
}

/** ‖θ̃ − θ*‖/‖θ* − θ̂‖ of a rung on one instance. */
async function errorOf(rung: string, seed: number, pairs: number, decay: number): Promise<number> {
  const { theta, removal, truth } = instance(seed, pairs, decay);
  return distance(await RUNGS[rung](removal), truth) / distance(theta, truth);
}

const SEEDS = [1, 2, 3, 4, 5, 6, 7];
const DECAYS = [200, 400, 800, 1600];

// With H = δI + M and a change of ‖g‖/δ: the exact gradient misses ΔH·g/δ², one order of 1/δ; Newton misses
// C‖A⁻¹g‖²/δ and the two-term Neumann series ΔH²·g/δ³, two orders each.
describe.each([
  ['exact gradient', -1],
  ['Newton', -2],
  ['Neumann', -2],
])('%s', (rung, order) => {
  it(`the relative error falls like δ^${order}`, async () => {
    const orders: number[] = [];
    for (const seed of SEEDS) {
      const errors: number[] = [];
      for (const decay of DECAYS) errors.push(await errorOf(rung, seed, 6, decay));
      orders.push(slope(DECAYS, errors));
    }
    for (const found of orders) expect(Math.abs(found - order)).toBeLessThan(0.25);
  });
});

describe('the corrected form as δ grows', () => {
  // At θ = 0 every share is 1/B, so that ∇Neg exact = ∇Neg corrected·B/(B − 1): the gap is ‖∇Neg‖/(B − 1).
  it('keeps the error ‖∇Neg‖/((B − 1)·‖∇Pos + ∇Neg exact‖), pair by pair', async () => {
    for (const pairs of [4, 8, 16, 32])
      for (const seed of SEEDS) {
        const { plain, theta, removal } = instance(seed, pairs, 1e6);
        const floor =
          norm(plain.negGradient(theta, 'corrected')) / (pairs - 1) / norm(await removal.lostGradient('exact'));
        expect(Math.abs((await errorOf('corrected', seed, pairs, 1e6)) / floor - 1)).toBeLessThan(0.01);
      }
  });

  it('which falls with the batch at least like 1/B', async () => {
    const sizes = [4, 8, 16, 32];
    const floors: number[] = [];
    for (const pairs of sizes) {
      const errors: number[] = [];
      for (let seed = 0; seed < 15; seed++) errors.push(await errorOf('corrected', seed, pairs, 1e4));
      floors.push(median(errors));
    }
    expect(slope(sizes, floors)).toBeLessThan(-0.95);
    expect(slope(sizes, floors)).toBeGreaterThan(-2);
  });
});

describe('F quadratic', () => {
  const n = 5;
  const h = withSpectrum(1, [2, 3, 4, 5, 9]);
  const lost = withSpectrum(2, [0, 0, 0, 0.4, 1.5]);
  const left = addScaled(h, -1, lost);
  const b = Float64Array.of(1, -2, 0.5, 3, -1);
  const gradient = (theta: Float64Array): Float64Array => addScaled(ecif.matVec(left, theta, n), -1, b);
  const solve = (a: Float64Array, v: Float64Array): Float64Array => ecif.choleskySolve(ecif.cholesky(a, n), v);
  const minimiser = solve(left, b);
  const theta = Float64Array.of(4, 1, -7, 0.3, 2);
  const removal: ecif.Removal<Float64Array> = {
    theta,
    space: ecif.float64Space,
    solve: (v) => Promise.resolve(solve(h, v)),
    lostGradient: () => gradient(theta).map((x) => -x),
    lostCurvature: () => ({
      product: (v) => ecif.matVec(lost, v, n),
      gradient: () => Promise.resolve(gradient(theta).map((x) => -x)),
      release: () => undefined,
    }),
    newtonStep: (at) => Promise.resolve(solve(left, gradient(at))),
  };

  it('one Newton step is the minimiser, from anywhere', async () => {
    expect(distance(await ecif.removeByNewton(removal), minimiser)).toBeLessThan(1e-12);
  });

  it('Krylov over as many vectors as ΔH has directions, and one, is the minimiser; fewer are not', async () => {
    expect(distance(await ecif.removeKrylov(removal, 3), minimiser)).toBeLessThan(1e-10);
    const errors: number[] = [];
    for (const k of [1, 2]) errors.push(distance(await ecif.removeKrylov(removal, k), minimiser));
    expect(errors[1]).toBeGreaterThan(1e-4);
    expect(errors[0]).toBeGreaterThan(errors[1]);
  });

  it('one solve with H instead misses exactly H⁻¹ΔH of the way', async () => {
    const found = await ecif.removeLinear(removal, 'exact');
    const missed = solve(h, ecif.matVec(lost, addScaled(minimiser, -1, theta), n));
    expect(distance(addScaled(minimiser, -1, found), missed)).toBeLessThan(1e-12);
    expect(distance(found, minimiser)).toBeGreaterThan(0.01);
  });

  it('the rescaled step guards itself where the model along it is not convex', async () => {
    const doubled = (v: Float64Array): Float64Array => ecif.matVec(h, v, n).map((x) => 2 * x);
    const concave = {
      ...removal,
      lostCurvature: async () => ({ ...(await removal.lostCurvature()), product: doubled }),
    };
    const { theta: moved, factor, guarded } = await ecif.removeRescaled(concave);
    expect({ factor, guarded }).toEqual({ factor: 1, guarded: true });
    expect(distance(moved, await ecif.removeLinear(removal, 'exact'))).toBeLessThan(1e-12);
  });
});
