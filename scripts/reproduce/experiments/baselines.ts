// Experiment 5: the least valuable tenth by each method left out of training.

import { swapped } from '../bench.ts';
import { firstBy, shareOf } from '../chosen.ts';
import type { Measures } from '../measure.ts';
import type { RunAbout } from '../runs.ts';
import { REMOVED, REMOVING, SWAPPED } from '../settings.ts';
import type { Retrained } from '../subject.ts';
import type { Experiment } from './experiment.ts';

/** A removal by one method. */
export interface RemovedBy {
  readonly retrained: Retrained;
  /** Wrong pairs among the removed. */
  readonly wrong: number;
  /** What its scores took. */
  readonly seconds: number;
}

/** What the experiment finds. */
export interface Baselines {
  readonly base: RunAbout;
  readonly trained: Measures;
  readonly removed: number;
  readonly methods: Readonly<Record<string, RemovedBy>>;
}

export const baselines: Experiment<Baselines> = {
  number: 5,
  name: 'baselines',
  about: 'the least valuable tenth by each method left out of training',
  run: async (_, subjectOf) => {
    const subject = await subjectOf(swapped(SWAPPED));
    const removed = shareOf(REMOVED, subject.count);
    const methods: Record<string, RemovedBy> = {};
    for (const name of REMOVING) {
      const { values, seconds } = await subject.scores(name);
      const rows = firstBy(values, 'lowest', removed);
      const wrong = rows.filter((row) => subject.bad?.[row]).length;
      methods[name] = { retrained: await subject.retrain(rows), wrong, seconds };
    }
    return { base: subject.trained.about, trained: await subject.measure(subject.run.theta), removed, methods };
  },
};
