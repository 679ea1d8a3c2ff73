// The options of `ecif remove`.

import { RUNGS } from '../../ecif/rungs.ts';
import { type OptionSpecs, type OptionValues, UsageError } from '../args.ts';
import { PART_OPTIONS } from '../runs/data-options.ts';
import { COMMON_OPTIONS, SOLVER_OPTIONS } from '../score/options.ts';

/** How pairs are taken from a trained model; also of `ecif trace`. */
export const RUNG_OPTIONS = {
  rung: {
    kind: 'choice',
    choices: RUNGS,
    default: 'rescaled',
    help: 'estimator of the edit, from one solve to several Newton steps',
  },
  steps: { kind: 'number', whole: true, least: 1, most: 1000, help: 'steps of newton-k (5), vectors of krylov (2)' },
  'edit-tolerance': {
    kind: 'number',
    least: 1e-12,
    most: 0.9,
    help: 'relative residual of the solves of an edit; 0.3 unless given, 0.01 of krylov and woodbury, which add solutions up',
  },
} as const satisfies OptionSpecs;

/** What an edit is solved to. */
export function editTolerance({
  rung,
  'edit-tolerance': given,
}: {
  readonly rung: string;
  readonly 'edit-tolerance'?: number | undefined;
}): number {
  return given ?? (rung === 'krylov' || rung === 'woodbury' ? 0.01 : 0.3);
}

/**
 * Refuses options of an edit where none is made.
 * @param given names of the options on the command line
 * @throws UsageError
 */
export function requireEditUse(rung: string, given: ReadonlySet<string>): void {
  const odd = Object.keys(RUNG_OPTIONS).find((name) => name !== 'rung' && given.has(name));
  if (rung === 'none' && odd !== undefined)
    throw new UsageError(`--${odd}: no edit is made with --rung none; leave it out`);
}

/** Every option of the command; split and format are of the validation pairs. */
export const REMOVE_OPTIONS = {
  ids: { kind: 'text', label: 'LIST', help: 'pairs to remove, with commas between' },
  'ids-file': { kind: 'text', label: 'FILE', help: 'pairs to remove, one id a line or a JSON array in a .json file' },
  where: {
    kind: 'text',
    label: 'QUERY',
    help: "pairs to remove by a file of scores: 'lowest 10%', 'highest 5 by self', 'probability > 0.5 and score < 0', 'lowest 20 where …'",
  },
  scores: {
    kind: 'text',
    label: 'FILE',
    help: 'scores that --where looks at, .parquet, .csv or .jsonl; RUN/scores.parquet or RUN/detect.csv unless given',
  },
  target: { kind: 'text', label: 'NAME', help: 'which scores --where looks at, in a file of several targets' },
  ...RUNG_OPTIONS,
  validation: { kind: 'text', label: 'DATA', help: 'pairs to measure the model by, before and after' },
  ...PART_OPTIONS,
  verify: { kind: 'flag', help: 'train again without the pairs, by the recipe of the run, and compare' },
  out: { kind: 'text', label: 'DIR', help: 'folder of the edit; RUN/removals/NAME unless given' },
  'dry-run': { kind: 'flag', help: 'write the edit, and do not put it in force' },
  force: { kind: 'flag', help: 'put the edit in force although it is farther from a minimum than the trained model' },
  undo: { kind: 'text', label: 'NAME', help: 'take the edit in force back, by its name or folder, or last' },
  ...SOLVER_OPTIONS,
  tolerance: { ...SOLVER_OPTIONS.tolerance, help: 'relative residual of the solve for the predicted change' },
  ...COMMON_OPTIONS,
} as const satisfies OptionSpecs;

/** Their values. */
export type RemoveSettings = OptionValues<typeof REMOVE_OPTIONS>;
