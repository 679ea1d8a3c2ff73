// The options of `ecif trace`.

import { RUNGS } from '../../ecif/rungs.ts';
import type { OptionSpecs, OptionValues } from '../args.ts';
import { PART_OPTIONS } from '../runs/data-options.ts';
import { RUNG_OPTIONS } from '../remove/options.ts';
import { COMMON_OPTIONS, SOLVER_OPTIONS } from '../score/options.ts';

/** Every option of the command; split and format are of the queries. */
export const TRACE_OPTIONS = {
  queries: { kind: 'text', label: 'DATA', help: 'pairs whose pictures are asked about' },
  ...PART_OPTIONS,
  against: {
    kind: 'choice',
    choices: ['auto', 'classes', 'captions'],
    default: 'auto',
    help: 'what a picture may be: the classes of DATA, or its captions; auto: classes where every pair has a label',
  },
  ids: { kind: 'text', label: 'LIST', help: 'only these queries, mistaken or not, with commas between' },
  all: { kind: 'flag', help: 'queries that are answered rightly too' },
  most: { kind: 'number', whole: true, least: 1, default: 20, help: 'queries at most, those of the largest loss' },
  top: { kind: 'number', whole: true, least: 1, most: 1000, default: 10, help: 'sources on either side' },
  by: {
    kind: 'choice',
    choices: ['score', 'relative'],
    default: 'score',
    help: 'what orders the sources: the predicted change, or that relative to how far a pair moves the model',
  },
  probes: {
    kind: 'number',
    whole: true,
    least: 5,
    most: 1e5,
    default: 16,
    help: 'random probes for relative scores; models of up to 100 parameters need none',
  },
  out: { kind: 'text', label: 'FILE', help: 'file to write, .json; RUN/trace.json unless given' },
  ...RUNG_OPTIONS,
  rung: {
    kind: 'choice',
    choices: [...RUNGS, 'none'],
    default: 'rescaled',
    help: 'how the sources against the truth are removed to see what that does; none leaves it out',
  },
  ...SOLVER_OPTIONS,
  tolerance: { ...SOLVER_OPTIONS.tolerance, help: 'relative residual of the solves for scores' },
  ...COMMON_OPTIONS,
} as const satisfies OptionSpecs;

/** Their values. */
export type TraceSettings = OptionValues<typeof TRACE_OPTIONS>;
