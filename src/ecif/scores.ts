// Task scores of pairs under one sign contract: the predicted change of the evaluation loss if the pair is removed.
// Positive: removing it hurts, the pair is valuable. Negative: removing it helps, the pair is harmful or misaligned.

import { dot } from '../array/vector.ts';
import type { Problem } from './objective.ts';
import { type PairPlace, type PairTangents, sweepPairs } from './sweep.ts';
import type { NegForm } from './terms.ts';

/** A score and its parts: as positive and as negative, in each direction. */
export interface ScoreParts {
  readonly score: number;
  readonly positive: number;
  readonly negative: number;
  readonly t2i: number;
  readonly i2t: number;
}

/** The score of one pair. */
export interface PairScore extends PairPlace, ScoreParts {}

/** The score of a pair along tangent i of a sweep. */
export function partsOf({ pos, neg }: Pick<PairTangents, 'pos' | 'neg'>, i: number): ScoreParts {
  const [a, b, c, d] = [pos.t2i[i], pos.i2t[i], neg.t2i[i], neg.i2t[i]];
  return { score: a + b + c + d, positive: a + b, negative: c + d, t2i: a + c, i2t: b + d };
}

/**
 * The task score of a set: −∇L_val·(positiveIF + negativeIF).
 * @eq prop-task-score
 * @eq erratum-03-signs
 * @param gradVal ∇L_val at θ̂
 */
export const taskScore = (positiveIF: Float64Array, negativeIF: Float64Array, gradVal: Float64Array): number =>
  -dot(gradVal, positiveIF) - dot(gradVal, negativeIF);

/**
 * Scores of all pairs from one solve: score(n) = w·∇Pos_n + w·∇Neg_n with w = H⁻¹·∇L_val. Each is a derivative along w,
 * so one forward-mode sweep over the batches gives every one; no gradient of a pair is ever formed.
 * @eq prop-task-score
 * @param w H⁻¹·∇L_val
 * @example const scores = await pairScores(problem, theta, await h.solve(gradVal), 'corrected');
 */
export async function pairScores<T, B>(problem: Problem<T, B>, theta: T, w: T, form: NegForm): Promise<PairScore[]> {
  const swept = await sweepPairs(problem, theta, [w], form);
  return swept.map((pair) => ({ batch: pair.batch, position: pair.position, ...partsOf(pair, 0) }));
}
