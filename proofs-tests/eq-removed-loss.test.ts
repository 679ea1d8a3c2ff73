// The loss after true removal: rows and columns dropped, which is L − Pos − Neg exact.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { both, gradientAt, matrix, oneHotBatch, softplus, valueAt } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('eq-removed-loss');

const FORMS = ['corrected', 'published', 'exact'] as const;
const all = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

it('three pairs without the middle one are a batch of two, by hand', async () => {
  const s = [
    [1, 9, 0.5],
    [-4, 7, 3],
    [2, -8, 3],
  ];
  const expected = softplus(-0.5) + softplus(-1) + softplus(1) + softplus(-2.5);
  expect(await valueAt((x) => ecif.removedLoss(x, [1]), s)).toBeCloseTo(expected, 13);
});

it('any S, any set: L − Pos − Neg exact equals dropping rows and columns, in value and in gradient', async () => {
  const cases = fc.integer({ min: 1, max: 6 }).chain((n) =>
    fc.record({
      s: fc.array(fc.array(fc.double({ min: -30, max: 30, noNaN: true }), { minLength: n, maxLength: n }), {
        minLength: n,
        maxLength: n,
      }),
      removed: fc.subarray(all(n)),
    }),
  );
  const property = fc.asyncProperty(cases, async ({ s, removed }) => {
    const dropped = (x: ecif.Tensor): ecif.Tensor => ecif.removedLoss(x, removed);
    const byTerms = (x: ecif.Tensor): ecif.Tensor =>
      ecif.sub(ecif.contrastive(x), ecif.add(both(ecif.posTerm(x, removed)), both(ecif.negTerm(x, removed, 'exact'))));
    expect(Math.abs((await valueAt(dropped, s)) - (await valueAt(byTerms, s)))).toBeLessThan(1e-9);
    const [a, b] = [await gradientAt(dropped, s), await gradientAt(byTerms, s)];
    a.forEach((x, i) => expect(Math.abs(x - b[i])).toBeLessThan(1e-9));
  });
  await fc.assert(property, { numRuns: 200, seed: 6 });
});

describe('all of a batch removed', () => {
  it.each(FORMS)('Neg %s is 0, and so is its gradient', async (form) => {
    const s = [
      [1, 0.5, -30],
      [2, 3, 40],
      [0, 700, 1],
    ];
    const neg = (x: ecif.Tensor): ecif.Tensor => both(ecif.negTerm(x, all(3), form));
    expect(await valueAt(neg, s)).toBe(0);
    expect([...(await gradientAt(neg, s))].every((x) => x === 0)).toBe(true);
  });

  it('the batch drops out of the loss, of its gradient and of its Hessian', async () => {
    const model = ecif.bilinear(1);
    const batches = [oneHotBatch(3), oneHotBatch(3)];
    const theta = {
      w: matrix([
        [1, 0.5, -1],
        [2, 3, 0.1],
        [0, 0.7, 1],
      ]),
    };
    const without = ecif.lossWithout({ model, batches, decay: 0.4 }, [{ batch: 1, positions: all(3) }]);
    const alone = ecif.totalLoss({ model, batches: [batches[0]], decay: 0.4 });
    const one = (await ecif.hessian(without, theta)).matrix;
    const other = (await ecif.hessian(alone, theta)).matrix;
    expect(await without(theta).item()).toBeCloseTo(await alone(theta).item(), 13);
    one.forEach((x, i) => expect(x).toBeCloseTo(other[i], 13));
    // Control: with the batch the Hessian is another one.
    const both2 = (await ecif.hessian(ecif.totalLoss({ model, batches, decay: 0.4 }), theta)).matrix;
    expect(Math.max(...both2.map((x, i) => Math.abs(x - other[i])))).toBeGreaterThan(0.05);
  });

  it('retraining without the only batch ends at the centre of the decay', async () => {
    const problem = { model: ecif.bilinear(1), batches: [oneHotBatch(2)], decay: 0.4 };
    const start = {
      w: matrix([
        [1, 0],
        [0, 2],
      ]),
    };
    const { theta } = await ecif.minimise(ecif.lossWithout(problem, [{ batch: 0, positions: [0, 1] }]), start);
    for (const x of await theta.w.data()) expect(Math.abs(x)).toBeLessThan(1e-12);
  });
});
