// Chapter 5 over many rounds: one round is luck, their mean says which detector is better.

import { computation } from './computation.ts';
import { DETECTORS, type Detector, type GameAsked, gameFound } from './game.ts';

/** Rounds asked for: those of the seeds from `seed` on. */
export interface RoundsAsked extends GameAsked {
  readonly rounds: number;
}

/** What came of them. */
export interface RoundsFound {
  readonly rounds: number;
  /** Mean AUROC of each detector. */
  readonly means: Readonly<Record<Detector, number>>;
  /** Rounds in which the cosine had the higher AUROC, and those in which influence had. */
  readonly cosineBetter: number;
  readonly influenceBetter: number;
}

export const roundsFound = computation<RoundsAsked, RoundsFound>({
  wants: 'any',
  run: async (device, { rounds, ...asked }, report) => {
    const all: Readonly<Record<Detector, number>>[] = [];
    for (let i = 0; i < rounds; i++) {
      report('playing…', i / rounds);
      const { detections } = await gameFound.run(device, { ...asked, seed: asked.seed + i }, () => undefined);
      all.push(Object.fromEntries(detections.map(({ detector, auroc }) => [detector, auroc])) as (typeof all)[number]);
    }
    const mean = (of: Detector): number => all.reduce((sum, one) => sum + one[of], 0) / rounds;
    return {
      rounds,
      means: Object.fromEntries(DETECTORS.map((of) => [of, mean(of)])) as RoundsFound['means'],
      cosineBetter: all.filter(({ clipscore, ecif }) => clipscore > ecif).length,
      influenceBetter: all.filter(({ clipscore, ecif }) => ecif > clipscore).length,
    };
  },
});
