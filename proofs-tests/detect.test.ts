// Finding mismatched pairs: fit among all pairs, the mixture behind a cut-off, and the explanation of a suspect.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import { blame, explainPair } from '../src/ecif/detect/explain.ts';
import { candidatesOf, lossesAmongAll } from '../src/ecif/detect/fit.ts';
import { mixtureOf } from '../src/ecif/detect/mixture.ts';
import { auroc } from '../src/ecif/metrics/detection.ts';
import * as ecif from '../src/index.ts';
import { rowsOf, upTo, WIDTH } from './support/unit-rows.ts';

describe('the loss of a pair among all', () => {
  it('is what the engine’s contrastive loss gives, pair by pair', async () => {
    const [rows, scale] = [rowsOf(upTo(12), upTo(12)), 7];
    const device = await ecif.openDevice({ kind: 'cpu' });
    const [u, v] = [rows.u, rows.v].map((x) => ecif.tensor(device, x, [12, WIDTH]));
    const s = ecif.matmul(u, v, { form: 'nt', alpha: scale });
    const losses = lossesAmongAll(rows, scale);
    const total = await ecif.contrastive(s).item();
    expect(losses.reduce((a, b) => a + b, 0)).toBeCloseTo(total, 9);
    const values = await s.data();
    const row = (i: number): number =>
      Math.log(upTo(12).reduce((sum, j) => sum + Math.exp(values[i * 12 + j]), 0)) - values[13 * i];
    const column = (j: number): number =>
      Math.log(upTo(12).reduce((sum, i) => sum + Math.exp(values[i * 12 + j]), 0)) - values[13 * j];
    for (const i of upTo(12)) expect(losses[i]).toBeCloseTo(row(i) + column(i), 9);
  });

  it('tells swapped pairs where a batch of four hardly can', () => {
    const swapped = upTo(60).map((i) => i < 12);
    const captions = upTo(60).map((i) => (i < 12 ? (i + 1) % 12 : i));
    const rows = rowsOf(captions, upTo(60), 1);
    const among = (count: number): number =>
      auroc(lossesAmongAll(rows, 10, candidatesOf(60, { most: count, seed: 3 })), swapped, 'highest');
    expect(among(60)).toBeGreaterThan(0.85);
    expect(among(60)).toBeGreaterThan(among(4));
  });

  it('draws distinct candidates', () => {
    const drawn = candidatesOf(1000, { most: 100, seed: 5 });
    expect(new Set(drawn).size).toBe(100);
    expect(candidatesOf(50, { most: 100 })).toEqual(Uint32Array.from(upTo(50)));
  });
});

