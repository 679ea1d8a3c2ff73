// Chapter 6: the parameters of its figure.

import type { Host } from '../app/figure.ts';
import type { ValuesOf } from '../app/params.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import { FIRST_ASKED, MOST_SWAPS, TRACE_PAIRS } from '../maths/trace-pairs.ts';

/** The place that stands for the reader's own picture. */
export const OWN = EMOJI.length;
/** Stands for the caption that suits the picture: its own, or for a picture of the reader what the model says. */
export const SUITS = EMOJI.length;

export const PARAMS = {
  /** Whether the model is loaded. */
  on: { kind: 'flag', default: false },
  swaps: { kind: 'whole', least: 0, most: MOST_SWAPS, default: MOST_SWAPS },
  picture: { kind: 'whole', least: 0, most: OWN, default: FIRST_ASKED },
  caption: { kind: 'whole', least: 0, most: SUITS, default: SUITS },
  by: { kind: 'choice', choices: ['relative', 'score'], default: 'relative' },
  remove: { kind: 'set', most: TRACE_PAIRS.length - 1, size: TRACE_PAIRS.length, default: [] },
  retrain: { kind: 'flag', default: false },
} as const;

export type TraceValues = ValuesOf<typeof PARAMS>;
export type TraceHost = Host<typeof PARAMS>;

/** What ends with another question. */
export const FRESH = { remove: [], retrain: false } as const;
