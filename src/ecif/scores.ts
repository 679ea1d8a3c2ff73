// Scores of pairs under one sign contract: the predicted change of the evaluation loss if the pair is removed.
// Positive: removing it hurts, the pair is valuable. Negative: removing it helps, the pair is harmful or misaligned.

import { addScaled, dot, norm } from '../array/vector.ts';
import { jvp } from '../autodiff/transforms.ts';
import { disposeTree, readAll, scope } from '../autodiff/tensor.ts';
import { similarities } from '../models/model.ts';
import type { Problem } from './objective.ts';
import { type NegForm, pairTerms } from './terms.ts';

/** The score of one pair, and its parts: as positive and as negative, in each direction. */
export interface PairScore {
  readonly batch: number;
  readonly position: number;
  readonly score: number;
  readonly positive: number;
  readonly negative: number;
  readonly t2i: number;
  readonly i2t: number;
}

/**
 * Scores of all pairs from one solve: score(n) = w·∇Pos_n + w·∇Neg_n with w = H⁻¹·∇L_val. Each is a derivative along w,
 * so one forward-mode sweep over the batches gives every one; no gradient of a pair is ever formed.
 * @param w H⁻¹·∇L_val
 * @example const scores = await pairScores(problem, theta, await h.solve(gradVal), 'corrected');
 */
export async function pairScores<T, B>(problem: Problem<T, B>, theta: T, w: T, form: NegForm): Promise<PairScore[]> {
  const out: PairScore[] = [];
  for (const [batch, members] of problem.batches.entries()) {
    const { pos, neg } = scope(
      () => jvp((t: T) => pairTerms(similarities(problem.model, t, members), form), theta, w).tangent,
    );
    const [posT, posI, negT, negI] = await readAll([pos.t2i, pos.i2t, neg.t2i, neg.i2t]);
    disposeTree([pos, neg]);
    posT.forEach((_, position) => {
      const [a, b, c, d] = [posT[position], posI[position], negT[position], negI[position]];
      out.push({ batch, position, score: a + b + c + d, positive: a + b, negative: c + d, t2i: a + c, i2t: b + d });
    });
  }
  return out;
}

type Vector = Float64Array;

/**
 * ‖P·g‖ with P the orthogonal projector on span(p, n): the largest change of the loss, to first order, that re-weighting
 * the pair can make with a parameter change of length one.
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