describe('the mixture behind the cut-off', () => {
  const drawn = (seed: number, apart: number, share: number, count = 600) => {
    const rng = createRng(seed);
    const bad = upTo(count).map((i) => i < share * count);
    return { bad, values: Float64Array.from(bad, (b) => (b ? apart : 0) + rng.normal()) };
  };

  it.each([0.1, 0.2, 0.4])('foretells the precision where a share of %s is bad', (share) => {
    const gaps = upTo(10).map((seed) => {
      const { bad, values } = drawn(seed, 3, share);
      const { probabilities, two } = mixtureOf(values);
      expect(two).toBe(true);
      const flagged = upTo(values.length).filter((i) => probabilities[i] > 0.5);
      const expected = flagged.reduce((sum, i) => sum + probabilities[i], 0) / flagged.length;
      return expected - flagged.filter((i) => bad[i]).length / flagged.length;
    });
    expect(Math.abs(gaps.reduce((a, b) => a + b, 0) / 10)).toBeLessThan(0.05);
    for (const gap of gaps) expect(Math.abs(gap)).toBeLessThan(0.2);
  });

  it('sees one kind where there is one', () => {
    for (const seed of upTo(10)) expect(mixtureOf(drawn(seed, 0, 0).values).two).toBe(false);
    expect(mixtureOf(new Float64Array(20).fill(3))).toMatchObject({ two: false });
  });

  it('never calls a higher value less likely', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e6 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 2, max: 30 }),
        (seed, gap, wide) => {
          const rng = createRng(seed);
          const values = Float64Array.from(upTo(80), (i) =>
            i < 16 ? gap / 8 + (wide / 8) * rng.normal() : rng.normal(),
          );
          const { probabilities } = mixtureOf(values);
          const order = upTo(80).toSorted((a, b) => values[a] - values[b]);
          for (let k = 1; k < 80; k++) {
            expect(probabilities[order[k]]).toBeGreaterThanOrEqual(probabilities[order[k - 1]] - 1e-12);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('refuses what it cannot fit', () => {
    expect(() => mixtureOf(new Float64Array(5))).toThrow(/8 or more/);
    expect(() => mixtureOf(Float64Array.of(1, 2, 3, 4, 5, 6, NaN, 8))).toThrow(/value 6 is NaN/);
  });
});

describe('the explanation of a suspect', () => {
  const [scale, trusted] = [20, new Set(upTo(20).slice(1))];
  const candidates = candidatesOf(20);

  it('blames the caption where the picture has a caption that fits, and names it', () => {
    // Pair 0: picture of concept 5, whose caption row 5 has; its own caption is like no picture.
    const rows = rowsOf([50, ...upTo(20).slice(1)], [5, ...upTo(20).slice(1)], 0.1);
    const { otherCaption, rivals, wrong } = explainPair(rows, scale, candidates, 0, { trusted });
    expect(otherCaption?.row).toBe(5);
    expect(wrong).toBe('caption');
    expect(rivals.filter(({ side }) => side === 'picture')[0].row).toBe(5);
  });

  it('blames the picture in the mirrored case', () => {
    const rows = rowsOf([5, ...upTo(20).slice(1)], [50, ...upTo(20).slice(1)], 0.1);
    const { otherPicture, wrong } = explainPair(rows, scale, candidates, 0, { trusted });
    expect(otherPicture?.row).toBe(5);
    expect(wrong).toBe('picture');
  });

  it('blames no half of a swap more than the other, and neither of a pair that fits', () => {
    const swapped = rowsOf([7, ...upTo(20).slice(1)], [5, ...upTo(20).slice(1)], 0.1);
    expect(explainPair(swapped, scale, candidates, 0, { trusted }).wrong).toBe('both');
    const fits = rowsOf(upTo(20), upTo(20), 0.1);
    expect(explainPair(fits, scale, candidates, 0, { trusted }).wrong).toBe('neither');
  });

  it('takes replacements from trusted pairs alone', () => {
    const rows = rowsOf([50, ...upTo(20).slice(1)], [5, ...upTo(20).slice(1)], 0.1);
    const without = new Set([...trusted].filter((row) => row !== 5));
    expect(explainPair(rows, scale, candidates, 0, { trusted: without }).otherCaption?.row).not.toBe(5);
  });

  it('has softmax shares that add up to at most one on each side', () => {
    const rows = rowsOf(upTo(20), upTo(20), 1);
    const { rivals } = explainPair(rows, scale, candidates, 3, { trusted, most: 100 });
    for (const side of ['caption', 'picture']) {
      const shares = rivals.filter((rival) => rival.side === side).map(({ share }) => share);
      expect(shares).toHaveLength(19);
      const sum = shares.reduce((a, b) => a + b, 0);
      expect(sum).toBeGreaterThan(0);
      expect(sum).toBeLessThan(1);
    }
  });

  it('needs a clear difference', () => {
    expect(blame(5, 1, 3)).toBe('caption');
    expect(blame(5, 3, 1)).toBe('picture');
    expect(blame(5, 1, 1.5)).toBe('both');
    expect(blame(5, 4.5, 4.4)).toBe('neither');
  });
});
