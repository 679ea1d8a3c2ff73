// Subsets, the linear datamodelling score and leave-out correlations, on outcomes that are known.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';

const timesRemoved = (subsets: readonly ecif.Subset[], count: number): number[] =>
  Array.from({ length: count }, (_, i) => subsets.filter(({ removed }) => removed.includes(i)).length);

/** An outcome that is exactly additive: its loss is the sum of `effects` over what is removed, plus a constant. */
const additive =
  (...effects: readonly (readonly number[])[]): ecif.Outcome =>
  ({ removed }) =>
    Promise.resolve(effects.map((of) => 3 + removed.reduce((t, i) => t + of[i], 0)));

const normals = (rng: ecif.Rng, n: number): number[] => Array.from({ length: n }, () => rng.normal());

describe('drawn subsets', () => {
  it('are divisions of the right size, every pair removed equally often up to one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 25 }), fc.integer({ min: 1, max: 20 }), fc.nat(1e6), (n, m, seed) => {
        const size = 1 + (seed % (n - 1));
        const subsets = ecif.drawSubsets(n, m, { pairs: size }, ecif.createRng(seed));
        for (const { kept, removed } of subsets) {
          expect(removed.length).toBe(size);
          expect([...kept, ...removed].toSorted((a, b) => a - b)).toEqual([...Array(n).keys()]);
        }
        const times = timesRemoved(subsets, n);
        expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(1);
        expect(subsets.length).toBe(m);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it('are equal for equal seeds, and differ otherwise', () => {
    const of = (seed: number): ecif.Subset[] => ecif.drawSubsets(30, 8, { share: 0.5 }, ecif.createRng(seed));
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
  });

  it('hold any two pairs together as often as chance has it, and do not come as complements', () => {
    const [n, m] = [8, 4000];
    const subsets = ecif.drawSubsets(n, m, { share: 0.5 }, ecif.createRng(3));
    const chance = (4 / 8) * (3 / 7);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < i; j++) {
        const share = subsets.filter(({ removed }) => removed.includes(i) && removed.includes(j)).length / m;
        expect(Math.abs(share - chance)).toBeLessThan(4.5 * Math.sqrt((chance * (1 - chance)) / m));
      }
    const complements = subsets.filter(({ kept }, s) => s % 2 === 0 && String(kept) === String(subsets[s + 1].removed));
    expect(complements.length / (m / 2)).toBeLessThan(0.05);
  });

  it('nothing or everything removed, and shares that are none, are refused', () => {
    const draw = (removed: ecif.Amount) => (): unknown => ecif.drawSubsets(10, 3, removed, ecif.createRng(1));
    expect(draw({ share: 0.01 })).toThrow('drawSubsets: 0 of 10 pairs removed; remove some and keep some');
    expect(draw({ pairs: 10 })).toThrow('drawSubsets: 10 of 10 pairs removed; remove some and keep some');
    expect(draw({ share: 50 })).toThrow('share = 50; give a number in 0…1');
    expect(() => ecif.subsetWithout(4, [4])).toThrow('removed pair = 4; give a whole number in 0…3');
  });
});

describe('predicted changes', () => {
  it('are sums over the removed pairs, by hand', () => {
    const subsets = [ecif.subsetWithout(4, [1, 3]), ecif.subsetWithout(4, [0]), ecif.subsetWithout(4, [])];
    expect([...ecif.predictedChanges([1, 10, 100, 1000], subsets)]).toEqual([1010, 1, 0]);
    expect([...subsets[0].kept]).toEqual([0, 2]);
  });

  it('scores of other pairs are refused', () => {
    expect(() => ecif.predictedChanges([1, 2], [ecif.subsetWithout(3, [0])])).toThrow(
      'predictedChanges: 2 scores for 3 pairs; give all',
    );
  });
});

