// Detection metrics: by hand, by counting pairs, by trying every order of tied scores, and at chance.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';

interface Case {
  readonly scores: readonly number[];
  readonly bad: readonly boolean[];
}

/** Few distinct scores, at least one bad pair and one other. */
const cases = (most: number): fc.Arbitrary<Case> =>
  fc
    .array(fc.tuple(fc.integer({ min: -2, max: 2 }), fc.boolean()), { minLength: 2, maxLength: most })
    .map((rows) => ({ scores: rows.map(([s]) => s), bad: rows.map(([, b]) => b) }))
    .filter(({ bad }) => bad.includes(true) && bad.includes(false));

/** P(a random bad pair is lower than a random other) + P(equal)/2, over all couples. */
function aurocByCouples({ scores, bad }: Case): number {
  const [inBad, others] = [scores.filter((_, i) => bad[i]), scores.filter((_, i) => !bad[i])];
  const wins = inBad.flatMap((a) => others.map((b): number => (a < b ? 1 : a === b ? 0.5 : 0)));
  return wins.reduce((a, b) => a + b) / wins.length;
}

function permutations(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((x, i) => permutations(items.toSpliced(i, 1)).map((rest) => [x, ...rest]));
}

/** The mean of a number of an order over all orders in which scores ascend. */
function meanOverOrders({ scores, bad }: Case, of: (badInOrder: boolean[]) => number): number {
  const ascending = permutations([...scores.keys()]).filter((p) =>
    p.every((i, at) => at === 0 || scores[p[at - 1]] <= scores[i]),
  );
  return ascending.reduce((t, p) => t + of(p.map((i) => bad[i])), 0) / ascending.length;
}

/** Average precision of one order, by its definition. */
function precisionOf(order: readonly boolean[]): number {
  const precisions = order.flatMap((isBad, at) =>
    isBad ? [order.slice(0, at + 1).filter(Boolean).length / (at + 1)] : [],
  );
  return precisions.reduce((a, b) => a + b) / precisions.length;
}

const low = 'lowest';

describe('by hand', () => {
  // Ascending: bad, good, bad, good.
  const [scores, bad] = [
    [-2, -1, 0, 1],
    [true, false, true, false],
  ];

  it('AUROC: three of four couples in order', () => {
    expect(ecif.auroc(scores, bad, low)).toBe(0.75);
    expect(ecif.auroc(scores, bad, 'highest')).toBe(0.25);
  });

  it('average precision: (1/1 + 2/3)/2', () => {
    expect(ecif.averagePrecision(scores, bad, low)).toBeCloseTo(5 / 6, 14);
    expect(ecif.averagePrecision(scores, bad, 'highest')).toBeCloseTo((1 / 2 + 2 / 4) / 2, 14);
  });

  it('two tied, one of them bad: (1 + ½)/2', () => {
    expect(ecif.averagePrecision([0, 0], [true, false], low)).toBeCloseTo(0.75, 14);
    expect(ecif.chancePrecision([true, false])).toBeCloseTo(0.75, 14);
  });

  it('inspected: the first of a tied couple is bad half of the time', () => {
    expect(ecif.inspect([0, 0, 1], [1, 0, 0], low, { pairs: 1 })).toEqual({
      ...{ inspected: 1, found: 0.5, recall: 0.5, precision: 0.5 },
      chanceRecall: 1 / 3,
    });
    expect(ecif.inspect(scores, bad, low, { share: 0.75 })).toMatchObject({ inspected: 3, found: 2, recall: 1 });
    expect(ecif.inspect(scores, bad, low, { pairs: 3 }).precision).toBeCloseTo(2 / 3, 14);
    expect(ecif.inspect(scores, bad, low, { pairs: 0 })).toMatchObject({ found: 0, recall: 0, precision: NaN });
  });

  it('the curve has a point for each distinct score', () => {
    expect(ecif.detectionCurve([-1, 3, -1, 4], [true, true, false, false], low)).toEqual([
      { threshold: -1, inspected: 2, recall: 0.5, falsePositives: 0.5, precision: 0.5 },
      { threshold: 3, inspected: 3, recall: 1, falsePositives: 0.5, precision: 2 / 3 },
      { threshold: 4, inspected: 4, recall: 1, falsePositives: 1, precision: 0.5 },
    ]);
  });
});

