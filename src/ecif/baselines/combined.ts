// Influence and fit together, by ranks: a detector of mismatched pairs, no prediction of a change.

import { midranks } from '../metrics/ranks.ts';
import { ecif } from './influence.ts';
import type { Method } from './method.ts';
import { ownLoss } from './similarity.ts';

/** The mean of the ranks by influence and by the pair's own loss, over the number of pairs. */
export const ecifAndLoss: Method = {
  name: 'ecif+loss',
  about: 'mean of the ranks by ecif and by loss',
  needs: ['evaluation', 'curvature'],
  scores: async (task) => {
    const [influence, fit] = [midranks(await ecif.scores(task)), midranks(await ownLoss.scores(task))];
    return influence.map((rank, row) => (rank + fit[row]) / (2 * task.count));
  },
};
