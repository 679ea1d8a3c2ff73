// Chapter 2's numbers against plain loops: Pos, Neg, the loss as a pair fades out, and the gradients by differences.

import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import { batchFigure } from '../web/figures/batch.ts';
import { type Movement, type RolesAsked, rolesFound } from '../web/maths/roles.ts';

const device = new CpuDevice();
const { texts, images } = batchFigure.params;
const BATCH = { texts: texts.default, images: images.default };
const SIZE = BATCH.texts.length / 2;
const PLACES = Array.from({ length: SIZE }, (_, i) => i);

const found = (asked: Partial<RolesAsked>) => rolesFound.run(device, { ...base, ...asked }, () => undefined);

const base: RolesAsked = { ...BATCH, temperature: 0.7, pair: 1, zeta: 1, epsilon: 0, form: 'exact' };

type Points = Pick<RolesAsked, 'texts' | 'images'>;

/** e^{S_kj} for anchor k and candidate j: of a caption over pictures, or the reverse. */
function weightsOf(points: Points, temperature: number, ofCaptions: boolean): number[][] {
  const at = (xy: readonly number[], i: number): number[] => [xy[2 * i], xy[2 * i + 1]];
  const [anchors, candidates] = ofCaptions ? [points.texts, points.images] : [points.images, points.texts];
  return PLACES.map((k) =>
    PLACES.map((j) => {
      const [[a, b], [c, d]] = [at(anchors, k), at(candidates, j)];
      return Math.exp((a * c + b * d) / temperature);
    }),
  );
}

/** Σ over both directions and some anchors of −log of the right answer's share, candidate n weighted. */
function plainLoss(
  points: Points,
  { temperature, pair }: RolesAsked,
  anchors: readonly number[],
  zeta: number,
): number {
  return [true, false].reduce((total, ofCaptions) => {
    const e = weightsOf(points, temperature, ofCaptions);
    const terms = anchors.map((k) => {
      const sum = e[k].reduce((s, x, j) => s + (j === pair && k !== pair ? zeta * x : x), 0);
      return -Math.log(e[k][k] / sum);
    });
    return total + terms.reduce((a, b) => a + b, 0);
  }, 0);
}

const others = (pair: number): number[] => PLACES.filter((k) => k !== pair);

/** P_k of both directions. */
const sharesOf = (points: Points, { temperature, pair }: RolesAsked): number[] =>
  [true, false].flatMap((ofCaptions) => {
    const e = weightsOf(points, temperature, ofCaptions);
    return others(pair).map((k) => e[k][pair] / e[k].reduce((a, b) => a + b, 0));
  });

const sum = (values: readonly number[], f: (x: number) => number): number => values.reduce((t, x) => t + f(x), 0);

/** −∂f for every coordinate, by central differences. */
function fall(f: (points: Points) => number): Movement {
  const step = 1e-5;
  const along = (half: 'texts' | 'images'): number[] =>
    BATCH[half].map((_, i) => {
      const at = (d: number): Points => ({ ...BATCH, [half]: BATCH[half].map((x, j) => (j === i ? x + d : x)) });
      return -(f(at(step)) - f(at(-step))) / (2 * step);
    });
  return { texts: along('texts'), images: along('images') };
}

function expectClose(a: Movement, b: Movement, tolerance: number): void {
  for (const half of ['texts', 'images'] as const)
    a[half].forEach((x, i) => expect(Math.abs(x - b[half][i])).toBeLessThan(tolerance));
}

