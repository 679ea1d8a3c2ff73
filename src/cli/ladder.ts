// ecif ladder: the removal estimators on thousands of removals, median errors and tightness of the bounds.

import { GRID, type LadderResult, REFERENCE, runLadder } from '../verify/ladder.ts';
import { defineCommand } from './command.ts';
import { table } from './format.ts';

/** How far a median may be from the reference. */
const WITHIN = 0.2;

/** One median beside its reference. */
interface Compared {
  readonly name: string;
  readonly median: number;
  readonly reference: number;
  readonly ratio: number;
  /** Share of the removals where there is a number. */
  readonly share: number;
  readonly within: boolean;
}

function compare(name: string, median: number, reference: number, share: number): Compared {
  const ratio = median / reference;
  return { name, median, reference, ratio, share, within: Math.abs(ratio - 1) <= WITHIN };
}

function rows(list: readonly Compared[], head: string): string {
  const cells = list.map(({ name, median, reference, ratio, share, within }) => [
    name,
    median.toPrecision(3),
    String(reference),
    `${ratio.toFixed(2)}${within ? '' : ' !'}`,
    `${(100 * share).toFixed(0)} %`,
  ]);
  return table([[head, 'median', 'reference', 'ratio', 'of removals'], ...cells]);
}

function describe(result: LadderResult, ladder: readonly Compared[], bounds: readonly Compared[]): string {
  const { pairs, batches, features, temperatures, decays, removed } = GRID;
  const missed = [...ladder, ...bounds].filter((c) => !c.within);
  return [
    `${result.removals} removals: ${pairs} pairs in ${batches} batches, ${features}×${features} features, τ ∈ {${temperatures.join(', ')}}, δ ∈ {${decays.join(', ')}}, |D*| ∈ {${removed.join(', ')}}`,
    '',
    rows(ladder, 'error / change'),
    '',
    rows(bounds, 'bound / error'),
    '',
    `${result.violations} bounds below the error.`,
    missed.length === 0
      ? `Every median is within ${100 * WITHIN} % of its reference.`
      : `Beyond ${100 * WITHIN} %: ${missed.map((c) => c.name).join(', ')}.`,
  ].join('\n');
}

export const ladder = defineCommand({
  name: 'ladder',
  summary: 'median error of every removal estimator over thousands of removals, and how tight the bounds are',
  example: 'ecif ladder --seeds 20',
  options: {
    seeds: { kind: 'number', help: 'sets of pairs, 45 removals each', default: 200, whole: true, least: 1, most: 1e5 },
    seed: { kind: 'number', help: 'seed of the first set', default: 0, whole: true, least: 0, most: 1e6 },
  },
  run: async ({ seeds, seed }, { progress }) => {
    const result = await runLadder(seeds, seed, (done) => {
      if (done % 10 === 0 || done === seeds) progress.status(`${done} of ${seeds} sets`);
    });
    const rungs = Object.entries(REFERENCE.ladder).map(([n, reference]) => compare(n, result.ladder[n], reference, 1));
    const bounds = Object.entries(REFERENCE.bounds).map(([n, reference]) =>
      compare(n, result.bounds[n].median, reference, result.bounds[n].share),
    );
    return {
      json: { grid: GRID, ...result, ladder: rungs, bounds },
      text: describe(result, rungs, bounds),
      ok: result.violations === 0 && [...rungs, ...bounds].every((c) => c.within),
    };
  },
});