describe('against other definitions', () => {
  it('AUROC is what counting couples gives', () => {
    fc.assert(
      fc.property(cases(14), (c) => {
        expect(ecif.auroc(c.scores, c.bad, low)).toBeCloseTo(aurocByCouples(c), 14);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it('average precision is the mean over all orders of the tied', () => {
    fc.assert(
      fc.property(cases(6), (c) => {
        expect(ecif.averagePrecision(c.scores, c.bad, low)).toBeCloseTo(meanOverOrders(c, precisionOf), 12);
      }),
      { seed: 2, numRuns: 150 },
    );
  });

  it('pairs found are the mean over all orders of the tied', () => {
    fc.assert(
      fc.property(cases(6), fc.nat(6), (c, k) => {
        const pairs = Math.min(k, c.scores.length);
        const found = meanOverOrders(c, (order) => order.slice(0, pairs).filter(Boolean).length);
        expect(ecif.inspect(c.scores, c.bad, low, { pairs }).found).toBeCloseTo(found, 12);
      }),
      { seed: 3, numRuns: 150 },
    );
  });

  it('the area below the ROC curve is the AUROC', () => {
    fc.assert(
      fc.property(cases(14), ({ scores, bad }) => {
        const points = ecif.detectionCurve(scores, bad, low);
        const roc = points.map(({ falsePositives, recall }) => [falsePositives, recall] as const);
        expect(ecif.areaBelow([[0, 0], ...roc])).toBeCloseTo(ecif.auroc(scores, bad, low), 14);
      }),
      { seed: 4 },
    );
  });

  it('without ties the steps of the precision-recall curve are the average precision', () => {
    fc.assert(
      fc.property(cases(14), ({ bad }) => {
        const scores = [...ecif.createRng(bad.length).permutation(bad.length)];
        const points = ecif.detectionCurve(scores, bad, low);
        const steps = points.map(({ recall, precision }, i) => precision * (recall - (points[i - 1]?.recall ?? 0)));
        const area = steps.reduce((a, b) => a + b);
        expect(ecif.averagePrecision(scores, bad, low)).toBeCloseTo(area, 12);
      }),
      { seed: 5 },
    );
  });
});

describe('what changes nothing', () => {
  const all = (scores: readonly number[], bad: readonly boolean[], end: ecif.End): number[] => [
    ecif.auroc(scores, bad, end),
    ecif.averagePrecision(scores, bad, end),
    ecif.inspect(scores, bad, end, { share: 0.4 }).recall,
  ];
  const same = (a: readonly number[], b: readonly number[]): void =>
    a.forEach((x, i) => expect(x).toBeCloseTo(b[i], 13));

  it('a monotone map, another order of the pairs, and minus with the other end', () => {
    fc.assert(
      fc.property(cases(14), fc.nat(1e6), ({ scores, bad }, seed) => {
        const expected = all(scores, bad, low);
        const order = [...ecif.createRng(seed).permutation(bad.length)];
        same(all(scores.map(Math.exp), bad, low), expected);
        same(
          all(
            order.map((i) => scores[i]),
            order.map((i) => bad[i]),
            low,
          ),
          expected,
        );
        same(
          all(
            scores.map((s) => -s),
            bad,
            'highest',
          ),
          expected,
        );
      }),
      { seed: 6 },
    );
  });

  it('AUROC of the other end, of −s and of the other labels is 1 − AUROC', () => {
    fc.assert(
      fc.property(cases(14), ({ scores, bad }) => {
        const rest = 1 - ecif.auroc(scores, bad, low);
        const others = bad.map((b) => !b);
        const minus = scores.map((s) => -s);
        same(
          [ecif.auroc(scores, bad, 'highest'), ecif.auroc(minus, bad, low), ecif.auroc(scores, others, low)],
          [rest, rest, rest],
        );
      }),
      { seed: 7 },
    );
  });
});

describe('chance', () => {
  const rng = ecif.createRng(8);
  const n = 60;
  const bad = Array.from({ length: n }, (_, i) => i < 12);
  // Half of the scores are tied, and the bad pairs are far below.
  const scores = bad.map((b, i) => (b ? -5 : 0) + (i % 2 === 0 ? 0 : rng.normal()));
  const times = 4000;

  it.each([
    ['AUROC', (s: Float64Array) => ecif.auroc(s, bad, low), 0.5],
    ['average precision', (s: Float64Array) => ecif.averagePrecision(s, bad, low), ecif.chancePrecision(bad)],
    ['recall at 25 % inspected', (s: Float64Array) => ecif.inspect(s, bad, low, { share: 0.25 }).recall, 0.25],
  ])('%s: permuted scores give what chance gives, real ones far more', (_, metric, chance) => {
    const { value, mean, sd, pValue } = ecif.permutedControl(metric, scores, rng, times);
    expect(Math.abs(mean - chance)).toBeLessThan((4 * sd) / Math.sqrt(times));
    expect(value).toBeGreaterThan(chance + 4 * sd);
    expect(pValue).toBe(1 / (times + 1));
  });

  it('constant scores are chance exactly', () => {
    const zeros = new Float64Array(n);
    expect(ecif.auroc(zeros, bad, low)).toBe(0.5);
    expect(ecif.inspect(zeros, bad, low, { pairs: 15 }).recall).toBeCloseTo(0.25, 14);
    expect(ecif.chancePrecision(bad)).toBeGreaterThan(12 / n);
  });
});

describe('degenerate input', () => {
  it('without bad pairs nothing is defined, without others AUROC is not', () => {
    const none = [false, false];
    expect(ecif.auroc([1, 2], none, low)).toBeNaN();
    expect(ecif.averagePrecision([1, 2], none, low)).toBeNaN();
    expect(ecif.inspect([1, 2], none, low, { pairs: 1 }).recall).toBeNaN();
    expect(ecif.auroc([1, 2], [true, true], low)).toBeNaN();
    expect(ecif.averagePrecision([1, 2], [true, true], low)).toBe(1);
  });

  it('labels that are none, lengths that differ, amounts that are too large are refused', () => {
    expect(() => ecif.auroc([1, 2], [0, 2], low)).toThrow('labels: entry 1 is 2; give true or 1 for a bad pair');
    expect(() => ecif.averagePrecision([1, 2], [0], low)).toThrow('scores and labels: 2 and 1 entries');
    expect(() => ecif.auroc([1, NaN], [0, 1], low)).toThrow('entry 1 is NaN');
    expect(() => ecif.inspect([1, 2], [0, 1], low, { pairs: 3 })).toThrow('pairs = 3; give a whole number in 0…2');
    expect(() => ecif.inspect([1, 2], [0, 1], low, { share: 10 })).toThrow('share = 10; give a number in 0…1');
  });
});
