// Every function that the page can call.

import { batchFound } from './batch.ts';
import { leftOut, removalFound, trainedModel } from './removal.ts';
import { rolesFound } from './roles.ts';
import { scratchFound } from './scratch.ts';
import { scratchOp } from './scratch-op.ts';

/** By name; arguments and results are plain data. */
export const FUNCTIONS = {
  batch: batchFound,
  roles: rolesFound,
  trained: trainedModel,
  removal: removalFound,
  leftOut,
  scratch: scratchFound,
  scratchOp,
} as const;
