// The two ends of every comparison: scores that know nothing, and training again without each pair.

import { createRng } from '../../array/rng.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import { withoutRows } from '../streamed-removal.ts';
import { evaluationLoss, type Method } from './method.ts';

/** Normal numbers from the seed. */
export const random: Method = {
  name: 'random',
  about: 'normal numbers',
  needs: [],
  scores: ({ count, seed }) => {
    const rng = createRng(seed);
    return Promise.resolve(Float64Array.from({ length: count }, () => rng.normal()));
  },
};

/** The change itself: L_val after training on, from θ̂, without the pair, less L_val at θ̂. */
export const retraining: Method = {
  name: 'retraining',
  about: 'L_val retrained without the pair − L_val',
  needs: ['evaluation', 'retraining'],
  scores: async (task) => {
    const before = await evaluationLoss(task, task.theta);
    const changes = new Float64Array(task.count);
    for (let row = 0; row < task.count; row++) {
      const theta = await task.retrain(withoutRows(task.loss, [row]), task.theta);
      changes[row] = (await evaluationLoss(task, theta)) - before;
      disposeTree(theta);
    }
    return changes;
  },
};
