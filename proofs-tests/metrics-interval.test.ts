// Intervals and controls: table values, numeric integration, coverage, and p-values that are uniform under chance.

import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';

describe('mean and standard deviation', () => {
  it('by hand: 2, 4, 4, 4, 5, 5, 7, 9', () => {
    const { count, mean, sd } = ecif.summarise([2, 4, 4, 4, 5, 5, 7, 9]);
    expect([count, mean]).toEqual([8, 5]);
    expect(sd).toBeCloseTo(Math.sqrt(32 / 7), 14);
    expect(ecif.summarise([3]).sd).toBeNaN();
    expect(() => ecif.summarise([])).toThrow('summarise: no values; give one or more');
  });
});

describe("Student's factor", () => {
  it.each([
    [0.95, 1, 12.7062047364],
    [0.95, 2, 4.3026527297],
    [0.95, 3, 3.1824463053],
    [0.95, 4, 2.7764451052],
    [0.95, 10, 2.228138852],
    [0.95, 29, 2.0452296421],
    [0.99, 5, 4.0321429836],
    [0.9, 7, 1.8945786051],
    [0.95, 1000, 1.9623390808],
  ])('level %f, %i degrees of freedom: %f', (level, df, t) => {
    expect(ecif.studentFactor(level, df)).toBeCloseTo(t, 9);
  });

  it('has the level asked for below its density, integrated', () => {
    for (const df of [1, 2, 3, 6, 9, 14]) {
      const density = (x: number): number => (1 + (x * x) / df) ** (-(df + 1) / 2);
      /** ∫ over (0, t) by Simpson's rule in x = √df·tan φ, which makes the line finite. */
      const below = (angle: number): number => {
        const [steps, root] = [2000, Math.sqrt(df)];
        const h = angle / steps;
        let sum = 0;
        for (let i = 0; i <= steps; i++) {
          const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
          const phi = Math.min(i * h, Math.PI / 2 - 1e-12);
          sum += weight * density(root * Math.tan(phi)) * (root / Math.cos(phi) ** 2);
        }
        return (sum * h) / 3;
      };
      for (const level of [0.5, 0.8, 0.99]) {
        const angle = Math.atan(ecif.studentFactor(level, df) / Math.sqrt(df));
        expect(below(angle) / below(Math.PI / 2)).toBeCloseTo(level, 6);
      }
    }
  });

  it('levels and degrees of freedom that are none are refused', () => {
    expect(() => ecif.studentFactor(95, 4)).toThrow('level = 95; give a probability between 0 and 1');
    expect(() => ecif.studentFactor(0.95, 0)).toThrow('degrees of freedom = 0; give a whole number ≥ 1');
  });
});

describe('intervals', () => {
  const rng = ecif.createRng(1);
  const share = (times: number, test: () => boolean): number =>
    Array.from({ length: times }, test).filter(Boolean).length / times;
  const sample = (n: number): number[] => Array.from({ length: n }, () => 3 + 2 * rng.normal());
  const holds = ({ low, high }: ecif.Interval): boolean => low < 3 && 3 < high;

  it('of Student by hand: 1, 2, 3 give 2 ± 4.3027/√3', () => {
    const { low, high } = ecif.studentInterval([1, 2, 3]);
    expect(high - 2).toBeCloseTo(4.3026527297 / Math.sqrt(3), 9);
    expect(2 - low).toBeCloseTo(high - 2, 14);
    expect(() => ecif.studentInterval([1])).toThrow('studentInterval: 1 values; give two or more');
  });

  it('of Student holds the mean of normals as often as it says, one with the normal factor less often', () => {
    const times = 4000;
    const error = 4 * Math.sqrt((0.9 * 0.1) / times);
    expect(Math.abs(share(times, () => holds(ecif.studentInterval(sample(4), 0.9))) - 0.9)).toBeLessThan(error);
    const narrow = share(times, () => {
      const { mean, sd } = ecif.summarise(sample(4));
      return Math.abs(mean - 3) < (1.6449 * sd) / 2;
    });
    expect(narrow).toBeLessThan(0.9 - 2 * error);
  });

  const meanOf = (values: readonly number[], rows: Uint32Array): number =>
    rows.reduce((t, i) => t + values[i], 0) / rows.length;

  it('of the bootstrap holds the mean about as often as it says', () => {
    const covered = share(400, () => {
      const values = sample(40);
      return holds(ecif.bootstrapInterval(40, (rows) => meanOf(values, rows), rng, { level: 0.9, resamples: 200 }));
    });
    expect(covered).toBeGreaterThan(0.82);
    expect(covered).toBeLessThan(0.95);
  });

  it('of the bootstrap is as wide as the normal one for a large sample, and equal for equal seeds', () => {
    const values = sample(400);
    const interval = (seed: number): ecif.BootstrapInterval =>
      ecif.bootstrapInterval(400, (rows) => meanOf(values, rows), ecif.createRng(seed));
    const { low, high } = interval(1);
    expect(interval(1)).toEqual(interval(1));
    expect(interval(1)).not.toEqual(interval(2));
    expect((high - low) / ((2 * 1.96 * ecif.summarise(values).sd) / 20)).toBeGreaterThan(0.9);
    expect((high - low) / ((2 * 1.96 * ecif.summarise(values).sd) / 20)).toBeLessThan(1.1);
  });

  it('of the bootstrap by hand: of two rows the first is drawn 0, 1 or 2 times', () => {
    const firsts = (rows: Uint32Array): number => rows.filter((i) => i === 0).length;
    expect(ecif.bootstrapInterval(2, firsts, ecif.createRng(1), { level: 0.9 })).toEqual({
      ...{ low: 0, high: 2, level: 0.9, resamples: 2000 },
    });
    const middle = ecif.bootstrapInterval(2, firsts, ecif.createRng(1), { level: 0.4 });
    expect([middle.low, middle.high]).toEqual([1, 1]);
  });

  it('of the bootstrap by hand: of the values 0, 1, 2, 3, 4 the quantiles 0.3 and 0.7 are 1.2 and 2.8', () => {
    let calls = 0;
    const { low, high } = ecif.bootstrapInterval(1, () => calls++, rng, { level: 0.4, resamples: 5 });
    expect(low).toBeCloseTo(1.2, 14);
    expect(high).toBeCloseTo(2.8, 14);
  });

  it('of the bootstrap leaves resamples without a value out', () => {
    const found = ecif.bootstrapInterval(2, (rows) => (rows.includes(0) ? 1 : NaN), ecif.createRng(1));
    expect(found).toMatchObject({ low: 1, high: 1 });
    expect(found.resamples / 2000).toBeGreaterThan(0.7);
    expect(found.resamples / 2000).toBeLessThan(0.8);
    expect(ecif.bootstrapInterval(2, () => NaN, ecif.createRng(1)).low).toBeNaN();
  });
});

