// Every function that the page can call.

import { batchFound } from './batch.ts';

/** By name; arguments and results are plain data. */
export const FUNCTIONS = {
  batch: batchFound,
} as const;
