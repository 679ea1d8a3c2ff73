// Everything that is known of every pair, side by side: task score with its parts, relative and self score, what is doubtful.

import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import { flagPairs, type PairFlag } from './diagnostics.ts';
import type { Problem } from './objective.ts';
import { relativeScores } from './relative.ts';
import { type PairScore, pairScores } from './scores.ts';
import { selfScores } from './self.ts';
import type { CurvatureSolver } from './solver.ts';
import type { NegForm } from './terms.ts';

/** One pair. */
export interface PairRow extends PairScore, Pick<PairFlag, 'gap' | 'unreliable' | 'sameText' | 'sameImage'> {
  readonly relative: number;
  readonly self: number;
}

/**
 * Scores of every pair under one sign contract: the predicted change of a loss if the pair is removed.
 * @param evaluation the loss of interest
 * @param form how negatives count; `corrected` unless told
 */
export async function pairTable<T, B>(
  problem: Problem<T, B>,
  theta: T,
  h: CurvatureSolver<T>,
  evaluation: (theta: T) => Tensor,
  form: NegForm = 'corrected',
): Promise<PairRow[]> {
  const g = scope(() => grad(evaluation)(theta));
  const w = await h.solve(g);
  const scores = await pairScores(problem, theta, w, form);
  const relative = await relativeScores(problem, theta, h, g, { form });
  const self = await selfScores(problem, theta, h, { form });
  const flags = await flagPairs(problem, theta);
  disposeTree([g, w]);
  return scores.map((score, i) => {
    const { gap, unreliable, sameText, sameImage } = flags[i];
    return { ...score, relative: relative[i].value, self: self[i].value, gap, unreliable, sameText, sameImage };
  });
}
