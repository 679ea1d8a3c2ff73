// The obvious way to all scores, a gradient or two solves for every pair, beside one solve and one sweep.

import * as ecif from '../src/index.ts';
import { dot } from '../src/array/vector.ts';
import { DENSE, type Trained, places, trained } from './convex-problem.ts';
import { gradientOf, scoreAll, scoreAlone, solved } from './convex-scores.ts';
import { readFlat, relativeError } from './errors.ts';
import { print, type Row, target } from './report.ts';
import { compare, ratio } from './timing.ts';

const SECTION = 'the obvious way';

/** Scores of all pairs from the gradient of each, w given. */
async function byGradients({ data, placed, theta }: Trained, w: Float64Array): Promise<Float64Array> {
  const scores = new Float64Array(data.pairs);
  const where = places(data);
  for (const id of where.flat()) {
    const lost = ecif.lossOf(placed.problem, ecif.segOf(where, [id]), 'corrected');
    scores[id] = dot(await gradientOf(lost, theta), w);
  }
  return scores;
}

/** Scores of all pairs from the two influences of each. */
async function bySolves({ data, placed, theta }: Trained): Promise<Float64Array> {
  const scores = new Float64Array(data.pairs);
  const where = places(data);
  const h = await ecif.curvatureAt(placed.total, theta, DENSE);
  const gradVal = await gradientOf(placed.evaluation, theta);
  for (const id of where.flat()) scores[id] = await scoreAlone(placed, theta, ecif.segOf(where, [id]), h, gradVal);
  h.dispose();
  return scores;
}

/** Times a gradient for each pair against one sweep. */
async function gradientRows(pairs: number): Promise<Row[]> {
  const problem = await trained(pairs, 32);
  const { placed, theta } = problem;
  const h = await ecif.curvatureAt(placed.total, theta, DENSE);
  const w = await solved(placed, theta, h);
  h.dispose();
  const flat = await readFlat(w);
  const sweep = (): Promise<ecif.PairScore[]> => ecif.pairScores(placed.problem, theta, w, 'corrected');
  const expected = Float64Array.from(await sweep(), ({ score }) => score);
  const error = relativeError(await byGradients(problem, flat), expected);
  const [each, once] = await compare(
    [
      { name: 'gradients', run: async () => void (await byGradients(problem, flat)) },
      { name: 'sweep', run: async () => void (await sweep()) },
    ],
    { rounds: 3, warmup: 1, patience: 250 },
  );
  return [
    target(SECTION, `${pairs} pairs: a gradient for each / sweep`, ratio(each, once), '≥', 20, '×', {
      ms: each.best,
      sweepMs: once.best,
    }),
    target(SECTION, `${pairs} pairs: difference`, error, '≤', 1e-10, ''),
  ].map(print);
}

/** Times two solves for each pair against one for all. */
async function solveRows(pairs: number): Promise<Row[]> {
  const problem = await trained(pairs, 32);
  const { scores } = await scoreAll(problem.placed, problem.theta);
  let alone: Float64Array = new Float64Array();
  const [each, once] = await compare(
    [
      { name: 'solves', run: async () => void (alone = await bySolves(problem)) },
      { name: 'scores', run: async () => void (await scoreAll(problem.placed, problem.theta)) },
    ],
    { rounds: 1, warmup: 0, patience: 250 },
  );
  const error = relativeError(
    Float64Array.from(scores, ({ score }) => score),
    alone,
  );
  return [
    target(SECTION, `${pairs} pairs: two solves for each / all scores`, ratio(each, once), '≥', 50, '×', {
      ms: each.best,
      scoresMs: once.best,
    }),
    target(SECTION, `${pairs} pairs: difference of scores`, error, '≤', 1e-8, ''),
  ].map(print);
}

/** Per-pair gradients at 64 and 256 pairs, per-pair solves at 64. */
export async function obviousRows(): Promise<Row[]> {
  return [...(await gradientRows(64)), ...(await gradientRows(256)), ...(await solveRows(64))];
}
