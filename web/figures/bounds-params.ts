// Parameters of the figure of chapter 4, and the questions that follow from them.

import type { ValuesOf } from '../app/params.ts';
import { BOUNDS_REMOVED } from '../maths/bounds-problems.ts';
import type { BoundsAsked } from '../maths/bounds.ts';

export const PARAMS = {
  problem: { kind: 'choice', choices: ['emoji', 'line'], default: 'emoji' },
  estimator: { kind: 'choice', choices: ['corrected', 'exact', 'newton'], default: 'corrected' },
  features: { kind: 'whole', least: 2, most: 6, default: 2 },
  t: { kind: 'number', least: 0.25, most: 4, default: 1 },
  decay: { kind: 'number', least: 1e-4, most: 100, default: 10 },
  removed: { kind: 'whole', least: 1, most: BOUNDS_REMOVED.length, default: 1 },
} as const;

export type Values = ValuesOf<typeof PARAMS>;

/** Decays of the curve, equally far apart in their logarithms. */
const DECAYS = Array.from({ length: 16 }, (_, i) => Number((1e-4 * 10 ** (0.4 * i)).toPrecision(4)));

/** Questions of the figure: the bounds where the sliders stand, over the decay, over the number removed. */
export function questionsOf({ problem, estimator, features, t, decay, removed: some }: Values) {
  const removed = problem === 'line' ? 1 : some;
  const of = (at: BoundsAsked['at']): BoundsAsked => ({ problem, estimator, features, temperature: t, at });
  return {
    here: of([{ decay, removed }]),
    byDecay: of(DECAYS.map((one) => ({ decay: one, removed }))),
    byRemoved: of(BOUNDS_REMOVED.map((_, i) => ({ decay, removed: i + 1 }))),
    loss: { estimator, temperature: t, decay },
  };
}
