// A round of the game of chapter 5: which pairs are on the table, whose captions were swapped; the same for the same seed.

import { createRng } from '../../src/array/rng.ts';
import { EMOJI } from '../data/emoji.gen.ts';

/** What a round is drawn from. */
export interface RoundAsked {
  readonly seed: number;
  /** Cards on the table. */
  readonly cards: number;
  /** Captions that are swapped among each other, at least 2. */
  readonly swapped: number;
}

/** A round. */
export interface Round {
  /** Picture of each card, by its place in `EMOJI`. */
  readonly pictures: readonly number[];
  /** Whose caption each card has. */
  readonly captions: readonly number[];
  /** Whether that is another's. */
  readonly wrong: readonly boolean[];
  /** All other pairs, which are clean: what influence is measured on. */
  readonly validation: readonly number[];
}

/** Draws a round: `swapped` of the cards hand their captions around in a circle, so that each of them has a wrong one. */
export function roundOf({ seed, cards, swapped }: RoundAsked): Round {
  const rng = createRng(seed);
  const drawn = Array.from(rng.permutation(EMOJI.length));
  const pictures = drawn.slice(0, cards);
  const circle = Array.from(rng.permutation(cards)).slice(0, Math.min(swapped, cards));
  const captions = [...pictures];
  circle.forEach((card, i) => (captions[card] = pictures[circle[(i + 1) % circle.length]]));
  return {
    ...{ pictures, captions, wrong: captions.map((caption, i) => caption !== pictures[i]) },
    validation: drawn.slice(cards).toSorted((a, b) => a - b),
  };
}