describe('the linear datamodelling score', () => {
  const [n, rng] = [40, ecif.createRng(4)];
  const [a, b] = [normals(rng, n), normals(rng, n)];
  const subsets = ecif.drawSubsets(n, 50, { share: 0.5 }, rng);

  it('is 1 for the effects themselves, −1 for their negatives, per target', async () => {
    const outcomes = await ecif.outcomesOf(subsets, additive(a, b));
    const minus = b.map((x) => -x);
    expect(ecif.linearDatamodelling([a, b], subsets, outcomes).mean).toBeCloseTo(1, 12);
    expect([...ecif.linearDatamodelling([a, minus], subsets, outcomes).perTarget].map(Math.round)).toEqual([1, -1]);
    expect(ecif.linearDatamodelling([a, minus], subsets, outcomes).mean).toBeCloseTo(0, 12);
  });

  it('does not care about a monotone map of outcomes, nor a factor and an offset of scores', async () => {
    const outcomes = await ecif.outcomesOf(subsets, additive(a));
    const bent = outcomes.map((losses) => losses.map((x) => Math.exp(x / 10)));
    const noisy = a.map((x) => x + rng.normal());
    const { mean } = ecif.linearDatamodelling([noisy], subsets, outcomes);
    const moved = noisy.map((x) => 5 * x + 2);
    expect(mean).toBeLessThan(0.95);
    expect(ecif.linearDatamodelling([noisy], subsets, bent).mean).toBeCloseTo(mean, 12);
    expect(ecif.linearDatamodelling([moved], subsets, outcomes).mean).toBeCloseTo(mean, 12);
  });

  it('by hand: three subsets, sums 1, 2, 3 and losses 5, 9, 7', () => {
    const three = [[0], [1], [2]].map((removed) => ecif.subsetWithout(4, removed));
    const outcomes = [[5], [9], [7]];
    expect(ecif.linearDatamodelling([[1, 2, 3, 0]], three, outcomes).mean).toBeCloseTo(0.5, 14);
  });

  it('permuted scores are at chance: mean 0, and a spread from both the subsets and the pairs', async () => {
    const outcomes = await ecif.outcomesOf(subsets, additive(a));
    const metric = (s: Float64Array): number => ecif.linearDatamodelling([s], subsets, outcomes).mean;
    const { value, mean, sd, pValue } = ecif.permutedControl(metric, a, rng, 1000);
    expect(value).toBeCloseTo(1, 12);
    expect(Math.abs(mean)).toBeLessThan((4 * sd) / Math.sqrt(1000));
    // Between 1/(m − 1) of independent outcomes and 1/(m − 1) + 1/(n − 1): permuted scores correlate with the effects by chance.
    expect(sd).toBeGreaterThan(Math.sqrt(1 / 49));
    expect(sd).toBeLessThan(1.1 * Math.sqrt(1 / 49 + 1 / 39));
    expect(pValue).toBe(1 / 1001);
  });

  it('a target whose outcome never changes is left out of the mean, and counted', async () => {
    const still = a.map(() => 0);
    const outcomes = await ecif.outcomesOf(subsets, additive(a, still));
    const { perTarget, mean, defined } = ecif.linearDatamodelling([a, a], subsets, outcomes);
    expect(perTarget[1]).toBeNaN();
    expect(mean).toBeCloseTo(1, 12);
    expect(defined).toBe(1);
    expect(ecif.linearDatamodelling([still, still], subsets, outcomes)).toMatchObject({ mean: NaN, defined: 0 });
  });
});

describe('outcomes', () => {
  it('are asked for once each, in order, one after the other', async () => {
    const subsets = ecif.leaveOneOut(5, [3, 1]);
    const log: string[] = [];
    const outcomes = await ecif.outcomesOf(subsets, async ({ removed }, index) => {
      log.push(`start ${index}`);
      await Promise.resolve();
      log.push(`end ${index}`);
      return removed[0];
    });
    expect(log).toEqual(['start 0', 'end 0', 'start 1', 'end 1']);
    expect(outcomes).toEqual([Float64Array.of(3), Float64Array.of(1)]);
  });

  it('that are no numbers, or of other targets, are refused', async () => {
    const subsets = ecif.leaveOneOut(3);
    await expect(ecif.outcomesOf(subsets, () => Promise.resolve(NaN))).rejects.toThrow(
      'outcome of subset 0: entry 0 is NaN; give finite numbers only',
    );
    await expect(ecif.outcomesOf(subsets, (_, i) => Promise.resolve(new Array(i + 1).fill(0)))).rejects.toThrow(
      'outcome: 2 targets for subset 1, 1 before; give all',
    );
    expect(() => ecif.linearDatamodelling([[1, 2, 3]], subsets, [[1]])).toThrow('1 outcomes for 3 subsets');
    expect(() =>
      ecif.linearDatamodelling([[1, 2, 3]], subsets, [
        [1, 2],
        [1, 2],
        [1, 2],
      ]),
    ).toThrow('scores for 1 targets, outcomes of 2');
  });
});

describe('leave-out correlation', () => {
  it('leave-one-out by hand: Pearson of scores and losses, Spearman of their ranks', async () => {
    const subsets = ecif.leaveOneOut(4);
    const outcomes = await ecif.outcomesOf(subsets, ({ removed: [i] }) => Promise.resolve([10, 11, 12, 13][i]));
    const { pearson, spearman } = ecif.leaveOutCorrelation([[0, 1, 2, 30]], subsets, outcomes);
    expect(spearman.mean).toBe(1);
    // Centred: (−8¼, −7¼, −6¼, 21¾) and (−1½, −½, ½, 1½); sums 45½, 632¾ and 5.
    expect(pearson.mean).toBeCloseTo(45.5 / Math.sqrt(632.75 * 5), 14);
  });

  it('leave-k-out: exact for additive effects, and lower once effects of couples join in', async () => {
    const [n, rng] = [20, ecif.createRng(6)];
    const effects = normals(rng, n);
    const subsets = ecif.drawSubsets(n, 60, { pairs: 5 }, rng);
    const exact = await ecif.outcomesOf(subsets, additive(effects));
    const { pearson } = ecif.leaveOutCorrelation([effects], subsets, exact);
    expect(pearson.mean).toBeCloseTo(1, 12);
    const couples = normals(rng, n * n);
    const coupled = await ecif.outcomesOf(subsets, ({ removed }) => {
      const all = [...removed];
      const pairs = all.flatMap((i) => all.filter((j) => j < i).map((j) => couples[i * n + j]));
      return Promise.resolve(all.reduce((t, i) => t + effects[i], 0) + pairs.reduce((t, x) => t + x, 0));
    });
    const found = ecif.leaveOutCorrelation([effects], subsets, coupled).pearson.mean;
    expect(found).toBeGreaterThan(0.3);
    expect(found).toBeLessThan(0.9);
  });
});
