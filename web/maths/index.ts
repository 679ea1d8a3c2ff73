// Every function that the page can call.

import { batchFound } from './batch.ts';
import { computation } from './computation.ts';
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
  ...TRACE,
} as const;
