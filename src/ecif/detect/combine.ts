// Several signs of a mismatch made into one, without knowing which pairs are mismatched.

import { EcifError } from '../../array/errors.ts';
import { deviation, mean, mixtureOf } from './mixture.ts';

/** One number for every pair, high for a pair that fits. */
export interface Signal {
  readonly name: string;
  readonly values: Float64Array;
}

/** What signals say together. */
export interface Suspicion {
  /** Higher is more suspicious. */
  readonly values: Float64Array;
  /** What each signal counts, for one standard deviation of it. */
  readonly weights: readonly { readonly name: string; readonly weight: number }[];
}

/** How far apart the two kinds of pairs lie in a signal, over its spread within a kind; 0 where one kind is seen. */
function separation(standard: Float64Array): number {
  const { components, two } = mixtureOf(standard);
  if (!two) return 0;
  const [low, high] = components;
  const within = low.weight * low.deviation ** 2 + high.weight * high.deviation ** 2;
  return (high.mean - low.mean) / within;
}

/** −values with mean 0 and deviation 1; all 0 where they are equal. */
function standardised({ name, values }: Signal): Float64Array {
  const odd = values.findIndex((x) => !Number.isFinite(x));
  if (odd >= 0) throw new EcifError(`detect: ${name} of pair ${odd} is ${values[odd]}; leave the signal out`);
  const centre = mean(values);
  const spread = deviation(values, centre);
  return values.map((x) => (spread === 0 ? 0 : (centre - x) / spread));
}

/**
 * The sum of the signals, each weighed by how well it separates two kinds of pairs by itself: the log odds of a mismatch
 * if, within a kind, signals are normal and independent of each other. Where none separates them all count alike.
 * @example const { values } = suspicionOf([{ name: 'fit', values: fit }, { name: 'score', values: score }]);
 */
export function suspicionOf(signals: readonly Signal[]): Suspicion {
  const standard = signals.map(standardised);
  const found = standard.map(separation);
  const weights = found.some((w) => w > 0) ? found : found.map(() => 1);
  const values = Float64Array.from(standard[0], (_, i) => standard.reduce((sum, z, k) => sum + weights[k] * z[i], 0));
  return { values, weights: signals.map(({ name }, k) => ({ name, weight: weights[k] })) };
}
