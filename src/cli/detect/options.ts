// The options of `ecif detect`.

import type { OptionSpecs, OptionValues } from '../args.ts';
import { PART_OPTIONS } from '../runs/data-options.ts';
import { COMMON_OPTIONS, SOLVER_OPTIONS } from '../score/options.ts';

/** What pairs may be ranked by. */
export const SIGNALS = ['match', 'fit', 'score', 'left-out', 'clipscore', 'self'] as const;
export type SignalName = (typeof SIGNALS)[number];

/** Every option of the command; split and format are of the validation pairs. */
export const DETECT_OPTIONS = {
  validation: {
    kind: 'text',
    label: 'DATA',
    help: 'clean pairs; pairs are then also judged by what they do to these; the scores go to RUN/scores.parquet, or to RUN/detect-scores.parquet where that holds others',
  },
  ...PART_OPTIONS,
  by: {
    kind: 'choice',
    choices: ['combined', ...SIGNALS],
    default: 'match',
    help: 'what pairs are ranked by: one signal, or match, score and left-out together, as far as they are there',
  },
  probes: {
    kind: 'number',
    whole: true,
    least: 0,
    most: 1e5,
    default: 0,
    help: 'random probes for self-influence, 5 or more; 0: none, or 16 where --by needs them',
  },
  candidates: {
    kind: 'number',
    whole: true,
    least: 2,
    most: 1e6,
    default: 2048,
    help: 'pairs that each pair is matched and competes with at most, drawn where there are more',
  },
  top: { kind: 'number', whole: true, least: 1, most: 1000, default: 20, help: 'suspects to explain' },
  truth: {
    kind: 'text',
    label: 'FILE',
    help: 'CSV with id and swapped (yes or no) to judge by; RUN/truth.csv where training made the noise',
  },
  ...SOLVER_OPTIONS,
  ...COMMON_OPTIONS,
} as const satisfies OptionSpecs;

/** Their values. */
export type DetectSettings = OptionValues<typeof DETECT_OPTIONS>;
