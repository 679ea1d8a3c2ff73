// Every function that the page can call.

import { batchFound } from './batch.ts';
import { lineFound } from './bounds-line.ts';
import { boundsFound } from './bounds.ts';
import { gameFound } from './game.ts';
import { roundsFound } from './game-rounds.ts';

/** By name; arguments and results are plain data. */
export const FUNCTIONS = {
  batch: batchFound,
  bounds: boundsFound,
  boundsLine: lineFound,
  game: gameFound,
  gameRounds: roundsFound,
} as const;
