// Two kinds of pairs behind one number: a mixture of two normal distributions, fitted without knowing which pair is which.

import { EcifError } from '../../array/errors.ts';

/** One of the two. */
export interface Component {
  readonly weight: number;
  readonly mean: number;
  readonly deviation: number;
}

/** What was fitted. */
export interface Mixture {
  /** Of the lower and the higher values. */
  readonly components: readonly [Component, Component];
  /** Probability of each value to be of the higher component; grows with the value. */
  readonly probabilities: Float64Array;
  /** Whether two components describe the values better than one (Bayesian information criterion). */
  readonly two: boolean;
}

const ITERATIONS = 500;
/** Least deviation of a component, as a share of that of all values: a component on one value is no kind of pairs. */
const NARROWEST = 0.05;

/** The mean, weighted or not. */
export const mean = (values: Float64Array, weights?: Float64Array): number => {
  const total = weights === undefined ? values.length : weights.reduce((a, b) => a + b, 0);
  return values.reduce((sum, x, i) => sum + x * (weights?.[i] ?? 1), 0) / total;
};

/** The standard deviation about a centre, weighted or not. */
export const deviation = (values: Float64Array, centre: number, weights?: Float64Array): number => {
  const squares = values.map((x) => (x - centre) ** 2);
  return Math.sqrt(mean(squares, weights));
};

/** log of weight·normal density. */
const logDensity = ({ weight, mean: m, deviation: d }: Component, x: number): number =>
  Math.log(weight) - Math.log(d) - (x - m) ** 2 / (2 * d * d) - Math.log(2 * Math.PI) / 2;

/** log(eᵃ + eᵇ) */
const logAdd = (a: number, b: number): number => Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));

function componentOf(values: Float64Array, weights: Float64Array, narrowest: number): Component {
  const m = mean(values, weights);
  return {
    weight: Math.max(1e-9, mean(weights)),
    mean: m,
    deviation: Math.max(narrowest, deviation(values, m, weights)),
  };
}

/** Expectation and maximisation from a first guess of which values are high. */
function fit(values: Float64Array, high: Float64Array, narrowest: number): [Component, Component] {
  let weights = high;
  let [low, top] = [
    componentOf(
      values,
      weights.map((w) => 1 - w),
      narrowest,
    ),
    componentOf(values, weights, narrowest),
  ];
  for (let i = 0, before = -Infinity; i < ITERATIONS; i++) {
    const likelihood = values.reduce((sum, x) => sum + logAdd(logDensity(low, x), logDensity(top, x)), 0);
    if (likelihood - before < 1e-7 * Math.abs(likelihood)) break;
    before = likelihood;
    weights = values.map((x) => 1 / (1 + Math.exp(logDensity(low, x) - logDensity(top, x))));
    [low, top] = [
      componentOf(
        values,
        weights.map((w) => 1 - w),
        narrowest,
      ),
      componentOf(values, weights, narrowest),
    ];
  }
  return low.mean <= top.mean ? [low, top] : [top, low];
}

const likelihoodOf = (values: Float64Array, parts: readonly Component[]): number =>
  values.reduce((sum, x) => sum + parts.map((part) => logDensity(part, x)).reduce(logAdd), 0);

/**
 * Where the odds of the higher component rise with the value: beyond, the wider of the two claims both ends, and the odds
 * are held at what they were.
 */
function risingRange(low: Component, top: Component): [number, number] {
  const [a, b] = [1 / low.deviation ** 2, 1 / top.deviation ** 2];
  if (a === b) return [-Infinity, Infinity];
  const turn = (b * top.mean - a * low.mean) / (b - a);
  return b > a ? [-Infinity, turn] : [turn, Infinity];
}

/** Shares of the values that the first guesses take for the higher kind. */
const GUESSES = [0.05, 0.1, 0.2, 0.3, 0.5];

/**
 * Fits the mixture.
 * @throws EcifError for fewer than eight values, or for one that is no number
 * @example const { probabilities } = mixtureOf(suspicion);
 */
export function mixtureOf(values: Float64Array): Mixture {
  if (values.length < 8) throw new EcifError(`mixture: ${values.length} values; two kinds need 8 or more`);
  const odd = values.findIndex((x) => !Number.isFinite(x));
  if (odd >= 0) throw new EcifError(`mixture: value ${odd} is ${values[odd]}; give numbers`);
  const centre = mean(values);
  const spread = deviation(values, centre);
  const zero = { weight: 0, mean: centre, deviation: 0 };
  if (!(spread > 0)) {
    return { components: [{ ...zero, weight: 1 }, zero], probabilities: new Float64Array(values.length), two: false };
  }
  const sorted = values.toSorted();
  const fits = GUESSES.map((share) => {
    const bound = sorted[Math.floor((1 - share) * (values.length - 1))];
    return fit(
      values,
      values.map((x) => (x > bound ? 1 : 0)),
      NARROWEST * spread,
    );
  });
  const [low, top] = fits.reduce((a, b) => (likelihoodOf(values, b) > likelihoodOf(values, a) ? b : a));
  const gain =
    likelihoodOf(values, [low, top]) - likelihoodOf(values, [{ weight: 1, mean: centre, deviation: spread }]);
  const two = 2 * gain > 3 * Math.log(values.length);
  const [least, most] = risingRange(low, top);
  const probability = (x: number): number => {
    const at = Math.min(most, Math.max(least, x));
    return 1 / (1 + Math.exp(logDensity(low, at) - logDensity(top, at)));
  };
  return { components: [low, top], probabilities: values.map(probability), two };
}
