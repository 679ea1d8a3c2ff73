// Chapter 4 of the playground: errors and bounds on the page's problems against scalar arithmetic and retraining.

import { describe, expect, it } from 'vitest';
import { minimise, segOf, totalLoss, lossWithout } from '../src/index.ts';
import { placeConvex } from '../src/ecif/convex-file.ts';
import { ONE_DIMENSION, scannedConstants } from '../src/verify/claims/bound.ts';
import { lineConstants, lineFound } from '../web/maths/bounds-line.ts';
import { boundsFile } from '../web/maths/bounds-problems.ts';
import { type BoundsAsked, type BoundsAt, boundsFound } from '../web/maths/bounds.ts';
import { cpu } from './support/hand.ts';
import * as one from './support/one-dimension.ts';

const silent = (): void => undefined;
const LINE = { problem: 'line', features: 1, temperature: 1, estimator: 'corrected' } as const;
const EMOJI = { problem: 'emoji', features: 2, temperature: 1, estimator: 'corrected' } as const;
const found = (asked: BoundsAsked): Promise<BoundsAt[]> => boundsFound.run(cpu, asked, silent);

describe('the problem with one parameter', () => {
  it('breaks the printed bound: 1.571 is below 2.841 and 2.900', async () => {
    const [at] = await found({ ...LINE, at: [{ decay: 1e-3, removed: 1 }] });
    expect(at.printed?.toFixed(3)).toBe('1.571');
    expect(at.surrogate?.toFixed(3)).toBe('2.841');
    const edited =
      one.minimiser(one.total) +
      one.first(one.lost, one.minimiser(one.total)) / one.second(one.total, one.minimiser(one.total));
    expect(at.error).toBeCloseTo(one.minimiser(one.without) - edited, 5);
    expect(at.change).toBeCloseTo(one.minimiser(one.without) - one.minimiser(one.total), 6);
    expect(at.p1).toBeCloseTo(Math.abs(one.first(one.without, edited)) / 1e-3, 2);
  });

  it('is broken a little later, as δ falls, by the distance that its proof speaks of', async () => {
    const at = [0.021, 0.023, 0.026].map((decay) => ({ decay, removed: 1 }));
    const below = (await found({ ...LINE, at })).map(({ printed, error, surrogate }) => [
      printed! < error,
      printed! < surrogate!,
    ]);
    expect(below).toEqual([
      [true, true],
      [true, false],
      [false, false],
    ]);
  });

  it('has the constants that a scan by finite differences finds', async () => {
    const [constants, scanned] = [await lineConstants(cpu, 1), scannedConstants({ file: ONE_DIMENSION })];
    expect(constants.batch / scanned.batch).toBeCloseTo(1, 3);
    expect(constants.pair / scanned.pair).toBeCloseTo(1, 3);
  });

  it('draws the loss after removal, which falls below the parabola of its curvature at θ̂', async () => {
    const { theta, loss, parabola, points, curvature } = await lineFound.run(
      cpu,
      { estimator: 'newton', temperature: 1, decay: 1e-3 },
      silent,
    );
    theta.forEach((w, i) => expect(loss[i]).toBeCloseTo(one.without(w), 10));
    expect(points.retrained).toBeCloseTo(one.minimiser(one.without), 6);
    expect(curvature.trained).toBeCloseTo(one.second(one.without, points.trained), 4);
    const end = theta.findIndex((w) => w > points.retrained);
    expect(parabola[end]).toBeGreaterThan(loss[end]);
    // Where the parabola is lowest Newton's step ends.
    const lowest = theta[parabola.indexOf(Math.min(...parabola))];
    expect(Math.abs(lowest - points.edited)).toBeLessThan(theta[1] - theta[0]);
  });
});

describe('pairs of emoji', () => {
  it('have a printed bound of some hundreds of times the error at δ = 100', async () => {
    const [{ printed, error }] = await found({ ...EMOJI, at: [{ decay: 100, removed: 1 }] });
    expect(Math.round(printed! / error / 100)).toBe(4);
  });

  const at = [0.1, 10].flatMap((decay) => [1, 4].map((removed) => ({ decay, removed })));

  it.each(['corrected', 'exact', 'newton'] as const)(
    '%s: no bound but the printed one is below the error',
    async (estimator) => {
      for (const { error, printed, lipschitz, selfConcordant, p1, p2, p3 } of await found({
        ...EMOJI,
        estimator,
        at,
      })) {
        for (const bound of [lipschitz, selfConcordant, p1, p2, p3])
          if (bound !== null) expect(bound).toBeGreaterThan(error);
        expect(printed === null).toBe(estimator !== 'corrected');
      }
    },
  );

  it('the error is that of retraining from another start', async () => {
    const [{ change, error }] = await found({ ...EMOJI, estimator: 'newton', at: [{ decay: 10, removed: 2 }] });
    const file = boundsFile(EMOJI, 10, 2);
    const { problem, start } = placeConvex(file, cpu);
    const without = lossWithout(problem, segOf(file.batches, file.remove));
    const [before, after] = [
      await minimise(totalLoss(problem), start),
      await minimise(without, start, { method: 'lbfgs' }),
    ];
    const [a, b] = [await before.theta.w.data(), await after.theta.w.data()];
    expect(change).toBeCloseTo(Math.hypot(...a.map((x, i) => x - b[i])), 7);
    expect(error).toBeLessThan(0.5 * change);
  });
});
