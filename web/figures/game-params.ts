// Parameters of the game of chapter 5, and what the detectors are called.

import type { ValuesOf } from '../app/params.ts';
import type { Detector, GameAsked } from '../maths/game.ts';
import type { Marker } from '../../src/report/series-style.ts';

const MOST_CARDS = 36;

export const PARAMS = {
  seed: { kind: 'whole', least: 1, most: 9999, default: 1 },
  cards: { kind: 'whole', least: 12, most: MOST_CARDS, default: 24 },
  swapped: { kind: 'whole', least: 2, most: 10, default: 6 },
  decay: { kind: 'number', least: 0.1, most: 100, default: 1 },
  marks: { kind: 'set', most: MOST_CARDS - 1, size: MOST_CARDS, default: [] },
  shown: { kind: 'flag', default: false },
  many: { kind: 'flag', default: false },
} as const;

export type Values = ValuesOf<typeof PARAMS>;

/** Pairs of a batch, and the temperature of the model. */
const [BATCH, TEMPERATURE] = [8, 1];

/** What the machine is asked. */
export const questionOf = ({ seed, cards, swapped, decay }: Values): GameAsked => ({
  ...{ seed, cards, swapped, decay, batch: BATCH, temperature: TEMPERATURE },
});

/** The cards that the player marked. */
export const marksIn = ({ marks, cards }: Values): number[] => marks.filter((card) => card < cards);

/** How a detector is called and drawn. */
export interface Look {
  readonly name: string;
  readonly about: string;
  readonly colour: string;
  readonly marker: Marker;
  readonly dash: string;
}

export const LOOKS: Readonly<Record<Detector, Look>> = {
  ecif: {
    ...{ name: 'ECIF', about: 'influence on clean pairs' },
    ...{ colour: 'c-blue', marker: 'square', dash: '' },
  },
  self: {
    ...{ name: 'self-influence', about: 'influence on its own cosine' },
    ...{ colour: 'c-sky', marker: 'pentagon', dash: '6 2 2 2 2 2' },
  },
  clipscore: {
    ...{ name: 'CLIPScore', about: 'cosine of picture and caption' },
    ...{ colour: 'c-red', marker: 'cross', dash: '7 4' },
  },
  loss: {
    ...{ name: 'loss', about: 'its own contrastive loss' },
    ...{ colour: 'c-gold', marker: 'diamond', dash: '4 3' },
  },
  match: {
    ...{ name: 'match', about: 'a matching of all captions with all pictures' },
    ...{ colour: 'c-green', marker: 'triangle', dash: '10 3 2 3' },
  },
  combined: {
    ...{ name: 'combined', about: 'match, ECIF and the cosine left out of training' },
    ...{ colour: 'c-purple', marker: 'down', dash: '12 3' },
  },
};
