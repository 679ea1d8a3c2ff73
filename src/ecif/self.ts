// Self scores: the predicted change of a pair's own evaluation loss if the pair is removed.

import { CosineError } from '../array/errors.ts';
import { dot } from '../array/vector.ts';
import { mul } from '../autodiff/ops/binary.ts';
import { l2Normalize } from '../autodiff/ops/normalize.ts';
import { sum } from '../autodiff/ops/reduce.ts';
import { affine, log, neg } from '../autodiff/ops/unary.ts';
import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import type { Embeddings, Model } from '../models/model.ts';
import type { Problem } from './objective.ts';
import { type Estimate, type PairEstimate, type ProbeOptions, solvedProbes } from './relative.ts';
import type { CurvatureSolver } from './solver.ts';
import { type PairTangents, plus, sweepPairs, tangentsOf } from './sweep.ts';

/** The evaluation loss of a pair: `1-cos`, defined everywhere, or the paper's `-log-cos`, only where the cosine is positive. */
export type SelfForm = '1-cos' | '-log-cos';

/** cos(u_k, v_k) of embeddings, (…, B). */
export const cosinesOf = ({ u, v }: Embeddings): Tensor => sum(mul(l2Normalize(u), l2Normalize(v)), -1);

/** cos(u_k, v_k) of every pair, (B). */
export const cosines = <T, B>(model: Model<T, B>, theta: T, batch: B): Tensor => cosinesOf(model.embed(theta, batch));

/**
 * The self evaluation loss of every pair, (B).
 * @eq erratum-07-log-cosine
 * @deviation the paper's −log cos is undefined for cos ≤ 0; 1 − cos orders pairs alike and is defined for all
 */
export function selfLosses<T, B>(model: Model<T, B>, theta: T, batch: B, form: SelfForm = '1-cos'): Tensor {
  const cos = cosines(model, theta, batch);
  return form === '1-cos' ? affine(cos, -1, 1) : neg(log(cos));
}

/**
 * Makes sure that −log cos is defined for every pair of a batch.
 * @throws CosineError that names the first pair whose cosine is not positive
 */
export async function requirePositiveCosines<T, B>(
  model: Model<T, B>,
  theta: T,
  batch: B,
  name = 'batch',
): Promise<void> {
  const cos = scope(() => cosines(model, theta, batch));
  const values = await cos.data();
  cos.dispose();
  const bad = values.findIndex((x) => !(x > 0));
  if (bad >= 0) {
    throw new CosineError(
      `-log-cos: pair ${bad} of ${name} has cosine ${values[bad].toPrecision(3)}, the logarithm needs > 0; use 1-cos`,
    );
  }
}

/**
 * The self score of one pair.
 * @param own derivatives of its self loss along the probes
 * @param moved its derivatives along H⁻¹ of the probes
 * @param exact whether the probes are the unit vectors
 */
export function selfFrom(
  own: Float64Array,
  { pos, neg: negative }: Pick<PairTangents, 'pos' | 'neg'>,
  exact: boolean,
): Estimate {
  const moved = plus(plus(pos.t2i, pos.i2t), plus(negative.t2i, negative.i2t));
  if (exact) return { value: dot(own, moved), standardError: 0 };
  const [r, products] = [own.length, own.map((x, i) => x * moved[i])];
  const value = products.reduce((a, b) => a + b, 0) / r;
  const spread = products.reduce((a, x) => a + (x - value) ** 2, 0) / (r - 1);
  return { value, standardError: Math.sqrt(spread / r) };
}

/** Settings of {@link selfScores}. */
export interface SelfOptions extends ProbeOptions {
  loss?: SelfForm | undefined;
}

/**
 * Self scores of all pairs: ∇ℓ_nᵀ·H⁻¹·(∇Pos_n + ∇Neg_n), exact for few parameters, by random probes with a standard
 * error for many. Two sweeps, no gradient of a pair.
 * @eq erratum-07-log-cosine
 * @throws CosineError where −log cos was asked for and is undefined
 */
export async function selfScores<T, B>(
  problem: Problem<T, B>,
  theta: T,
  h: CurvatureSolver<T>,
  options: SelfOptions = {},
): Promise<PairEstimate[]> {
  const { loss = '1-cos', form = 'corrected' } = options;
  const { model, batches } = problem;
  if (loss === '-log-cos')
    for (const [m, members] of batches.entries()) await requirePositiveCosines(model, theta, members, `batch ${m}`);
  const { exact, probes, solved } = await solvedProbes(theta, h, options);
  const swept = await sweepPairs(problem, theta, solved, form);
  const own: (readonly Float64Array[])[] = [];
  for (const members of batches)
    own.push((await tangentsOf((t: T) => ({ own: selfLosses(model, t, members, loss) }), theta, probes)).own);
  disposeTree([probes, solved]);
  return swept.map((pair) => {
    const { batch, position } = pair;
    const along = Float64Array.from(own[batch], (row) => row[position]);
    return { batch, position, ...selfFrom(along, pair, exact) };
  });
}
