// Every function that the page can call.

import { batchFound } from './batch.ts';
import { lineFound } from './bounds-line.ts';
import { boundsFound } from './bounds.ts';
import { computation } from './computation.ts';
import { roundsFound } from './game-rounds.ts';
import { gameFound } from './game.ts';
import { leftOut, removalFound, trainedModel } from './removal.ts';
import { rolesFound } from './roles.ts';
import { scratchOp } from './scratch-op.ts';
import { scratchFound } from './scratch.ts';
import type * as Trace from './trace.ts';

/** Chapter 6, whose code of CLIP is fetched when it is first asked for. */
const TRACE = {
  traceAnswer: computation<Trace.TraceAsked, Trace.TraceAnswer>({
    wants: 'any',
    run: async (...asked) => (await import('./trace.ts')).traceAnswer(...asked),
  }),
  traceSources: computation<Trace.TraceAsked, Trace.TraceSources>({
    wants: 'any',
    run: async (...asked) => (await import('./trace.ts')).traceSources(...asked),
  }),
  traceRemoval: computation<Trace.TraceRemovalAsked, Trace.TraceRemoval>({
    wants: 'any',
    run: async (...asked) => (await import('./trace.ts')).traceRemoval(...asked),
  }),
};

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
  ...TRACE,
  scratch: scratchFound,
  scratchOp,
} as const;
