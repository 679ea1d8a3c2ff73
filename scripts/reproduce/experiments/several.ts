// Experiment 6: a few percent of the pairs removed at random, by training again and by edits.

import { cleanOf } from '../bench.ts';
import { atRandom, shareOf } from '../chosen.ts';
import { type Edited, type EditName, editAll } from '../edits.ts';
import type { Measures } from '../measure.ts';
import type { RunAbout } from '../runs.ts';
import type { Retrained } from '../subject.ts';
import type { Experiment } from './experiment.ts';

/** One share of the pairs. */
export interface SeveralPoint {
  readonly share: number;
  readonly removed: number;
  readonly retrained: Retrained;
  readonly edits: Readonly<Record<string, Edited>>;
}

/** What the experiment finds. */
export interface Several {
  readonly base: RunAbout;
  readonly trained: Measures;
  readonly points: readonly SeveralPoint[];
}

/** Edits that are compared. */
export const SEVERAL_EDITS: readonly EditName[] = ['ecif', 'published', 'newton'];

export const several: Experiment<Several> = {
  number: 6,
  name: 'several',
  about: '1 to 7 % of the pairs removed at random: training again against edits',
  run: async (bench, subjectOf, { seed }) => {
    const { sizes, progress } = bench;
    const subject = await subjectOf(cleanOf(bench));
    const points: SeveralPoint[] = [];
    for (const [i, share] of sizes.several.entries()) {
      const rows = atRandom(subject.count, shareOf(share, subject.count), seed, 50 + i);
      const retrained = await subject.retrain(rows);
      const edits = await editAll(subject, rows, retrained, SEVERAL_EDITS, progress);
      points.push({ share, removed: rows.length, retrained, edits });
    }
    return { base: subject.trained.about, trained: await subject.measure(subject.run.theta), points };
  },
};
