// The metrics from end to end: scores of the exact Hessian, of identity curvature and permuted ones, against retraining.

import { beforeAll, describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { settle } from '../src/verify/setting.ts';
import { cpu } from './support/hand.ts';

const PAIRS = 24;

/** Scores by method, and what training on any subset gives. */
interface Trial {
  readonly exact: Float64Array;
  readonly identity: Float64Array;
  readonly loss: (subset: ecif.Subset) => Promise<number>;
  readonly singles: readonly Float64Array[];
  readonly halves: readonly Float64Array[];
}

const singleOut = ecif.leaveOneOut(PAIRS);
const subsets = ecif.drawSubsets(PAIRS, 32, { share: 0.5 }, ecif.createRng(1));

async function trial(seed: number): Promise<Trial> {
  const shape = { batches: 2, pairs: PAIRS, text: 3, image: 3, temperature: 1, decay: 1 };
  const { file, problem, validation, theta, h } = await settle(randomInstance(seed, shape), cpu);
  const evaluation = (at: ecif.Bilinear): ecif.Tensor => ecif.batchLoss(problem.model, at, validation);
  const gradient = ecif.grad(evaluation)(theta);
  const scores = async (w: ecif.Bilinear): Promise<Float64Array> => {
    const byPair = new Float64Array(PAIRS);
    for (const { batch, position, score } of await ecif.pairScores(problem, theta, w, 'corrected'))
      byPair[file.batches[batch][position]] = score;
    return byPair;
  };
  const loss = async ({ removed }: ecif.Subset): Promise<number> => {
    const without = ecif.lossWithout(problem, ecif.segOf(file.batches, removed));
    return evaluation((await ecif.minimise(without, theta)).theta).item();
  };
  return {
    exact: await scores(await h.solve(gradient)),
    identity: await scores(gradient),
    loss,
    singles: await ecif.outcomesOf(singleOut, loss),
    halves: await ecif.outcomesOf(subsets, loss),
  };
}

describe('scores against retraining on convex problems', () => {
  let trials: Trial[];
  beforeAll(async () => {
    trials = [];
    for (const seed of [2, 3]) trials.push(await trial(seed));
  });

  const meanOf = (metric: (trial: Trial) => number): number => ecif.summarise(trials.map(metric)).mean;

  it('leave-one-out: nearly proportional with the Hessian, less so with the identity', () => {
    for (const { exact, identity, singles } of trials) {
      const real = ecif.leaveOutCorrelation([exact], singleOut, singles);
      const plain = ecif.leaveOutCorrelation([identity], singleOut, singles);
      expect(real.pearson.mean).toBeGreaterThan(0.98);
      expect(real.spearman.mean).toBeGreaterThan(0.94);
      expect(plain.pearson.mean).toBeLessThan(real.pearson.mean - 0.02);
      expect(plain.spearman.mean).toBeLessThan(real.spearman.mean - 0.05);
    }
  });

  it('linear datamodelling score at half of the pairs: 0.9 with the Hessian, less with the identity', () => {
    const lds = (of: 'exact' | 'identity'): number =>
      meanOf((one) => ecif.linearDatamodelling([one[of]], subsets, one.halves).mean);
    expect(lds('exact')).toBeGreaterThan(0.88);
    expect(lds('identity')).toBeLessThan(lds('exact') - 0.02);
  });

  it('permuted scores are at chance in both, and p-values of the real ones are the least there are', () => {
    const times = 400;
    for (const { exact, singles, halves } of trials) {
      for (const metric of [
        (s: Float64Array): number => ecif.leaveOutCorrelation([s], singleOut, singles).spearman.mean,
        (s: Float64Array): number => ecif.linearDatamodelling([s], subsets, halves).mean,
      ]) {
        const { mean, sd, pValue } = ecif.permutedControl(metric, exact, ecif.createRng(5), times);
        expect(Math.abs(mean)).toBeLessThan((4 * sd) / Math.sqrt(times));
        expect(pValue).toBe(1 / (times + 1));
      }
    }
  });

  it('the wrong sign is as wrong as the right one is right', () => {
    for (const { exact, halves } of trials) {
      const minus = exact.map((s) => -s);
      const [right, wrong] = [exact, minus].map((s) => ecif.linearDatamodelling([s], subsets, halves).mean);
      expect(wrong).toBeCloseTo(-right, 12);
    }
  });

  it('removing the lowest scores leaves a lower loss than removing the highest', async () => {
    const { exact, loss } = trials[0];
    const { lowest, highest, gap } = await ecif.removalCurves(exact, [0.1, 0.25], loss);
    expect(gap).toBeGreaterThan(0);
    expect(lowest.points[1].value).toBeLessThan(lowest.points[0].value);
    expect(highest.points[1].value).toBeGreaterThan(highest.points[0].value);
  });

  it('the loss is raised over a threshold by fewer of the highest scores than of a random order, by the lowest never', async () => {
    const { exact, loss } = trials[0];
    const start = await loss(ecif.subsetWithout(PAIRS, []));
    const needed = async (order: Uint32Array): Promise<number> =>
      (await ecif.brittleness(order, loss, (x) => x > 1.5 * start, 12)).removed ?? Infinity;
    const few = await needed(ecif.orderBy(exact, 'highest'));
    expect(few).toBeGreaterThan(1);
    expect(await needed(ecif.createRng(7).permutation(PAIRS))).toBeGreaterThan(2 * few);
    expect(await needed(ecif.orderBy(exact, 'lowest'))).toBe(Infinity);
  });
});
