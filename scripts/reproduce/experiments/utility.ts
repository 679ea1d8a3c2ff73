// Experiment 1: a tenth of the pairs removed, random, valuable or harmful ones, by training again and by edits.

import { disposeTree } from '../../../src/autodiff/tensor.ts';
import { cleanOf } from '../bench.ts';
import { atRandom, firstBy, shareOf } from '../chosen.ts';
import { type Edited, editAll, EDITS } from '../edits.ts';
import type { Measures } from '../measure.ts';
import type { RunAbout } from '../runs.ts';
import { REMOVED } from '../settings.ts';
import type { Retrained } from '../subject.ts';
import type { Experiment } from './experiment.ts';

/** Which pairs are removed. */
export const REMOVALS = ['random', 'valuable', 'harmful'] as const;

/** One removal. */
export interface Removed {
  readonly pairs: number;
  readonly retrained: Retrained;
  readonly edits: Readonly<Record<string, Edited>>;
}

/** What the experiment finds. */
export interface Utility {
  readonly base: RunAbout;
  /** Nothing adapted, and trained on all pairs. */
  readonly before: Measures;
  readonly trained: Measures;
  readonly removals: Readonly<Record<(typeof REMOVALS)[number], Removed>>;
}

export const utility: Experiment<Utility> = {
  number: 1,
  name: 'utility',
  about: 'random, valuable and harmful tenth removed: training again against edits',
  run: async (bench, subjectOf, { seed }) => {
    const subject = await subjectOf(cleanOf(bench));
    const many = shareOf(REMOVED, subject.count);
    const { values } = await subject.scores('ecif');
    const rows = {
      random: atRandom(subject.count, many, seed, 0),
      valuable: firstBy(values, 'highest', many),
      harmful: firstBy(values, 'lowest', many),
    };
    const removals = {} as Record<(typeof REMOVALS)[number], Removed>;
    for (const name of REMOVALS) {
      const retrained = await subject.retrain(rows[name]);
      removals[name] = {
        pairs: many,
        retrained,
        edits: await editAll(subject, rows[name], retrained, EDITS, bench.progress),
      };
    }
    const start = subject.run.model.start();
    const before = await subject.measure(start);
    disposeTree(start);
    return { base: subject.trained.about, before, trained: await subject.measure(subject.run.theta), removals };
  },
};
