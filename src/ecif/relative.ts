// Relative scores: the largest first-order change of the loss that re-weighting a pair can make per unit of parameter change.

import { EcifError } from '../array/errors.ts';
import { createRng } from '../array/rng.ts';
import { addScaled, dot, norm } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import type { Problem } from './objective.ts';
import { DENSE_UP_TO, type CurvatureSolver } from './solver.ts';
import { partsOf, type ScoreParts } from './scores.ts';
import { type PairPlace, type PairTangents, plus, sweepPairs, unitTangents } from './sweep.ts';
import type { NegForm } from './terms.ts';

type Vector = Float64Array;

/** A number with its standard error, 0 where it is exact. */
export interface Estimate {
  readonly value: number;
  readonly standardError: number;
}

/** Such a number of one pair. */
export interface PairEstimate extends PairPlace, Estimate {}

/** How quadratic forms of all pairs are found. */
export interface ProbeOptions {
  /** Random probes; none, so that the result is exact, up to 100 parameters unless told, 64 beyond. */
  probes?: number | undefined;
  seed?: number | undefined;
  form?: NegForm | undefined;
}

/**
 * ‖P·g‖ with P the orthogonal projector on span(p, n): the largest change of the loss, to first order, that re-weighting
 * the pair can make with a parameter change of length one.
 * @eq prop-relative-score
 * @eq prop-relative-parallel
 * @deviation one form for parallel and other influences; the paper mixes ‖Pg‖ and ‖Pg‖²/‖g‖
 * @param tolerance angle below which p and n count as parallel
 * @example relativeScore(positiveIF, negativeIF, gradVal);
 */
export function relativeScore(p: Vector, n: Vector, g: Vector, tolerance = Math.sqrt(g.length) * 2 ** -53): number {
  const [first, second] = [p, n].filter((v) => norm(v) > 0).map((v) => v.map((x) => x / norm(v)));
  if (first === undefined) return 0;
  const along = dot(first, g);
  if (second === undefined) return Math.abs(along);
  let rest = addScaled(second, -dot(first, second), first);
  rest = addScaled(rest, -dot(first, rest), first);
  const length = norm(rest);
  return length <= tolerance ? Math.abs(along) : Math.hypot(along, dot(rest, g) / length);
}

/** Below five normal probes the inverse Gram matrix, or that without one of them, has no mean. */
const LEAST_PROBES = 5;

/** Probes and H⁻¹ of each. */
export interface SolvedProbes<T> {
  /** The probes are the unit vectors. */
  readonly exact: boolean;
  readonly probes: readonly T[];
  readonly solved: readonly T[];
}

/**
 * Refuses too few probes.
 * @throws EcifError
 */
export function requireProbes(count: number): void {
  if (count > 0 && count < LEAST_PROBES)
    throw new EcifError(`probes: ${count} are too few for a value with an error; take ${LEAST_PROBES} or more, or 0`);
}

/**
 * Probes: the unit vectors for an exact result, normal vectors otherwise.
 * @throws EcifError for too few
 */
export function drawProbes<T>(theta: T, { probes, seed = 0 }: ProbeOptions): Omit<SolvedProbes<T>, 'solved'> {
  const flat = new Flat(theta);
  const count = probes ?? (flat.size <= DENSE_UP_TO ? 0 : 64);
  requireProbes(count);
  const rng = createRng(seed);
  const drawn = count === 0 ? unitTangents(theta) : Array.from({ length: count }, () => flat.normal(rng));
  return { exact: count === 0, probes: drawn };
}

/** H⁻¹ of each probe: unit vectors for an exact result, normal ones otherwise. */
export async function solvedProbes<T>(
  theta: T,
  h: CurvatureSolver<T>,
  options: ProbeOptions,
): Promise<SolvedProbes<T>> {
  const { exact, probes } = drawProbes(theta, options);
  const solved: T[] = [];
  for (const probe of probes) solved.push(await h.solve(probe));
  return { exact, probes, solved };
}

/** √(bᵀ·M⁻¹·b) for a 2×2 Gram matrix M of (p, n) and b = (p·g, n·g), by the cosine of p and n. */
function projected([pp, pn, nn]: readonly number[], pg: number, ng: number): number {
  if (!(pp > 0) && !(nn > 0)) return 0;
  if (!(pp > 0)) return Math.abs(ng) / Math.sqrt(nn);
  if (!(nn > 0)) return Math.abs(pg) / Math.sqrt(pp);
  const [a, b, c] = [pg / Math.sqrt(pp), ng / Math.sqrt(nn), pn / Math.sqrt(pp * nn)];
  const rest = 1 - c * c;
  return rest <= 1e-12 ? Math.abs(a) : Math.hypot(a, (b - c * a) / Math.sqrt(rest));
}

