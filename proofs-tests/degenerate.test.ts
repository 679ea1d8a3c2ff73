// The edges of the definitions: nothing left, nothing removed, pairs alone, duplicates, curvature that is not positive.

import { describe, expect, it } from 'vitest';
import { distance } from '../src/array/vector.ts';
import { RUNGS } from '../src/ecif/estimators.ts';
import * as ecif from '../src/index.ts';
import { apart } from '../src/verify/claim.ts';
import { influences } from '../src/verify/claims/influence.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { derivative } from '../src/verify/plain.ts';
import { settle } from '../src/verify/setting.ts';
import { trainedConvex } from './support/convex.ts';
import { cpu, matrix } from './support/hand.ts';
import { readFlat } from './support/random-graph.ts';
import { temperatureProblem } from './support/towers.ts';

const FORMS = ['corrected', 'published', 'exact'] as const;
const SHAPE = { text: 3, image: 2, temperature: 0.5, decay: 0.5 };
const flat = (t: ecif.Bilinear): Promise<Float64Array> => readFlat([t.w]);

describe('all of a batch removed', () => {
  const file = randomInstance(31, { ...SHAPE, pairs: 8, batches: 2 });
  const trained = settle({ ...file, remove: [...file.batches[1]] }, cpu);

  it('every rung is finite, all forms of Neg make the same edit, and Newton steps end at the other batch alone', async () => {
    const { problem, theta, seg, h } = await trained;
    expect(seg).toEqual([{ batch: 1, positions: [0, 1, 2, 3] }]);
    const removal = ecif.removalOf(problem, theta, seg, h);
    const edits: Record<string, Float64Array> = {};
    for (const [rung, run] of Object.entries(RUNGS)) {
      edits[rung] = await flat(await run(removal));
      expect(edits[rung].every(Number.isFinite), rung).toBe(true);
    }
    for (const rung of ['published', 'exact gradient', 'positives only'])
      expect(distance(edits[rung], edits.corrected), rung).toBeLessThan(1e-12);
    const alone = ecif.totalLoss({ ...problem, batches: [problem.batches[0]] });
    const truth = await flat((await ecif.minimise(alone, theta)).theta);
    expect(distance(await flat(await ecif.removeByNewton(removal, 8)), truth)).toBeLessThan(1e-10);
    expect(distance(edits.corrected, truth)).toBeGreaterThan(1e-4);
  });

  it('the certificates hold there', async () => {
    const { problem, theta, seg, h, plain, minimum } = await trained;
    const edited = await ecif.removeLinear(ecif.removalOf(problem, theta, seg, h), 'corrected');
    const error = distance(await flat(edited), minimum(plain.removal(1)));
    const bounds = Object.values(await ecif.certificates(problem, edited, seg)).filter((b) => b !== null);
    expect(bounds.length).toBeGreaterThan(0);
    for (const bound of bounds) expect(bound).toBeGreaterThanOrEqual(error);
  });
});

describe('everything removed', () => {
  it('retraining ends at 0, and the certificates know it', async () => {
    const file = randomInstance(32, { ...SHAPE, pairs: 6, batches: 2 });
    const { problem, theta, seg, w, dispose } = await settle({ ...file, remove: [0, 1, 2, 3, 4, 5] }, cpu);
    const { p1, p2, p3 } = await ecif.certificates(problem, theta, seg);
    // F is the decay alone: the distance to its minimiser is ‖θ‖, exactly.
    for (const bound of [p1, p2, p3]) expect(bound).toBeCloseTo(Math.hypot(...w), 10);
    dispose();
  });
});

