// How sure a number is: mean and spread over seeds, Student's interval, the bootstrap.

import { EcifError } from '../../array/errors.ts';
import type { Rng } from '../../array/rng.ts';
import { requireLevel, studentFactor } from '../../array/student.ts';
import { type Numbers, requireFinite, requireWhole } from './input.ts';

/** Mean and standard deviation of a sample. */
export interface Summary {
  readonly count: number;
  readonly mean: number;
  /** √(Σ(x − mean)²/(n − 1)); NaN for one value. */
  readonly sd: number;
}

/**
 * Mean ± standard deviation, over seeds for one.
 * @throws EcifError for no values, NumericsError for one that is not finite
 */
export function summarise(values: Numbers): Summary {
  requireFinite('summarise', values);
  const x = Float64Array.from(values);
  if (x.length === 0) throw new EcifError('summarise: no values; give one or more');
  const mean = x.reduce((t, v) => t + v, 0) / x.length;
  const squares = x.reduce((t, v) => t + (v - mean) ** 2, 0);
  return { count: x.length, mean, sd: Math.sqrt(squares / (x.length - 1)) };
}

/** An interval that holds the true value with probability `level`. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  readonly level: number;
}

/** The t of Student's distribution. */
export { studentFactor } from '../../array/student.ts';

/**
 * Student's interval for the mean: mean ± t·sd/√n, t of n − 1 degrees of freedom; exact for normal values.
 * @example studentInterval(aurocOfEachSeed);
 * @throws EcifError for fewer than two values
 */
export function studentInterval(values: Numbers, level = 0.95): Interval {
  if (values.length < 2) throw new EcifError(`studentInterval: ${values.length} values; give two or more`);
  const { count, mean, sd } = summarise(values);
  const half = (studentFactor(level, count - 1) * sd) / Math.sqrt(count);
  return { low: mean - half, high: mean + half, level };
}

/** The value below which a share p of a sorted list lies, interpolated between neighbours: place p·(n − 1). */
function quantile(sorted: Float64Array, p: number): number {
  const place = p * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

/** A bootstrap interval, and how many resamples it rests on. */
export interface BootstrapInterval extends Interval {
  /** Resamples in which the statistic was defined. */
  readonly resamples: number;
}

/** Settings of {@link bootstrapInterval}. */
export interface BootstrapOptions {
  /** 0.95 unless told. */
  readonly level?: number;
  /** 2000 unless told. */
  readonly resamples?: number;
}

/**
 * Percentile interval: the (1 ± level)/2 quantiles of the statistic over resamples of the rows with replacement.
 * Resamples that have no value (NaN: no bad pair was drawn, for one) are left out and not counted.
 * @param count rows, which are pairs or seeds
 * @param statistic of the rows drawn, each row any number of times
 * @example bootstrapInterval(n, (rows) => auroc(pick(scores, rows), pick(bad, rows), 'lowest'), createRng(1));
 */
export function bootstrapInterval(
  count: number,
  statistic: (rows: Uint32Array) => number,
  rng: Rng,
  { level = 0.95, resamples = 2000 }: BootstrapOptions = {},
): BootstrapInterval {
  requireLevel(level);
  requireWhole('rows', count, 1);
  requireWhole('resamples', resamples, 1);
  const values = Float64Array.from({ length: resamples }, () =>
    statistic(Uint32Array.from({ length: count }, () => rng.int(count))),
  );
  const sorted = values.filter((v) => !Number.isNaN(v)).sort();
  const [low, high] =
    sorted.length === 0 ? [NaN, NaN] : [(1 - level) / 2, (1 + level) / 2].map((p) => quantile(sorted, p));
  return { low, high, level, resamples: sorted.length };
}
