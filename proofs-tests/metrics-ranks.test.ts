// Ranks and correlations: by hand, by counting pairs, and what monotone maps leave alone.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';

/** Whole numbers with many ties. */
const lists = fc
  .integer({ min: 2, max: 12 })
  .chain((n) =>
    fc.tuple(
      fc.array(fc.integer({ min: -3, max: 3 }), { minLength: n, maxLength: n }),
      fc.array(fc.integer({ min: -3, max: 3 }), { minLength: n, maxLength: n }),
    ),
  );

const constant = (x: readonly number[]): boolean => x.every((v) => v === x[0]);

/** τ-b by looking at every pair. */
function kendallByPairs(x: readonly number[], y: readonly number[]): number {
  let [agree, disagree, onlyX, onlyY] = [0, 0, 0, 0];
  for (let i = 0; i < x.length; i++)
    for (let j = 0; j < i; j++) {
      const [a, b] = [Math.sign(x[i] - x[j]), Math.sign(y[i] - y[j])];
      if (a * b > 0) agree++;
      else if (a * b < 0) disagree++;
      else if (a !== 0) onlyY++;
      else if (b !== 0) onlyX++;
    }
  return (agree - disagree) / Math.sqrt((agree + disagree + onlyX) * (agree + disagree + onlyY));
}

describe('midranks', () => {
  it('by hand', () => {
    expect([...ecif.midranks([10, 20, 10, 5, 10])]).toEqual([3, 5, 3, 1, 3]);
    expect([...ecif.midranks([0, -0, 1])]).toEqual([1.5, 1.5, 3]);
    expect([...ecif.midranks([])]).toEqual([]);
  });

  it('are the number below plus half of those equal, and add up to n(n + 1)/2', () => {
    fc.assert(
      fc.property(lists, ([x]) => {
        const count = (test: (v: number) => boolean): number => x.filter(test).length;
        const expected = x.map((v) => count((u) => u < v) + (count((u) => u === v) + 1) / 2);
        expect([...ecif.midranks(x)]).toEqual(expected);
        expect(expected.reduce((a, b) => a + b)).toBe((x.length * (x.length + 1)) / 2);
      }),
      { seed: 1 },
    );
  });
});

describe('orders', () => {
  it('put one end first, and of equal scores the lower index', () => {
    expect([...ecif.orderBy([0.3, -1, 0.3, 2], 'lowest')]).toEqual([1, 0, 2, 3]);
    expect([...ecif.orderBy([0.3, -1, 0.3, 2], 'highest')]).toEqual([3, 0, 2, 1]);
  });

  it('differences too small for the sum of their parts still count', () => {
    expect([...ecif.orderBy([5e-324, 0, -5e-324], 'lowest')]).toEqual([2, 1, 0]);
    expect([...ecif.orderBy([1e308, -1e308], 'lowest')]).toEqual([1, 0]);
  });
});

describe('correlations by hand', () => {
  it('Pearson: x̄ = ȳ = 3, Σxy = 6, Σx² = Σy² = 10', () => {
    expect(ecif.pearson([1, 2, 3, 4, 5], [2, 1, 3, 5, 4])).toBeCloseTo(0.8, 14);
    expect(ecif.pearson([1, 2, 3, 4, 5], [2, 4, 5, 4, 5])).toBeCloseTo(6 / Math.sqrt(60), 14);
  });

  it('Spearman without ties: 1 − 6Σd²/(n(n² − 1)), of ten pairs with Σd² = 194', () => {
    const iq = [106, 86, 100, 101, 99, 103, 97, 113, 112, 110];
    const hours = [7, 0, 27, 50, 28, 29, 20, 12, 6, 17];
    expect(ecif.spearman(iq, hours)).toBeCloseTo(1 - (6 * 194) / (10 * 99), 14);
  });

  it('Spearman with ties: ranks 1, 2½, 2½, 4 and 1, 2, 3, 4 give 4½/√(4½·5)', () => {
    expect(ecif.spearman([0, 1, 1, 2], [0, 1, 2, 3])).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 14);
  });

  it('Kendall: of six pairs one disagrees; with a tie in x five are left of six', () => {
    expect(ecif.kendall([1, 2, 3, 4], [1, 2, 4, 3])).toBeCloseTo(4 / 6, 14);
    expect(ecif.kendall([1, 2, 2, 3], [1, 2, 3, 4])).toBeCloseTo(5 / Math.sqrt(5 * 6), 14);
  });

  it('Pearson sees values, the others only order', () => {
    const [x, y] = [
      [1, 2, 3, 4],
      [1, 2, 3, 1000],
    ];
    expect(ecif.pearson(x, y)).toBeLessThan(0.8);
    expect([ecif.spearman(x, y), ecif.kendall(x, y)]).toEqual([1, 1]);
  });
});