describe('a pair that is alone in its batch', () => {
  const file = randomInstance(33, { ...SHAPE, pairs: 5, batches: 1 });
  const trained = settle({ ...file, batches: [[0, 1, 2, 3], [4]], remove: [4] }, cpu);

  it('has no influence, no scores and no doubts, in any form', async () => {
    const setting = await trained;
    const { problem, theta, h } = setting;
    for (const form of FORMS) {
      const { positive, negative } = await influences(setting, form);
      expect(
        [...positive, ...negative].every((x) => Math.abs(x) === 0),
        form,
      ).toBe(true);
      const scores = await ecif.pairScores(problem, theta, theta, form);
      const { score, positive: p, negative: n } = scores[4];
      expect(
        [score, p, n].every((x) => x === 0),
        form,
      ).toBe(true);
      expect(
        scores.slice(0, 4).every((s) => s.score !== 0),
        form,
      ).toBe(true);
    }
    expect((await ecif.relativeScores(problem, theta, h, theta))[4].value).toBe(0);
    expect((await ecif.flagPairs(problem, theta))[4]).toMatchObject({ gap: 0, unreliable: false });
  });

  it('can be removed by every rung without a change, by Woodbury too', async () => {
    const { problem, theta, seg, h, w } = await trained;
    const removal = ecif.removalOf(problem, theta, seg, h);
    for (const [rung, run] of Object.entries(RUNGS)) {
      if (rung === 'Krylov 2') continue; // Its basis is zero: see below.
      expect(distance(await flat(await run(removal)), w), rung).toBeLessThan(1e-12);
    }
    const prepared = await ecif.prepareBatches(problem, theta, [1], h);
    const { theta: same, energy } = await ecif.removeWoodbury(prepared, seg);
    expect(distance(await flat(same), w)).toBeLessThan(1e-12);
    expect(Number.isNaN(energy)).toBe(false);
  });

  it('Krylov over a basis of zeros leaves the parameters where they are', async () => {
    const { problem, theta, seg, h, w } = await trained;
    const removal = ecif.removalOf(problem, theta, seg, h);
    expect(distance(await flat(await ecif.removeKrylov(removal, 2)), w)).toBeLessThan(1e-12);
  });
});

describe('one parameter', () => {
  it('Krylov over more vectors than parameters is the Newton step', async () => {
    const { problem, theta, seg, h } = await settle(randomInstance(37, { ...SHAPE, text: 1, image: 1 }), cpu);
    const removal = ecif.removalOf(problem, theta, seg, h);
    const newton = await flat(await ecif.removeByNewton(removal));
    for (const k of [1, 2, 3])
      expect(apart(await flat(await ecif.removeKrylov(removal, k)), newton)).toBeLessThan(1e-9);
    expect(apart(await flat(await ecif.removeLinear(removal, 'exact')), newton)).toBeGreaterThan(1e-3);
  });
});

describe('nothing removed', () => {
  it('changes nothing: Pos and Neg of an empty Seg are 0, and every edit is θ̂', async () => {
    const { problem, theta, h, w } = await settle(randomInstance(34, SHAPE), cpu);
    expect(ecif.segOf([[0, 1]], [])).toEqual([]);
    expect(await ecif.lossWithout(problem, [])(theta).item()).toBe(await ecif.totalLoss(problem)(theta).item());
    for (const form of FORMS) expect(await ecif.scope(() => ecif.lossOf(problem, [], form)(theta)).item()).toBe(0);
    const removal = ecif.removalOf(problem, theta, [], h);
    expect(distance(await flat(await ecif.removeLinear(removal, 'corrected')), w)).toBeLessThan(1e-12);
    expect(distance(await flat(await ecif.removeByNewton(removal)), w)).toBeLessThan(1e-10);
  });
});

it('an id that is in no batch is named', () => {
  expect(() => ecif.segOf([[0, 1], [2]], [1, 7])).toThrow(
    'segOf: pair 7 is in no batch; remove only pairs that were trained on',
  );
});

describe('duplicates in a batch', () => {
  const base = randomInstance(35, { ...SHAPE, pairs: 6, batches: 1, remove: 1 });
  const twice = <R>(rows: readonly R[]): R[] => rows.map((row, i) => (i === 5 ? rows[2] : row));
  const file = { ...base, text: twice(base.text), image: twice(base.image), remove: [2] };

  it('are allowed: influences are still what training again finds, and both twins have the same', async () => {
    const setting = await settle(file, cpu);
    const { plain, minimum } = setting;
    const { positive, negative } = await influences(setting, 'corrected');
    expect(
      apart(
        positive,
        derivative((t) => minimum(plain.positive(t)), 1e-3),
      ),
    ).toBeLessThan(1e-7);
    expect(
      apart(
        negative,
        derivative((t) => minimum(plain.negative(1 + t)), 1e-3),
      ),
    ).toBeLessThan(1e-7);
    const twin = await influences(await settle({ ...file, remove: [5] }, cpu), 'corrected');
    expect(apart(twin.positive, positive)).toBeLessThan(1e-9);
    expect(apart(twin.negative, negative)).toBeLessThan(1e-9);
    const flags = await ecif.flagPairs(setting.problem, setting.theta);
    const place = (id: number): number => file.batches[0].indexOf(id);
    expect(flags[place(2)]).toMatchObject({ sameText: [place(5)], sameImage: [place(5)] });
  });
});

