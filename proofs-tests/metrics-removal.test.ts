// Brittleness and removal curves, on outcomes that are known for every subset.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';

const identity = (n: number): Uint32Array => Uint32Array.from({ length: n }, (_, i) => i);

describe('brittleness', () => {
  /** Flips once `at` or more are gone. */
  const flipsAt = (n: number, at: number, most?: number): Promise<ecif.Brittleness<number>> =>
    ecif.brittleness(
      identity(n),
      ({ removed }) => Promise.resolve(removed.length),
      (gone) => gone >= at,
      most,
    );

  it('finds the smallest number, whatever it is, in about 2·log₂ trainings', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 300 }), fc.nat(299), async (n, at) => {
        fc.pre(at < n);
        const { removed, steps } = await flipsAt(n, at);
        expect(removed).toBe(at);
        expect(steps.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(at + 1)) + 2);
        expect(new Set(steps.map((step) => step.removed)).size).toBe(steps.length);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it('by hand: 5 of 100 is found over 0, 1, 2, 4, 8, 6, 5', async () => {
    const { steps } = await flipsAt(100, 5);
    expect(steps.map(({ removed }) => removed)).toEqual([0, 1, 2, 4, 8, 6, 5]);
    expect(steps.map(({ flipped }) => flipped)).toEqual([false, false, false, false, true, true, true]);
  });

  it('0 where nothing has to go, null where even the most does not flip', async () => {
    expect(await flipsAt(10, 0)).toMatchObject({ removed: 0, steps: [{ removed: 0 }] });
    expect((await flipsAt(10, 10)).removed).toBeNull();
    expect((await flipsAt(10, 9)).removed).toBe(9);
    expect((await flipsAt(10, 4, 3)).removed).toBeNull();
    expect((await flipsAt(10, 3, 3)).removed).toBe(3);
    expect((await flipsAt(10, 3, 0)).removed).toBeNull();
    await expect(flipsAt(10, 3, 11)).rejects.toThrow('most = 11; give a whole number in 0…10');
  });

  it('where flipping is not monotone, the number flips and one fewer does not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 40 }), async (table) => {
        const found = await ecif.brittleness(
          identity(table.length),
          ({ removed }) => Promise.resolve(removed.length),
          (gone) => table[gone],
        );
        if (found.removed === null) expect(found.steps.every(({ flipped }) => !flipped)).toBe(true);
        else expect([found.removed > 0 && table[found.removed - 1], table[found.removed]]).toEqual([false, true]);
      }),
      { seed: 2, numRuns: 300 },
    );
  });

  it('the true order of effects needs the fewest, a random one more, the wrong end most', async () => {
    const rng = ecif.createRng(3);
    const effects = Array.from({ length: 80 }, () => Math.abs(rng.normal()));
    const needed = async (order: Uint32Array): Promise<number> => {
      const loss = ({ removed }: ecif.Subset): Promise<number> =>
        Promise.resolve(removed.reduce((t, i) => t + effects[i], 0));
      return (await ecif.brittleness(order, loss, (x) => x > 30)).removed ?? Infinity;
    };
    const best = await needed(ecif.orderBy(effects, 'highest'));
    const sorted = effects.toSorted((a, b) => b - a);
    const smallest = sorted.findIndex((_, k) => sorted.slice(0, k + 1).reduce((a, b) => a + b) > 30) + 1;
    expect(best).toBe(smallest);
    const random = await needed(rng.permutation(80));
    expect(random).toBeGreaterThan(1.5 * best);
    expect(await needed(ecif.orderBy(effects, 'lowest'))).toBeGreaterThan(random);
  });
});

describe('removal curves', () => {
  const sumOf =
    (effects: readonly number[]) =>
    ({ removed }: ecif.Subset): Promise<number> =>
      Promise.resolve(1 + removed.reduce((t, i) => t + effects[i], 0));

  it('by hand: effects −2, −1, 1, 2 and shares ¼ and ½', async () => {
    const effects = [1, -2, 2, -1];
    const { lowest, highest, gap } = await ecif.removalCurves(effects, [0.25, 0.5], sumOf(effects));
    expect(lowest.points).toEqual([
      { share: 0, removed: 0, value: 1 },
      { share: 0.25, removed: 1, value: -1 },
      { share: 0.5, removed: 2, value: -2 },
    ]);
    expect(highest.points.map(({ value }) => value)).toEqual([1, 3, 4]);
    // Trapezoids (0 − 1.5)/2 and (2 + 3.5)/2.
    expect([lowest.area, highest.area, gap]).toEqual([-0.75, 2.75, 3.5]);
  });

  it('the area is the mean height: of a constant it is the constant, of a line its middle', async () => {
    const order = identity(20);
    const flat = await ecif.removalCurve(order, [0.1, 0.35, 0.4], () => Promise.resolve(7));
    expect(flat.area).toBeCloseTo(7, 14);
    const line = await ecif.removalCurve(order, [0.1, 0.35, 0.4], ({ removed }) => Promise.resolve(removed.length));
    expect(line.area).toBeCloseTo(4, 14);
  });

  it('the full model is evaluated once for both ends, every other point once', async () => {
    const asked: number[] = [];
    await ecif.removalCurves([3, 1, 2, 0], [0, 0.25, 0.5], ({ removed }) => {
      asked.push(removed.length);
      return Promise.resolve(0);
    });
    expect(asked).toEqual([0, 1, 2, 1, 2]);
  });

  it('the gap of the true effects is positive, of permuted ones around 0', async () => {
    const [n, times, rng] = [40, 400, ecif.createRng(4)];
    const effects = Array.from({ length: n }, () => rng.normal());
    const gapOf = async (scores: ArrayLike<number>): Promise<number> =>
      (await ecif.removalCurves(scores, [0.1, 0.2, 0.4], sumOf(effects))).gap;
    const gaps: number[] = [];
    for (let i = 0; i < times; i++) gaps.push(await gapOf(ecif.permuted(effects, rng)));
    const { mean, sd } = ecif.summarise(gaps);
    expect(Math.abs(mean)).toBeLessThan((4 * sd) / Math.sqrt(times));
    expect(await gapOf(effects)).toBeGreaterThan(Math.max(...gaps));
  });

  it('shares that do not ascend or leave nothing, and outcomes that are no numbers, are refused', async () => {
    const curve = (...shares: number[]): Promise<unknown> =>
      ecif.removalCurve(identity(10), shares, () => Promise.resolve(0));
    await expect(curve(0.2, 0.1)).rejects.toThrow('removalCurve: shares 0.2, 0.1; give one or more above 0, ascending');
    await expect(curve(0)).rejects.toThrow('give one or more above 0, ascending');
    await expect(curve(0.99)).rejects.toThrow('a share of 0.99 leaves none of 10 pairs; take a smaller one');
    const lost = ecif.removalCurve(identity(10), [0.1], ({ removed }) => Promise.resolve(1 / removed.length));
    await expect(lost).rejects.toThrow('outcome without 0 pairs: entry 0 is Infinity; give finite numbers only');
  });
});
