// Scores from embeddings and losses alone: similarity to the evaluation pairs, CLIPScore, the pair's own loss.

import { add } from '../../autodiff/ops/binary.ts';
import { anchorLosses } from '../objective.ts';
import { cosinesOf } from '../self.ts';
import { valuesByRow } from './by-row.ts';
import { cosineOf, embedEvaluation, embedRows } from './embeddings.ts';
import type { Method } from './method.ts';

/** The mean over evaluation pairs z of cos((u_n, v_n), (u_z, v_z)) = (⟨u_n, u_z⟩ + ⟨v_n, v_z⟩)/2, all of length one. */
export const representation: Method = {
  name: 'representation',
  about: 'mean cosine of (u, v) to the evaluation pairs',
  needs: ['evaluation'],
  scores: async (task) => {
    const [own, others] = [await embedRows(task), await embedEvaluation(task)];
    const { width } = own;
    const among = others.u.length / width;
    return Float64Array.from({ length: task.count }, (_, n) => {
      let sum = 0;
      for (let z = 0; z < among; z++)
        sum += cosineOf(width, own.u, n, others.u, z) + cosineOf(width, own.v, n, others.v, z);
      return sum / (2 * among);
    });
  },
};

/** cos(u_n, v_n). */
export const clipScore: Method = {
  name: 'clipscore',
  about: 'cos(u, v)',
  needs: [],
  scores: (task) => valuesByRow(task, cosinesOf),
};

/** Minus the pair's loss as anchor in both directions: what fits badly is suspicious. */
export const ownLoss: Method = {
  name: 'loss',
  about: '−Pos',
  needs: [],
  scores: async (task) => {
    const losses = await valuesByRow(task, ({ s }) => {
      const { t2i, i2t } = anchorLosses(s);
      return add(t2i, i2t);
    });
    return losses.map((value) => -value);
  },
};
