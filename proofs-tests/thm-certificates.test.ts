// The certificates: known from the edited model alone, never below its distance to retraining.

import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { certificateRatios, gather } from './support/bound-ratios.ts';
import { cpu, median } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('thm-certificates');

describe.each(['nothing', 'corrected', 'exact gradient', 'Newton'])('the edit by %s', (rung) => {
  it('700 removals: no certificate is ever below the error, and half of each sometimes is', async () => {
    const found = await gather(700, (one) => certificateRatios(rung, one));
    for (const name of ['p1', 'p2', 'p3']) {
      expect(found[name].length, name).toBeGreaterThan(50);
      expect(Math.min(...found[name]) / 2, name).toBeLessThan(1);
    }
    expect(median(found.p3)).toBeLessThan(median(found.p1));
  });
});

it('on fixed numbers: ‖G‖/δ, −log(1 − ρ)/(M√a), ‖A⁻¹G‖ + λ/√a·ψ(ρ)/(1 − ρ)', () => {
  const one = (x: number): Float64Array => Float64Array.of(x);
  const { p1, p2, p3 } = ecif.certificatesFrom({ gradient: one(0.6), hessian: one(4), terms: [[one(0), one(1)]] }, 0.5);
  // λ = 0.6/2 = 0.3, M = 1/2, ρ = 0.15, √a = 2.
  expect(p1).toBeCloseTo(1.2, 14);
  expect(p2).toBeCloseTo(0.16251892949777494, 14);
  expect(p3).toBeCloseTo(0.15 + (0.15 * ((Math.exp(0.15) - 1.15) / 0.15)) / 0.85, 14);
});

it('is refused where the similarities are not linear in the parameters', async () => {
  const rng = ecif.createRng(3);
  const rows = (width: number): ecif.Tensor =>
    ecif.tensor(
      cpu,
      Float64Array.from({ length: 4 * width }, () => rng.normal()),
      [4, width],
    );
  const theta = ecif.initLinearTwoTower(cpu, rng, { text: 3, image: 2, shared: 2 });
  const problem = { model: ecif.linearTwoTower(1), batches: [{ text: rows(3), image: rows(2) }], decay: 1 };
  const seg = [{ batch: 0, positions: [1] }];
  await expect(ecif.certificates(problem, theta, seg)).rejects.toThrow('not linear in the parameters');
  await expect(ecif.priorBounds(problem, theta, seg)).rejects.toThrow('not linear in the parameters');
});