describe('one pair, two roles', () => {
  for (const pair of PLACES) {
    it(`pair ${pair}: Pos, every form of Neg, and the loss at some ζ and ε`, async () => {
      const asked = { ...base, pair, zeta: 0.35, epsilon: -0.4 };
      const { pos, neg, full, loss, kept, removed, fading } = await found(asked);
      const own = plainLoss(BATCH, asked, [pair], 1);
      const shares = sharesOf(BATCH, asked);
      expect(pos).toBeCloseTo(own, 12);
      expect(neg.corrected).toBeCloseTo(
        sum(shares, (p) => p),
        12,
      );
      expect(neg.exact).toBeCloseTo(
        sum(shares, (p) => -Math.log(1 - p)),
        12,
      );
      expect(neg.published / sum(shares, (p) => 1 / p)).toBeCloseTo(1, 12);
      expect(full).toBeCloseTo(plainLoss(BATCH, asked, PLACES, 1), 12);
      expect(kept).toBeCloseTo(plainLoss(BATCH, asked, others(pair), 0.35), 12);
      expect(loss).toBeCloseTo(kept + 0.6 * own, 12);
      expect(removed).toBeCloseTo(plainLoss(BATCH, asked, others(pair), 0), 12);
      fading.forEach(([zeta, value]) => expect(value).toBeCloseTo(plainLoss(BATCH, asked, others(pair), zeta), 12));
    });
  }

  it('ends at the batch without the pair, and begins as the batch', async () => {
    const [gone, whole] = [await found({ zeta: 0, epsilon: -1 }), await found({})];
    expect(gone.loss).toBeCloseTo(gone.removed, 12);
    expect(whole.loss).toBeCloseTo(whole.full, 12);
    expect(whole.full - whole.pos - whole.neg.exact).toBeCloseTo(whole.removed, 12);
  });

  it('the slope of the curve at ζ = 1 is the corrected form, not the published one', async () => {
    const { neg } = await found({});
    const step = 1e-6;
    const at = (zeta: number): number => plainLoss(BATCH, base, others(base.pair), zeta);
    const slope = (at(1 + step) - at(1 - step)) / (2 * step);
    expect(neg.corrected).toBeCloseTo(slope, 8);
    expect(neg.published).toBeGreaterThan(50 * slope);
  });

  it('arrows are the gradients of the two roles', async () => {
    const asked = { ...base, pair: 2, zeta: 0.6, epsilon: -0.25 };
    const { positive, negative } = await found(asked);
    expectClose(
      positive,
      fall((points) => 0.75 * plainLoss(points, asked, [2], 1)),
      1e-8,
    );
    const left = (points: Points, zeta: number): number => plainLoss(points, asked, others(2), zeta);
    expectClose(
      negative,
      fall((points) => left(points, 0.6) - left(points, 0)),
      1e-8,
    );
    const corrected = await found({ ...asked, form: 'corrected' });
    expectClose(
      corrected.negative,
      fall((points) => sum(sharesOf(points, asked), (p) => p)),
      1e-8,
    );
    const published = await found({ ...asked, form: 'published' });
    const inverted = fall((points) => sum(sharesOf(points, asked), (p) => 1 / p));
    expectClose(published.negative, inverted, 1e-6 * Math.max(...inverted.texts.map(Math.abs)));
    const gone = await found({ ...asked, zeta: 0, epsilon: -1 });
    [gone.positive, gone.negative].forEach(({ texts: u, images: v }) =>
      [...u, ...v].forEach((x) => expect(Math.abs(x)).toBeLessThan(1e-13)),
    );
  });

  it('softmax rows and columns sum to one, the pair weighted by ζ for the others only', async () => {
    const asked = { ...base, pair: 3, zeta: 0.2 };
    const { rows, columns } = await found(asked);
    const e = weightsOf(BATCH, asked.temperature, true);
    PLACES.forEach((k) => {
      const weighted = e[k].map((x, j) => (j === 3 && k !== 3 ? 0.2 * x : x));
      const total = sum(weighted, (x) => x);
      weighted.forEach((x, j) => expect(rows[k * SIZE + j]).toBeCloseTo(x / total, 12));
      const column = PLACES.map((i) => columns[i * SIZE + k]);
      expect(sum(column, (x) => x)).toBeCloseTo(1, 12);
      expect(column[3] / column[k]).toBeCloseTo(((k === 3 ? 1 : 0.2) * e[3][k]) / e[k][k], 10);
    });
  });

  it('says of the rocket what the text says: nobody confuses it, so the published form is largest', async () => {
    const all = await Promise.all(PLACES.map((pair) => found({ pair, temperature: 1 })));
    const rocket = all[SIZE - 1].neg;
    all.slice(0, -1).forEach(({ neg }) => {
      expect(neg.corrected).toBeGreaterThan(rocket.corrected);
      expect(neg.exact).toBeGreaterThan(rocket.exact);
      expect(neg.published).toBeLessThan(rocket.published);
    });
  });

  it('gives back all memory', async () => {
    const empty = new CpuDevice();
    await rolesFound.run(empty, base, () => undefined);
    expect(empty.memory().live).toBe(0);
  });
});