describe('correlations of random lists', () => {
  it('Kendall is what counting pairs gives', () => {
    fc.assert(
      fc.property(lists, ([x, y]) => {
        fc.pre(!constant(x) && !constant(y));
        expect(ecif.kendall(x, y)).toBeCloseTo(kendallByPairs(x, y), 14);
      }),
      { seed: 2, numRuns: 500 },
    );
  });

  it('all are symmetric, between −1 and 1, and change sign with one side', () => {
    fc.assert(
      fc.property(lists, ([x, y]) => {
        fc.pre(!constant(x) && !constant(y));
        const minus = y.map((v) => -v);
        for (const of of [ecif.pearson, ecif.spearman, ecif.kendall]) {
          expect(of(x, y)).toBeCloseTo(of(y, x), 14);
          expect(of(x, minus)).toBeCloseTo(-of(x, y), 14);
          expect(Math.abs(of(x, y))).toBeLessThanOrEqual(1);
          expect(of(x, x)).toBeCloseTo(1, 14);
        }
      }),
      { seed: 3 },
    );
  });

  it('a monotone map changes neither Spearman nor Kendall, a linear one not Pearson', () => {
    fc.assert(
      fc.property(lists, ([x, y]) => {
        fc.pre(!constant(x) && !constant(y));
        const [cubed, line] = [x.map((v) => v ** 3 + v), x.map((v) => 0.1 * v + 7)];
        expect(ecif.spearman(cubed, y)).toBe(ecif.spearman(x, y));
        expect(ecif.kendall(cubed, y)).toBe(ecif.kendall(x, y));
        expect(ecif.pearson(line, y)).toBeCloseTo(ecif.pearson(x, y), 12);
      }),
      { seed: 4 },
    );
  });

  it('independent lists correlate as chance: mean 0, variance 1/(n − 1), and (4n + 10)/(9n(n − 1)) for Kendall', () => {
    const [n, times, rng] = [20, 4000, ecif.createRng(5)];
    const normal = (): Float64Array => Float64Array.from({ length: n }, () => rng.normal());
    const draws = Array.from({ length: times }, () => [normal(), normal()]);
    const one = 1 / (n - 1);
    for (const [of, variance] of [
      [ecif.pearson, one],
      [ecif.spearman, one],
      [ecif.kendall, (4 * n + 10) / (9 * n * (n - 1))],
    ] as const) {
      const { mean, sd } = ecif.summarise(draws.map(([x, y]) => of(x, y)));
      expect(Math.abs(mean)).toBeLessThan(4 * Math.sqrt(variance / times));
      expect(sd ** 2 / variance).toBeGreaterThan(0.9);
      expect(sd ** 2 / variance).toBeLessThan(1.1);
    }
  });
});

describe('degenerate lists', () => {
  it('constant, of one entry or empty: NaN, whatever the constant rounds to', () => {
    const tenths = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1];
    for (const of of [ecif.pearson, ecif.spearman, ecif.kendall]) {
      expect(of(tenths, [1, 2, 3, 4, 5, 6])).toBeNaN();
      expect(of([1, 2, 3, 4, 5, 6], tenths)).toBeNaN();
      expect(of([1], [2])).toBeNaN();
      expect(of([], [])).toBeNaN();
    }
  });

  it('tiny and huge numbers neither vanish nor overflow', () => {
    expect(ecif.pearson([1e-300, 2e-300, 3e-300], [1e300, 2e300, 3e300])).toBeCloseTo(1, 14);
    expect(ecif.pearson([1e300, 2e300, 1e300], [1, 0, 1])).toBeCloseTo(-1, 14);
    expect(ecif.pearson([1 + 2 ** -40, 1, 1 - 2 ** -40], [1, 2, 3])).toBeCloseTo(-1, 9);
  });

  it('different lengths and what is no number are refused', () => {
    expect(() => ecif.spearman([1, 2], [1, 2, 3])).toThrow(
      'spearman: 2 and 3 entries; give one of each for every pair',
    );
    expect(() => ecif.pearson([1, NaN], [1, 2])).toThrow('pearson: entry 1 is NaN; give finite numbers only');
    expect(() => ecif.kendall([1, 2], [Infinity, 2])).toThrow('entry 0 is Infinity; give finite numbers only');
  });
});
