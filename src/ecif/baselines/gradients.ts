// Products of gradients without curvature: GradDot, GradCos, and TracIn over the checkpoints of training.

import { EcifError } from '../../array/errors.ts';
import { createRng } from '../../array/rng.ts';
import { norm } from '../../array/vector.ts';
import { Flat } from '../../autodiff/flat.ts';
import { add } from '../../autodiff/ops/binary.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import { anchorLosses } from '../objective.ts';
import { DENSE_UP_TO } from '../solver.ts';
import { unitTangents } from '../sweep.ts';
import { meansAlong, RowMeans, sweepBatches } from './by-row.ts';
import { type Method, type ScoringTask, withEvaluationGradient } from './method.ts';

/** ∇Pos_n(θ)·∇L_val(θ): what a step along the pair's own loss does for the evaluation loss. */
const dotAt = <T, B>(task: ScoringTask<T, B>, theta: T): Promise<Float64Array> =>
  withEvaluationGradient(task, theta, (gradient) =>
    meansAlong(task, theta, gradient, ({ scores }) => scores[0].positive),
  );

/** The pair's own loss along the evaluation gradient. */
export const gradDot: Method = {
  name: 'graddot',
  about: '∇Pos·∇L_val',
  needs: ['evaluation'],
  scores: (task) => dotAt(task, task.theta),
};

/** Probes for the lengths of gradients where there are too many parameters for all unit vectors. */
const PROBES = 64;

/**
 * The same by the cosine of the two gradients. Their lengths are exact for few parameters; for many, ‖g‖² is the mean of
 * (g·z)² over normal probes z.
 */
export const gradCos: Method = {
  name: 'gradcos',
  about: '∇Pos·∇L_val/(‖∇Pos‖·‖∇L_val‖)',
  needs: ['evaluation'],
  scores: (task) =>
    withEvaluationGradient(task, task.theta, async (gradient) => {
      const flat = new Flat(task.theta);
      const exact = flat.size <= DENSE_UP_TO;
      const rng = createRng(task.seed);
      const probes = exact ? unitTangents(task.theta) : Array.from({ length: PROBES }, () => flat.normal(rng));
      const length = norm(await flat.toVector(gradient));
      const means = new RowMeans(task.count);
      const own = sweepBatches(task, task.theta, [gradient, ...probes], ({ s }) => {
        const { t2i, i2t } = anchorLosses(s);
        return { own: add(t2i, i2t) };
      });
      for await (const { rows, swept } of own) {
        const [along, ...probed] = swept.tangents.own;
        rows.forEach((row, i) => {
          const square = probed.reduce((sum, each) => sum + each[i] ** 2, 0) / (exact ? 1 : PROBES);
          means.add(row, square === 0 ? 0 : along[i] / (Math.sqrt(square) * length));
        });
      }
      disposeTree(probes);
      return means.means();
    }),
};

/** Σ over checkpoints of rate·∇Pos_n(θ_c)·∇L_val(θ_c). */
export const tracIn: Method = {
  name: 'tracin',
  about: 'Σ rate·∇Pos·∇L_val over checkpoints',
  needs: ['evaluation', 'checkpoints'],
  scores: async (task) => {
    if (task.checkpoints.length === 0) throw new EcifError('tracin: no checkpoints; give those of training');
    const sums = new Float64Array(task.count);
    for (const { theta, rate } of task.checkpoints) {
      const dots = await dotAt(task, theta);
      dots.forEach((value, row) => (sums[row] += rate * value));
    }
    return sums;
  },
};
