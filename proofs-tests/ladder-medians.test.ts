// The ladder over its grid: medians near those of reference, and no bound below an error.

import { expect, it } from 'vitest';
import { REFERENCE, runLadder } from '../src/verify/ladder.ts';

/** Over 40 seeds the medians spread by up to 30 % from run to run, `published` and `two Newton steps` the most. */
const [SEEDS, WITHIN] = [16, 0.45];

it('medians of 720 removals are within 45 % of the reference; permuted among the estimators they are not', async () => {
  const { removals, ladder, bounds, violations } = await runLadder(SEEDS, 5);
  expect(removals).toBe(45 * SEEDS);
  expect(violations).toBe(0);
  const rungs = Object.entries(REFERENCE.ladder);
  const off = (median: number, reference: number): number => Math.abs(median / reference - 1);
  for (const [name, reference] of rungs) expect(off(ladder[name], reference), name).toBeLessThan(WITHIN);
  for (const [name, reference] of Object.entries(REFERENCE.bounds))
    expect(off(bounds[name].median, reference), name).toBeLessThan(WITHIN);
  // Control: with the estimators two places on, most medians are far off.
  const missed = rungs.filter(([, reference], i) => off(ladder[rungs[(i + 2) % rungs.length][0]], reference) > WITHIN);
  expect(missed.length).toBeGreaterThanOrEqual(rungs.length - 2);
});
