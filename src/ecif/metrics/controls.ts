// Controls: what a metric says of permuted scores, and of the baseline that an approximation has to beat.

import { EcifError } from '../../array/errors.ts';
import { createRng, type Rng } from '../../array/rng.ts';
import { type Numbers, requireFinite, requireWhole } from './input.ts';
import { summarise } from './interval.ts';

/** A metric of scores; NaN where it is not defined. */
export type Metric = (scores: Float64Array) => number;

/** A value beside what permuted scores give. */
export interface PermutedControl {
  readonly value: number;
  /** Over the permutations: the chance level, and the spread of single ones. */
  readonly mean: number;
  readonly sd: number;
  /** (1 + permutations that score as high)/(1 + permutations): how often chance does as well. */
  readonly pValue: number;
  /** Permutations that it rests on: those for which the metric is defined. */
  readonly repeats: number;
}

/** Values closer than this, relative to the real one, differ by rounding alone. */
const ROUNDING = 1e-12;

/** The scores, dealt to the pairs anew. */
export function permuted(scores: Numbers, rng: Rng): Float64Array {
  return Float64Array.from(rng.permutation(scores.length), (i) => scores[i]);
}

/**
 * The permutation test of a metric for which more is better: the same scores dealt to the pairs at random, `repeats` times.
 * Mean, spread and p-value are NaN where the metric is not defined for the scores themselves.
 * @param repeats 999 gives p-values down to 0.001
 * @example permutedControl((s) => auroc(s, bad, 'lowest'), scores, createRng(1), 999);
 */
export function permutedControl(metric: Metric, scores: Numbers, rng: Rng, repeats: number): PermutedControl {
  requireFinite('scores', scores);
  requireWhole('repeats', repeats, 1);
  const value = metric(Float64Array.from(scores));
  const all = Float64Array.from({ length: repeats }, () => metric(permuted(scores, rng)));
  const drawn = all.filter((v) => !Number.isNaN(v));
  if (Number.isNaN(value) || drawn.length === 0)
    return { value, mean: NaN, sd: NaN, pValue: NaN, repeats: drawn.length };
  const least = value - ROUNDING * Math.abs(value);
  const asHigh = drawn.filter((v) => v >= least).length;
  const { mean, sd } = summarise(drawn);
  return { value, mean, sd, pValue: (1 + asHigh) / (1 + drawn.length), repeats: drawn.length };
}

/** One method of a comparison. */
export interface Compared extends PermutedControl {
  readonly method: string;
  /** Its value less that of the baseline: what the approximation adds. */
  readonly aboveBaseline: number;
}

/**
 * Every method under one metric, each beside its permuted scores and the baseline; the baseline's own row comes first.
 * All methods see the same permutations.
 * @param methods scores by name
 * @param baseline name of the method to beat: identity curvature, for one
 * @throws EcifError where the baseline is none of the methods
 * @example compareMethods((s) => auroc(s, bad, 'lowest'), { identity, 'Gauss-Newton': ggn }, 'identity', 1, 999);
 */
export function compareMethods(
  metric: Metric,
  methods: Readonly<Record<string, Numbers>>,
  baseline: string,
  seed: number,
  repeats: number,
): Compared[] {
  const names = Object.keys(methods);
  if (!names.includes(baseline))
    throw new EcifError(`compareMethods: no scores of the baseline ${baseline} among ${names.join(', ')}; give them`);
  const rows = [baseline, ...names.filter((name) => name !== baseline)].map((method) => ({
    method,
    ...permutedControl(metric, methods[method], createRng(seed), repeats),
  }));
  return rows.map((row) => ({ ...row, aboveBaseline: row.value - rows[0].value }));
}
