// The options of `ecif curves`.

import { RUNGS } from '../../ecif/rungs.ts';
import type { OptionSpecs, OptionValues } from '../args.ts';
import { PART_OPTIONS } from '../runs/data-options.ts';
import { RUNG_OPTIONS } from '../remove/options.ts';
import { COMMON_OPTIONS, SOLVER_OPTIONS } from '../score/options.ts';

/** Edits have a tolerance of their own. */
const { tolerance: _tolerance, ...EDIT_SOLVER_OPTIONS } = SOLVER_OPTIONS;

/** Every option of the command; split and format are of the validation pairs. */
export const CURVES_OPTIONS = {
  validation: { kind: 'text', label: 'DATA', help: 'pairs to measure the models by, those that the scores are about' },
  ...PART_OPTIONS,
  scores: {
    kind: 'text',
    label: 'FILE',
    help: 'scores of all pairs, .parquet, .csv or .jsonl; RUN/scores.parquet or RUN/detect.csv unless given',
  },
  target: { kind: 'text', label: 'NAME', help: 'which scores, in a file of several targets' },
  shares: { kind: 'text', label: 'LIST', default: '0.1,0.2', help: 'shares of all pairs to leave out' },
  ends: {
    kind: 'text',
    label: 'LIST',
    default: 'harmful,valuable,random',
    help: 'which pairs: harmful (lowest score), valuable (highest), random',
  },
  by: {
    kind: 'text',
    label: 'LIST',
    default: 'score',
    help: 'columns that order the pairs, a curve each; of suspicion and probability the highest is harmful',
  },
  draws: { kind: 'number', whole: true, least: 1, most: 100, default: 1, help: 'draws of random pairs, of each share' },
  measure: {
    kind: 'choice',
    choices: ['auto', 'accuracy', 'r1', 'r5', 'loss'],
    default: 'auto',
    help: 'what the curves show; auto: accuracy where every validation pair has a label, else r5',
  },
  ...RUNG_OPTIONS,
  rung: {
    kind: 'choice',
    choices: [...RUNGS, 'none'],
    default: 'newton',
    help: 'edit that predicts the loss beside the sum of scores; none leaves it out',
  },
  ...EDIT_SOLVER_OPTIONS,
  ...COMMON_OPTIONS,
} as const satisfies OptionSpecs;

/** Their values. */
export type CurvesSettings = OptionValues<typeof CURVES_OPTIONS>;