describe('θ̂ that is not stationary', () => {
  it('its error is in every edit, and stationarityOf tells its size', async () => {
    const { problem, seg, theta, h, w, plain, minimum } = await settle(randomInstance(36, { ...SHAPE, decay: 5 }), cpu);
    const edited = await flat(await ecif.removeLinear(ecif.removalOf(problem, theta, seg, h), 'exact'));
    const off = w.map((x, i) => x + 0.01 * Math.cos(i));
    const early = { w: ecif.tensor(cpu, off, theta.w.shape) };
    const hEarly = await ecif.curvatureAt(ecif.totalLoss(problem), early);
    const { distance: told } = await ecif.stationarityOf(problem, early, hEarly);
    const moved = await flat(await ecif.removeLinear(ecif.removalOf(problem, early, seg, hEarly), 'exact'));
    expect(Math.abs(distance(moved, edited) / told - 1)).toBeLessThan(0.2);
    // Newton on the loss after removal forgets where it started.
    const newton = await flat(await ecif.removeByNewton(ecif.removalOf(problem, early, seg, hEarly), 3));
    expect(distance(newton, minimum(plain.removal(1)))).toBeLessThan(told / 1e3);
  });
});

describe('curvature that is not positive', () => {
  const { problem, start } = temperatureProblem(cpu, 9);
  const concave = { ...problem, decay: -20 };

  it('is a named error with what to do, dense and by conjugate gradients', async () => {
    const loss = ecif.totalLoss(concave);
    await expect(ecif.curvatureAt(loss, start)).rejects.toThrow(ecif.NotPositiveDefiniteError);
    await expect(ecif.curvatureAt(loss, start)).rejects.toThrow(/add damping/);
    const h = await ecif.curvatureAt(loss, start, { denseUpTo: 0 });
    await expect(h.solve(start)).rejects.toThrow(ecif.NegativeCurvatureError);
    h.dispose();
  });

  it('does not stop the dense and the iterative solver from agreeing where it is positive', async () => {
    const loss = ecif.totalLoss({ ...problem, decay: 50 });
    const [dense, sparse] = [
      await ecif.curvatureAt(loss, start),
      await ecif.curvatureAt(loss, start, { denseUpTo: 0 }),
    ];
    const [a, b] = [await dense.solve(start), await sparse.solve(start)];
    expect(await readFlat([a.tower.text, a.logScale])).toHaveLength(10);
    expect(
      apart(
        await readFlat([a.tower.text, a.tower.image, a.logScale]),
        await readFlat([b.tower.text, b.tower.image, b.logScale]),
      ),
    ).toBeLessThan(1e-8);
  });
});

describe('a pair the model is sure to have wrong', () => {
  it('has finite exact scores: its share of a softmax is 1 to the last digit', async () => {
    const batch = { text: matrix([[1], [-1]]), image: matrix([[1], [-1]]) };
    const problem = { model: ecif.bilinear(0.02), batches: [batch], decay: 1 };
    const theta = { w: matrix([[-1]]) };
    const scores = await ecif.pairScores(problem, theta, { w: matrix([[1]]) }, 'exact');
    // S = ±50 the wrong way round: Neg = 2·log(1 + e¹⁰⁰) falls by 200 with each unit of W, as does Pos.
    for (const { positive, negative } of scores) {
      expect(positive).toBeCloseTo(-200, 9);
      expect(negative).toBeCloseTo(-200, 9);
    }
  });
});

describe('a Seg written by hand', () => {
  const problemOf = async () => trainedConvex(cpu, { seed: 6, remove: 1 });

  it.each([
    [[{ batch: 0, positions: [99] }], 'position 99 in a batch of 6'],
    [[{ batch: 0, positions: [1.5] }], 'position 1.5 in batch 0'],
    [[{ batch: 0, positions: [-1] }], 'position -1 in batch 0'],
    [[{ batch: 5, positions: [0] }], 'batch 5; give a whole number in 0…1'],
  ])('%j is refused, not ignored', async (seg, message) => {
    const { problem, theta } = await problemOf();
    expect(() => ecif.posOf(problem, seg)(theta)).toThrow(message);
    expect(() => ecif.lossWithout(problem, seg)(theta)).toThrow(message);
    await expect(ecif.certificates(problem, theta, seg)).rejects.toThrow(message);
  });

  it('may name a batch twice: the same as once with both positions', async () => {
    const { problem, theta } = await problemOf();
    const twice = [
      { batch: 0, positions: [1] },
      { batch: 0, positions: [3, 1] },
    ];
    const once = [{ batch: 0, positions: [1, 3] }];
    for (const of of [ecif.posOf, ecif.lossWithout])
      expect(await of(problem, twice)(theta).item()).toBe(await of(problem, once)(theta).item());
  });
});
