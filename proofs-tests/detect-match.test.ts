// The matching of captions with pictures: against scaling in logarithms, planted exchanges, and captions from elsewhere.

import { describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import { cosineOf, type UnitRows } from '../src/ecif/baselines/embeddings.ts';
import { lossesAmongAll } from '../src/ecif/detect/fit.ts';
import { type Matching, matchPairs } from '../src/ecif/detect/match.ts';
import { auroc } from '../src/ecif/metrics/detection.ts';
import { rowsOf, upTo } from './support/unit-rows.ts';

/** Right for the noise of `planted`: mean cosine of a pair over the variance of that of strangers. */
const SCALE = 14;
const NOISE = 1.25;
const names = (concepts: readonly number[]): string[] => concepts.map((k) => `concept ${k}`);
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** Pairs of which a share has exchanged captions, or taken them from concepts that no picture shows. */
function planted(seed: number, count: number, share: number, from: 'each other' | 'elsewhere' = 'each other') {
  const many = Math.round(share * count);
  const bad = upTo(count).map((i) => i < many);
  const captions = upTo(count).map((i) => (i >= many ? i : from === 'each other' ? (i + 1) % many : count + i));
  return { bad, captions, rows: rowsOf(captions, upTo(count), NOISE, seed) };
}

/** log Σ exp */
const logSum = (values: readonly number[]): number => {
  const top = Math.max(...values);
  return top + Math.log(values.reduce((sum, x) => sum + Math.exp(x - top), 0));
};

/** Log odds of every pair for a given share: rows (pictures) and columns (captions) normalised in turn, in logarithms, until nothing moves. */
function scaledInLogarithms(
  { width, u, v }: UnitRows,
  scale: number,
  captions: readonly string[],
  share: number,
): number[] {
  const n = captions.length;
  const same = (i: number, j: number): boolean => captions[i] === captions[j];
  let table = upTo(n).map((i) => {
    const alike = captions.filter((c) => c === captions[i]).length;
    return upTo(n).map(
      (j) => scale * cosineOf(width, u, j, v, i) + Math.log(same(i, j) ? (1 - share) / alike : share / (n - alike)),
    );
  });
  for (let k = 0; k < 500; k++) {
    table = table.map((row) => row.map((x) => x - logSum(row)));
    const columns = upTo(n).map((j) => logSum(table.map((row) => row[j])));
    table = table.map((row) => row.map((x, j) => x - columns[j]));
  }
  return table.map((row, i) => logSum(row.filter((_, j) => same(i, j))) - logSum(row.filter((_, j) => !same(i, j))));
}

describe('the scaling', () => {
  it.each([
    ['captions that all differ', (i: number) => i],
    ['captions of which some are equal', (i: number) => i % 6],
  ])('gives the odds that scaling in logarithms gives, for %s', (_, captionOf) => {
    const captions = upTo(16).map((i) => captionOf(i < 5 ? (i + 1) % 5 : i));
    const rows = rowsOf(captions, upTo(16).map(captionOf), NOISE);
    const { odds, share, mismatch } = matchPairs(rows, { scale: 4, captions: names(captions) });
    const expected = scaledInLogarithms(rows, 4, names(captions), share);
    odds.forEach((x, i) => expect(Math.abs(x - expected[i])).toBeLessThan(0.1));
    odds.forEach((x, i) => expect(mismatch[i]).toBeCloseTo(1 / (1 + Math.exp(x)), 12));
    expect(share).toBeCloseTo(Math.max(0.5 / 16, mean([...mismatch])), 4);
    // Another share gives other odds: the check above can fail.
    const other = scaledInLogarithms(rows, 4, names(captions), share / 2);
    expect(Math.max(...odds.map((x, i) => Math.abs(x - other[i])))).toBeGreaterThan(0.3);
  });
});

describe('planted exchanges', () => {
  const seeds = upTo(8);
  const found = (share: number, from?: 'elsewhere'): { matching: Matching; bad: boolean[]; fit: Float64Array }[] =>
    seeds.map((seed) => {
      const { bad, captions, rows } = planted(seed, 150, share, from);
      return {
        bad,
        matching: matchPairs(rows, { scale: SCALE, captions: names(captions) }),
        fit: lossesAmongAll(rows, SCALE).map((x) => -x),
      };
    });
  const areas = (all: ReturnType<typeof found>, of: (one: (typeof all)[number]) => Float64Array): number =>
    mean(all.map((one) => auroc(of(one), one.bad, 'lowest')));

  it('are found better than by the loss among all, and permuted odds find nothing', () => {
    const all = found(0.2);
    const matched = areas(all, ({ matching }) => matching.odds);
    expect(matched).toBeGreaterThan(areas(all, ({ fit }) => fit) + 0.005);
    const permuted = areas(all, ({ matching: { odds } }) => {
      const order = createRng(9).permutation(odds.length);
      return odds.map((_, i) => odds[order[i]]);
    });
    expect(Math.abs(permuted - 0.5)).toBeLessThan(0.06);
  });

  it('gain nothing over the loss where captions come from elsewhere', () => {
    const all = found(0.2, 'elsewhere');
    expect(areas(all, ({ matching }) => matching.odds)).toBeLessThan(areas(all, ({ fit }) => fit) + 0.005);
  });

  it.each([0.2, 0.4])('of a share of %s are counted about right, and so is the precision', (share) => {
    const all = found(share);
    expect(Math.abs(mean(all.map(({ matching }) => matching.share)) - share)).toBeLessThan(0.05);
    const gaps = all.map(({ bad, matching: { mismatch } }) => {
      const flagged = upTo(150).filter((i) => mismatch[i] > 0.5);
      return mean(flagged.map((i) => mismatch[i])) - mean(flagged.map((i) => Number(bad[i])));
    });
    expect(Math.abs(mean(gaps))).toBeLessThan(0.15);
  });

  it('are few where there are none', () => {
    for (const { matching } of found(0)) expect(matching.share).toBeLessThan(0.06);
  });

  it('are traced to the caption that belongs to the picture', () => {
    const captions = upTo(30).map((i) => (i < 6 ? (i + 1) % 6 : i));
    const near = rowsOf(captions, upTo(30), 0.3);
    const { belongs, belief, mismatch } = matchPairs(near, { scale: SCALE, captions: names(captions) });
    for (const i of upTo(6)) {
      expect(captions[belongs[i]]).toBe(i);
      expect(belief[i]).toBeGreaterThan(0.5);
      expect(belief[i]).toBeLessThanOrEqual(mismatch[i] + 0.05);
    }
    expect(Math.max(...belief.subarray(6))).toBeLessThan(0.5);
  });
});

describe('equal captions', () => {
  it('may be exchanged: where all are equal nothing is mismatched', () => {
    const rows = rowsOf(upTo(12), upTo(12));
    const { mismatch, belief } = matchPairs(rows, { scale: SCALE, captions: upTo(12).map(() => 'the same') });
    expect(Math.max(...mismatch)).toBeLessThan(1e-12);
    expect(Math.max(...belief)).toBe(0);
  });

  it('count as one: a picture of the wrong class is found among many pictures of each', () => {
    const shown = upTo(60).map((i) => i % 4);
    const captions = shown.map((k, i) => (i < 6 ? (k + 1) % 4 : k));
    const { mismatch } = matchPairs(rowsOf(captions, shown, 0.5), { scale: SCALE, captions: names(captions) });
    upTo(60).forEach((i) => (i < 6 ? expect(mismatch[i]).toBeGreaterThan(0.5) : expect(mismatch[i]).toBeLessThan(0.5)));
  });
});

describe('more captions than are matched one by one', () => {
  const { bad, captions, rows } = planted(3, 400, 0.1);
  const near = rowsOf(captions, upTo(400), 0.8, 3);
  const options = { scale: SCALE, captions: names(captions) };
  const flagged = ({ mismatch }: Matching): number[] => upTo(400).filter((i) => mismatch[i] > 0.5);

  it.each([
    ['well apart', near],
    ['hard to tell', rows],
  ])('are found as if all were, %s', (_, embedded) => {
    const [whole, part] = [matchPairs(embedded, options), matchPairs(embedded, { ...options, likeliest: 40 })];
    expect(Math.abs(part.share - whole.share)).toBeLessThan(0.02);
    expect(auroc(part.odds, bad, 'lowest')).toBeGreaterThan(auroc(whole.odds, bad, 'lowest') - 0.01);
    expect(Math.abs(flagged(part).length - flagged(whole).length)).toBeLessThan(5);
  });

  it('are not found where each picture is matched with its own alone', () => {
    const found = flagged(matchPairs(near, options)).filter((i) => bad[i]).length;
    const alone = flagged(matchPairs(near, { ...options, likeliest: 1 })).filter((i) => bad[i]).length;
    expect(found).toBeGreaterThan(30);
    expect(alone).toBeLessThan(found / 2);
  });
});

it('refuses captions of another number', () => {
  const rows = rowsOf(upTo(4), upTo(4));
  expect(() => matchPairs(rows, { scale: 1, captions: ['a'] })).toThrow(/1 captions for 4 embedded pairs/);
});
