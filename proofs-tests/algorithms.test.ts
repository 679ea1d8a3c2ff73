// Algorithms 1–5: what ties the printed and the corrected forms, and what partitions do.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addScaled, dot, norm } from '../src/array/vector.ts';
import * as ecif from '../src/index.ts';
import { corpusOf } from '../src/verify/claims/algorithm.ts';
import { apart } from '../src/verify/claim.ts';
import { numericGradient } from '../src/verify/plain.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { settle } from '../src/verify/setting.ts';
import { cpu } from './support/hand.ts';
import { acrossBatches } from './support/settings.ts';

describe('random partitions', () => {
  it('hold every pair once, in batches of the size asked for, the last one smaller', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(1e6),
        (count, size, seed) => {
          const batches = ecif.randomPartition(count, size, ecif.createRng(seed));
          expect(batches.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
          expect(batches.slice(0, -1).every((ids) => ids.length === size)).toBe(true);
          expect(batches.at(-1)?.length).toBe(count % size || Math.min(size, count));
        },
      ),
      { seed: 12 },
    );
  });

  it('are equal for equal seeds and differ otherwise', () => {
    const of = (seed: number): number[][] => ecif.randomPartition(20, 5, ecif.createRng(seed));
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
  });
});

describe('Algorithm 1', () => {
  const trained = acrossBatches();

  it('corrected: the edit is θ̂ − positiveIF − negativeIF, with the influences of the package', async () => {
    const setting = await trained;
    const { file, problem, theta, seg, h, w, read } = setting;
    const found = await ecif.algorithm1Corrected(corpusOf(setting), theta, file.remove, [file.batches]);
    const p = await ecif.positiveIF(problem, theta, seg, h);
    const n = await ecif.negativeIF(problem, theta, seg, 'corrected', h);
    const [positive, negative] = [await read(() => p), await read(() => n)];
    expect(apart(found.positiveIF, positive)).toBeLessThan(1e-9);
    expect(apart(found.negativeIF, negative)).toBeLessThan(1e-9);
    expect(apart(found.edited, addScaled(addScaled(w, -1, positive), -1, negative))).toBeLessThan(1e-12);
  });

  it('corrected: a partition that is counted three times says what it says once', async () => {
    const setting = await trained;
    const { file, theta } = setting;
    const over = (times: number): Promise<ecif.Ecif> =>
      ecif.algorithm1Corrected(
        corpusOf(setting),
        theta,
        file.remove,
        Array.from({ length: times }, () => file.batches),
      );
    expect(apart((await over(3)).edited, (await over(1)).edited)).toBeLessThan(1e-10);
    const other = ecif.randomPartition(12, 4, ecif.createRng(3));
    const mixed = await ecif.algorithm1Corrected(corpusOf(setting), theta, file.remove, [file.batches, other]);
    expect(apart(mixed.edited, (await over(1)).edited)).toBeGreaterThan(1e-3);
  });

  it('where one batch holds all pairs no partition is fresh: printed and corrected share the positive part', async () => {
    const shape = { batches: 1, pairs: 6, text: 3, image: 2, temperature: 1, decay: 1, remove: 2 };
    const setting = await settle(randomInstance(8, shape), cpu);
    const { file, theta } = setting;
    const corpus = corpusOf(setting);
    const printed = await ecif.algorithm1Printed(corpus, theta, file.remove, 6, ecif.createRng(5));
    const corrected = await ecif.algorithm1Corrected(corpus, theta, file.remove, [file.batches]);
    expect(apart(printed.positiveIF, corrected.positiveIF)).toBeLessThan(1e-9);
    expect(dot(printed.negativeIF, corrected.negativeIF)).toBeLessThan(0);
    expect(norm(printed.negativeIF)).toBeGreaterThan(2 * norm(corrected.negativeIF));
  });

  it('a pair that is in no batch is refused', async () => {
    const setting = await trained;
    const run = ecif.algorithm1Corrected(corpusOf(setting), setting.theta, [99], [setting.file.batches]);
    await expect(run).rejects.toThrow('segOf: pair 99 is in no batch; remove only pairs that were trained on');
  });
});

describe('Algorithms 2 and 3', () => {
  it('the gradient of a task is the sum over its batches, by finite differences', async () => {
    const { problem, theta, validation, w, plain } = await acrossBatches();
    const g = await ecif.taskGradient(problem.model, theta, [validation, validation]);
    const expected = numericGradient((at) => 2 * plain.evaluation(at, 0).value, w);
    expect(apart(g, expected)).toBeLessThan(1e-8);
  });

  it('printed and corrected differ in sign alone: the corrected one foretells what removal does to the loss', async () => {
    const { problem, theta, seg, h, read, plain, minimum, optimum, validation } = await acrossBatches();
    const g = await ecif.taskGradient(problem.model, theta, [validation]);
    const p = await ecif.positiveIF(problem, theta, seg, h);
    const n = await ecif.negativeIF(problem, theta, seg, 'corrected', h);
    const influence = { positiveIF: await read(() => p), negativeIF: await read(() => n) };
    const actual = plain.evaluation(minimum(plain.removal(1)), 0).value - plain.evaluation(optimum, 0).value;
    expect(Math.sign(ecif.algorithm2Corrected(influence, g))).toBe(Math.sign(actual));
    expect(Math.sign(ecif.algorithm2Printed(influence, g))).toBe(-Math.sign(actual));
    expect(Math.abs(actual)).toBeGreaterThan(1e-3);
  });
});

describe('Algorithm 4', () => {
  const vector = fc.array(fc.integer({ min: -99, max: 99 }), { minLength: 3, maxLength: 3 });

  it('not parallel: printed = corrected²/‖g‖', () => {
    fc.assert(
      fc.property(vector, vector, vector, (p, n, g) => {
        const [a, b, c] = [p, n, g].map((x) => Float64Array.from(x, (v) => v / 100));
        fc.pre(Math.min(norm(a), norm(b), norm(c)) > 0.05 && Math.abs(dot(a, b)) < 0.99 * norm(a) * norm(b));
        const influence = { positiveIF: a, negativeIF: b };
        const corrected = ecif.algorithm4Corrected(influence, c);
        expect(ecif.algorithm4Printed(influence, c)).toBeCloseTo(corrected ** 2 / norm(c), 9);
      }),
      { numRuns: 300, seed: 13 },
    );
  });

  it('parallel: printed = corrected·‖negativeIF‖/‖positiveIF‖', () => {
    const [p, g] = [Float64Array.of(1, 2, -1), Float64Array.of(0.5, 0.1, 0.9)];
    for (const c of [-3, 0.2]) {
      const influence = { positiveIF: p, negativeIF: p.map((x) => c * x) };
      const corrected = ecif.algorithm4Corrected(influence, g);
      expect(corrected).toBeCloseTo(Math.abs(dot(p, g)) / norm(p), 12);
      expect(ecif.algorithm4Printed(influence, g)).toBeCloseTo(corrected * Math.abs(c), 12);
    }
  });

  it('so that one printed ranking of both cases puts the lesser pair first', () => {
    const g = Float64Array.of(0.6, 0.8, 0);
    const plane = { positiveIF: Float64Array.of(1, 0, 0), negativeIF: Float64Array.of(0, 0, 1) };
    const line = { positiveIF: Float64Array.of(1, -0.5, 0), negativeIF: Float64Array.of(-4, 2, 0) };
    expect(ecif.algorithm4Corrected(plane, g)).toBeGreaterThan(ecif.algorithm4Corrected(line, g));
    expect(ecif.algorithm4Printed(plane, g)).toBeLessThan(ecif.algorithm4Printed(line, g));
  });
});
