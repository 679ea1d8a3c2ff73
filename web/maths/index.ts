// Every function that the page can call.

import { batchFound } from './batch.ts';
import { scratchOp } from './scratch-op.ts';
import { scratchFound } from './scratch.ts';

/** By name; arguments and results are plain data. */
export const FUNCTIONS = {
  batch: batchFound,
  scratch: scratchFound,
  scratchOp,
} as const;