/** The score from r normal probes, whose inverse Gram matrix is r/(r − 3) too large on average; error by jackknife. */
function estimated(p: Vector, n: Vector, pg: number, ng: number): Estimate {
  const r = p.length;
  const sums = [dot(p, p), dot(p, n), dot(n, n)];
  const scoreFrom = (gram: readonly number[], count: number): number =>
    Math.sqrt((count - 3) / count) *
    projected(
      gram.map((x) => x / count),
      pg,
      ng,
    );
  const without = Array.from(p, (_, i) =>
    scoreFrom([sums[0] - p[i] ** 2, sums[1] - p[i] * n[i], sums[2] - n[i] ** 2], r - 1),
  );
  const mean = without.reduce((a, b) => a + b, 0) / r;
  const spread = without.reduce((a, b) => a + (b - mean) ** 2, 0);
  return { value: scoreFrom(sums, r), standardError: Math.sqrt(((r - 1) / r) * spread) };
}

/** An influence from its two directions, each known to the share `noise` of its length: 0 if that is all there is. */
function knownOf(t2i: Vector, i2t: Vector, noise: number): { vector: Vector; angle: number } {
  const vector = plus(t2i, i2t);
  const angle = (noise * (norm(t2i) + norm(i2t))) / norm(vector);
  return angle < 1 ? { vector, angle } : { vector: new Float64Array(vector.length), angle: 0 };
}

/** Relative error of derivatives along vectors that were solved for. */
export function noiseOf<T>(theta: T, h: Pick<CurvatureSolver<T>, 'accuracy'>): number {
  const flat = new Flat(theta);
  return 64 * Math.sqrt(flat.size) * (h.accuracy ?? flat.device.epsilon);
}

/** Tangents first…end−1 of a pair. */
export const tangentRange = ({ t2i, i2t }: PairTangents['pos'], first: number, end?: number): PairTangents['pos'] => ({
  t2i: t2i.subarray(first, end),
  i2t: i2t.subarray(first, end),
});

/**
 * The relative score of one pair.
 * @param probed its derivatives along H⁻¹ of the probes
 * @param along its derivatives along H⁻¹·g
 * @param known where the probes are the unit vectors, so that the result is exact: g, and the relative error of `probed`
 */
export function relativeFrom(
  { pos, neg }: Pick<PairTangents, 'pos' | 'neg'>,
  along: Pick<ScoreParts, 'positive' | 'negative'>,
  known: { readonly g: Vector; readonly noise: number } | null,
): Estimate {
  if (known === null) return estimated(plus(pos.t2i, pos.i2t), plus(neg.t2i, neg.i2t), along.positive, along.negative);
  const [p, n] = [pos, neg].map(({ t2i, i2t }) => knownOf(t2i, i2t, known.noise));
  return { value: relativeScore(p.vector, n.vector, known.g, p.angle + n.angle), standardError: 0 };
}

/**
 * Relative scores of all pairs: one sweep along H⁻¹ of the unit vectors, exact, or of r random probes, with an error.
 * @eq prop-relative-score
 * @param gradVal ∇L_val at θ̂
 * @example const relative = await relativeScores(problem, theta, h, grad(evaluation)(theta));
 */
export async function relativeScores<T, B>(
  problem: Problem<T, B>,
  theta: T,
  h: CurvatureSolver<T>,
  gradVal: T,
  options: ProbeOptions = {},
): Promise<PairEstimate[]> {
  const { exact, probes, solved } = await solvedProbes(theta, h, options);
  const w = await h.solve(gradVal);
  const swept = await sweepPairs(problem, theta, [w, ...solved], options.form ?? 'corrected');
  const g = await new Flat(theta).toVector(gradVal);
  disposeTree([probes, solved, w]);
  const known = exact ? { g, noise: noiseOf(theta, h) } : null;
  return swept.map((pair) => {
    const along = partsOf(pair, 0);
    const rest = { pos: tangentRange(pair.pos, 1), neg: tangentRange(pair.neg, 1) };
    return { batch: pair.batch, position: pair.position, ...relativeFrom(rest, along, known) };
  });
}
