// Every function that the page can call.

import { batchFound } from './batch.ts';
import { lineFound } from './bounds-line.ts';
import { boundsFound } from './bounds.ts';
import { roundsFound } from './game-rounds.ts';
import { gameFound } from './game.ts';
import { leftOut, removalFound, trainedModel } from './removal.ts';
import { rolesFound } from './roles.ts';

/** By name; arguments and results are plain data. */
export const FUNCTIONS = {
  batch: batchFound,
  roles: rolesFound,
  trained: trainedModel,
  removal: removalFound,
  leftOut,
  bounds: boundsFound,
  boundsLine: lineFound,
  game: gameFound,
  gameRounds: roundsFound,
} as const;
