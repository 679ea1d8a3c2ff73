// Chapter 5 of the playground: rounds of the game, and what the detectors say, against plain loops and retraining.

import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { EMOJI } from '../web/data/emoji.gen.ts';
import { roundOf } from '../web/maths/game-round.ts';
import { DETECTORS, type Detection, type Detector, type GameAsked, gameFound } from '../web/maths/game.ts';
import { roundsFound } from '../web/maths/game-rounds.ts';
import { placePairs } from '../web/maths/pairs.ts';
import { cpu } from './support/hand.ts';

const ASKED: GameAsked = { seed: 1, cards: 24, swapped: 6, batch: 8, temperature: 1, decay: 10 };
const play = async (asked: GameAsked): Promise<Record<Detector, Detection>> => {
  const { detections } = await gameFound.run(cpu, asked, () => undefined);
  return Object.fromEntries(detections.map((one) => [one.detector, one])) as Record<Detector, Detection>;
};

describe('a round', () => {
  it('has as many wrong captions as asked for, each one of another wrong card', () => {
    for (let seed = 0; seed < 50; seed++) {
      const { pictures, captions, wrong, validation } = roundOf({ seed, cards: 24, swapped: 2 + (seed % 9) });
      expect(wrong.filter(Boolean)).toHaveLength(2 + (seed % 9));
      expect(captions.toSorted((a, b) => a - b)).toEqual(pictures.toSorted((a, b) => a - b));
      expect(new Set([...pictures, ...validation]).size).toBe(EMOJI.length);
    }
  });

  it('is the same for the same seed and another for another', () => {
    const [a, b] = [1, 2].map((seed) => roundOf({ seed, cards: 24, swapped: 6 }));
    expect(roundOf({ seed: 1, cards: 24, swapped: 6 })).toEqual(a);
    expect(b.pictures).not.toEqual(a.pictures);
  });
});

describe('many rounds', () => {
  it.each([
    [0.1, 12, 0.72, 0.72],
    [1, 9, 0.79, 0.75],
    [100, 4, 0.89, 0.83],
  ])('at δ = %s the cosine is better in %s of 20, as the chapter says', async (decay, cosine, ecifMean, cosineMean) => {
    const asked = { ...ASKED, decay, rounds: 20 };
    const { means, cosineBetter, influenceBetter } = await roundsFound.run(cpu, asked, () => undefined);
    expect([cosineBetter, influenceBetter]).toEqual([cosine, 20 - cosine]);
    expect(means.ecif).toBeCloseTo(ecifMean, 2);
    expect(means.clipscore).toBeCloseTo(cosineMean, 2);
  });
});

describe('detectors', () => {
  it('AUROC and ROC by counting pairs of a wrong and a right card', async () => {
    const found = await play(ASKED);
    const { wrong } = roundOf(ASKED);
    for (const { values, auroc, roc, order, found: hits } of DETECTORS.map((name) => found[name])) {
      const [bad, good] = [true, false].map((kind) => values.filter((_, i) => wrong[i] === kind));
      const wins = bad.flatMap((x) => good.map((y) => (x < y ? 1 : x === y ? 0.5 : 0)));
      expect(auroc).toBeCloseTo(wins.reduce<number>((a, b) => a + b, 0) / wins.length, 12);
      const area = roc.slice(1).reduce((sum, [x, y], i) => sum + ((x - roc[i][0]) * (y + roc[i][1])) / 2, 0);
      expect(area).toBeCloseTo(auroc, 12);
      expect(order.slice(0, 6).filter((card) => wrong[card])).toHaveLength(hits);
      expect(auroc).toBeGreaterThan(0.5);
    }
  });

  it('the influence of a card is about what retraining without it does to the validation loss', async () => {
    const asked = { ...ASKED, decay: 100 };
    const { pictures: pairs, captions, validation } = roundOf(asked);
    const { problem, start, validation: clean } = placePairs({ ...asked, pairs, captions, validation }, cpu);
    const lossAt = (t: ecif.Bilinear): Promise<number> => ecif.itemOf(() => ecif.batchLoss(problem.model, t, clean));
    const { theta } = await ecif.minimise(ecif.totalLoss(problem), start);
    const before = await lossAt(theta);
    const cards = [0, 5, 9, 14, 19, 23];
    const actual: number[] = [];
    for (const card of cards) {
      const seg = [{ batch: Math.floor(card / 8), positions: [card % 8] }];
      actual.push((await lossAt((await ecif.minimise(ecif.lossWithout(problem, seg), theta)).theta)) - before);
    }
    const { values } = (await play(asked)).ecif;
    const predicted = cards.map((card) => values[card]);
    expect(ecif.pearson(predicted, actual)).toBeGreaterThan(0.95);
  });

  it('cosine and loss by plain loops', async () => {
    const { pictures: pairs, captions, validation } = roundOf(ASKED);
    const { problem, start } = placePairs({ ...ASKED, pairs, captions, validation }, cpu);
    const w = Array.from(await (await ecif.minimise(ecif.totalLoss(problem), start)).theta.w.data());
    const u = captions.map((i) =>
      [0, 1, 2, 3, 4, 5].map((c) => EMOJI[i].text.reduce((t, x, r) => t + x * w[r * 6 + c], 0)),
    );
    const v = pairs.map((i) => EMOJI[i].image);
    const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((t, x, i) => t + x * b[i], 0);
    const { clipscore, loss } = await play(ASKED);
    for (const n of [0, 7, 11, 23]) {
      expect(clipscore.values[n]).toBeCloseTo(dot(u[n], v[n]) / Math.sqrt(dot(u[n], u[n]) * dot(v[n], v[n])), 6);
      const mates = Array.from({ length: 8 }, (_, i) => 8 * Math.floor(n / 8) + i);
      const lse = (s: number[]): number => Math.log(s.reduce((t, x) => t + Math.exp(x), 0));
      const own = lse(mates.map((j) => dot(u[n], v[j]))) + lse(mates.map((j) => dot(u[j], v[n]))) - 2 * dot(u[n], v[n]);
      expect(-loss.values[n]).toBeCloseTo(own, 6);
    }
  });
});