describe('permuted control', () => {
  it('p-values of random scores are uniform, those of real ones small', () => {
    const rng = ecif.createRng(2);
    const target = Array.from({ length: 15 }, () => rng.normal());
    const metric = (s: Float64Array): number => ecif.pearson(s, target);
    const p = Array.from({ length: 500 }, () => {
      const scores = target.map(() => rng.normal());
      return ecif.permutedControl(metric, scores, rng, 99).pValue;
    });
    for (const level of [0.05, 0.25, 0.5, 0.9]) {
      const below = p.filter((x) => x <= level + 1e-9).length / p.length;
      expect(Math.abs(below - level)).toBeLessThan(4 * Math.sqrt((level * (1 - level)) / p.length));
    }
    expect(ecif.permutedControl(metric, target, rng, 99)).toMatchObject({ pValue: 0.01, repeats: 99 });
  });

  it('a metric that permutations do not change has p = 1, although its sums round differently', () => {
    const scores = Array.from({ length: 30 }, (_, i) => 0.1 * i);
    const sum = (s: Float64Array): number => s.reduce((a, b) => a + b, 0);
    expect(ecif.permutedControl(sum, scores, ecif.createRng(3), 200).pValue).toBe(1);
  });

  it('is undefined where the metric is, and leaves undefined permutations out', () => {
    const constant = ecif.permutedControl((s) => ecif.pearson(s, [1, 2, 3]), [1, 1, 1], ecif.createRng(4), 10);
    expect(constant).toEqual({ value: NaN, mean: NaN, sd: NaN, pValue: NaN, repeats: 0 });
    const half = ecif.permutedControl((s) => (s[0] === 1 ? 5 : NaN), [1, 0], ecif.createRng(4), 100);
    expect(half).toMatchObject({ value: 5, mean: 5, sd: 0, pValue: 1 });
    expect(half.repeats).toBeGreaterThan(30);
    expect(half.repeats).toBeLessThan(70);
  });
});

describe('methods compared', () => {
  const target = [5, 1, 4, 2, 3, 9, 7];
  const methods = { better: target, identity: [5, 1, 4, 2, 3, 7, 9], worse: target.map((x) => -x) };
  const metric = (s: Float64Array): number => ecif.spearman(s, target);

  it('stand beside the baseline, which comes first', () => {
    const rows = ecif.compareMethods(metric, methods, 'identity', 1, 99);
    expect(rows.map(({ method }) => method)).toEqual(['identity', 'better', 'worse']);
    const base = 1 - (6 * 2) / (7 * 48);
    expect(rows.map(({ value }) => value)).toEqual([base, 1, -1].map((x) => expect.closeTo(x, 12)));
    expect(rows.map(({ aboveBaseline }) => aboveBaseline)).toEqual(
      [0, 1 - base, -1 - base].map((x) => expect.closeTo(x, 12)),
    );
    expect(rows[2].pValue).toBe(1);
  });

  it('a baseline that is missing is refused', () => {
    expect(() => ecif.compareMethods(metric, methods, 'nothing', 1, 9)).toThrow(
      'compareMethods: no scores of the baseline nothing among better, identity, worse; give them',
    );
  });
});
