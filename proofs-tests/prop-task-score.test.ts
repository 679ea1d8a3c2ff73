// Task scores: the first-order change of the evaluation loss, for every pair from one solve and one sweep.

import { describe, expect, it } from 'vitest';
import { addScaled, dot } from '../src/array/vector.ts';
import * as ecif from '../src/index.ts';
import { numericGradient } from '../src/verify/plain.ts';
import { acrossBatches } from './support/settings.ts';
import { prove } from './support/proof.ts';

prove('prop-task-score');

describe.each(['corrected', 'published', 'exact'] as const)('Neg %s', (form) => {
  /** The sweep, and beside it −∇L_val·(positiveIF + negativeIF) of every pair from its own gradients. */
  async function scores(): Promise<{ swept: ecif.PairScore[]; apart: { positive: number; negative: number }[] }> {
    const { problem, theta, h, plain, w, read } = await acrossBatches();
    const g = numericGradient((at) => plain.evaluation(at, 0).value, w);
    const tree = { w: ecif.tensor(theta.w.device, g, theta.w.shape) };
    const swept = await ecif.pairScores(problem, theta, await h.solve(tree), form);
    const apart: { positive: number; negative: number }[] = [];
    for (const { batch, position } of swept) {
      const seg = [{ batch, positions: [position] }];
      const [p, n] = [
        await ecif.positiveIF(problem, theta, seg, h),
        await ecif.negativeIF(problem, theta, seg, form, h),
      ];
      apart.push({ positive: -dot(g, await read(() => p)), negative: -dot(g, await read(() => n)) });
    }
    return { swept, apart };
  }
  const found = scores();
  const close = (a: number, b: number): void =>
    expect(Math.abs(a - b)).toBeLessThan(1e-8 * Math.max(1e-3, Math.abs(b)));

  it('the sweep of every pair is its −∇L_val·positiveIF and −∇L_val·negativeIF', async () => {
    const { swept, apart } = await found;
    expect(swept).toHaveLength(12);
    swept.forEach(({ positive, negative, score }, i) => {
      close(positive, apart[i].positive);
      close(negative, apart[i].negative);
      close(score, apart[i].positive + apart[i].negative);
    });
    // Control: no two pairs share a score, so a permutation of them would be seen.
    const sorted = swept.map((s) => s.score).toSorted((a, b) => a - b);
    sorted.slice(1).forEach((x, i) => expect(x - sorted[i]).toBeGreaterThan(1e-6));
  });

  it('the parts add up: positive + negative = T2I + I2T = score', async () => {
    for (const { positive, negative, t2i, i2t, score } of (await found).swept) {
      close(positive + negative, score);
      close(t2i + i2t, score);
      expect(Math.abs(t2i - i2t)).toBeGreaterThan(1e-9);
    }
  });
});

it.each(['corrected', 'exact'] as const)('%s: each direction is the slope of its own terms along w', async (form) => {
  const { problem, theta, w } = await acrossBatches();
  const along = w.map((_, i) => Math.sin(2 * i + 1));
  const at = (t: number): ecif.Bilinear => ({ w: ecif.tensor(theta.w.device, addScaled(w, t, along), theta.w.shape) });
  const termAt = (t: number, { batch, position: n }: ecif.PairPlace, key: 't2i' | 'i2t'): Promise<number> =>
    ecif
      .scope(() => {
        const s = ecif.similarities(problem.model, at(t), problem.batches[batch]);
        return ecif.add(ecif.posTerm(s, [n])[key], ecif.negTerm(s, [n], form)[key]);
      })
      .item();
  for (const score of await ecif.pairScores(
    problem,
    theta,
    { w: ecif.tensor(theta.w.device, along, theta.w.shape) },
    form,
  ))
    for (const key of ['t2i', 'i2t'] as const) {
      const slope = ((await termAt(1e-5, score, key)) - (await termAt(-1e-5, score, key))) / 2e-5;
      expect(Math.abs(score[key] - slope)).toBeLessThan(1e-7);
    }
});

it('the score of a set is the sum of its pairs as positives, and is not as negatives', async () => {
  const { problem, theta, h, seg, read, w, plain } = await acrossBatches();
  const g = numericGradient((at) => plain.evaluation(at, 0).value, w);
  const [p, n] = [
    await ecif.positiveIF(problem, theta, seg, h),
    await ecif.negativeIF(problem, theta, seg, 'corrected', h),
  ];
  const [positive, negative] = [await read(() => p), await read(() => n)];
  const of = { positive: -dot(g, positive), negative: -dot(g, negative) };
  expect(ecif.taskScore(positive, negative, g)).toBeCloseTo(of.positive + of.negative, 12);
  const tree = { w: ecif.tensor(theta.w.device, g, theta.w.shape) };
  const swept = await ecif.pairScores(problem, theta, await h.solve(tree), 'corrected');
  const members = swept.filter(({ batch, position }) =>
    seg.some((s) => s.batch === batch && s.positions.includes(position)),
  );
  expect(members).toHaveLength(4);
  const sum = (key: 'positive' | 'negative'): number => members.reduce((t, s) => t + s[key], 0);
  expect(sum('positive')).toBeCloseTo(of.positive, 8);
  expect(Math.abs(sum('negative') - of.negative)).toBeGreaterThan(1e-4);
});
