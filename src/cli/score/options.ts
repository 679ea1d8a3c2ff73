// The options of `ecif score`.

import { type OptionSpecs, type OptionValues, UsageError } from '../args.ts';
import { PART_OPTIONS } from '../runs/data-options.ts';

/** How H⁻¹ is applied. */
export const SOLVERS = [
  'cg',
  'minres',
  'lissa',
  'dense',
  'ekfac',
  'kfac',
  'diagonal',
  'identity',
  'lanczos',
  'logra',
] as const;

/** How the curvature of a run is inverted. */
export const SOLVER_OPTIONS = {
  solver: { kind: 'choice', choices: SOLVERS, default: 'cg', help: 'how the curvature is inverted' },
  curvature: {
    kind: 'choice',
    choices: ['auto', 'hessian', 'gauss-newton'],
    default: 'auto',
    help: 'auto: of cg the Hessian where it is positive definite, else Gauss-Newton; of minres the Hessian; of others Gauss-Newton, which kfac, ekfac and diagonal stand for in any case',
  },
  damping: { kind: 'number', least: 0, default: 0, help: 'added to the curvature beyond δ' },
  tolerance: { kind: 'number', least: 1e-12, default: 1e-3, help: 'relative residual of cg, minres and lissa' },
  'max-iterations': { kind: 'number', whole: true, least: 1, default: 1000, help: 'of cg, minres and lissa, at most' },
  preconditioner: {
    kind: 'choice',
    choices: ['auto', 'joint', 'ekfac', 'none'],
    default: 'auto',
    help: 'of cg; joint: both matrices of a low-rank update in one block, made for the Hessian; auto: joint where a solve without it takes long',
  },
  rank: {
    kind: 'number',
    whole: true,
    least: 1,
    most: 1e5,
    default: 32,
    help: 'vectors of lanczos; side of each logra projection',
  },
  init: {
    kind: 'choice',
    choices: ['random', 'orthogonal', 'pca'],
    default: 'random',
    help: 'how the projections of logra are drawn; pca: leading eigenvectors of the Kronecker factors',
  },
} as const satisfies OptionSpecs;

/** What every question to a run may say besides. */
export const COMMON_OPTIONS = {
  seed: {
    kind: 'number',
    whole: true,
    least: 0,
    most: 2 ** 32 - 1,
    default: 0,
    help: 'of partitions, draws and probes',
  },
  'cache-mb': { kind: 'number', least: 0, default: 2048, help: 'memory for pictures and frozen layers' },
} as const satisfies OptionSpecs;

/** Parameters up to which self and relative scores may be exact. */
export const EXACT_UP_TO = 1024;

/** Every option of the command; split and format are of the validation pairs. */
export const SCORE_OPTIONS = {
  validation: { kind: 'text', label: 'DATA', help: 'pairs whose loss the scores are about' },
  ...PART_OPTIONS,
  out: {
    kind: 'text',
    label: 'FILE',
    help: 'file to write, .parquet, .csv or .jsonl; RUN/scores.parquet unless given',
  },
  targets: {
    kind: 'choice',
    choices: ['all', 'classes', 'pairs'],
    default: 'all',
    help: 'one score for all validation pairs, one for each class of them, or one for each pair',
  },
  form: {
    kind: 'choice',
    choices: ['corrected', 'exact', 'published'],
    default: 'corrected',
    help: 'how negatives count: to first order, exactly, or as the paper prints it',
  },
  ...SOLVER_OPTIONS,
  partitions: {
    kind: 'number',
    whole: true,
    least: 0,
    most: 1e5,
    default: 0,
    help: 'average over so many random partitions; 0 for those of the training run, whose curvature it is in any case',
  },
  probes: {
    kind: 'number',
    whole: true,
    least: 0,
    most: 1e5,
    words: ['exact'],
    default: 0,
    help: `random probes for self and relative scores, 5 or more; exact: a solve for each of up to ${EXACT_UP_TO} parameters; 0 leaves them out`,
  },
  top: { kind: 'number', whole: true, least: 0, most: 1000, default: 5, help: 'pairs to print at either end' },
  shard: { kind: 'text', label: 'I/N', help: 'only part I of N, from 0; ecif merge puts the files together' },
  ...COMMON_OPTIONS,
} as const satisfies OptionSpecs;

/** Their values. */
export type ScoreSettings = OptionValues<typeof SCORE_OPTIONS>;

/** What a solver is chosen by. */
export type SolverSettings = OptionValues<typeof SOLVER_OPTIONS> & Pick<ScoreSettings, 'seed'>;

/** Those of some settings that a solver is chosen by. */
export const solverSettings = (settings: SolverSettings): SolverSettings =>
  Object.fromEntries(
    [...(Object.keys(SOLVER_OPTIONS) as (keyof SolverSettings)[]), 'seed' as const].map((name) => [
      name,
      settings[name],
    ]),
  ) as unknown as SolverSettings;

/** Solvers that iterate up to a tolerance. */
export const ITERATIVE: readonly string[] = ['cg', 'minres', 'lissa'];

/** Solvers that an option is of, where it is not of all. */
const ONLY_OF: Readonly<Record<string, readonly string[]>> = {
  preconditioner: ['cg'],
  tolerance: ITERATIVE,
  'edit-tolerance': ITERATIVE,
  'max-iterations': ITERATIVE,
  rank: ['lanczos', 'logra'],
  init: ['logra'],
};

/** Solvers that have no Hessian. */
const WITHOUT_HESSIAN: readonly string[] = ['ekfac', 'kfac', 'diagonal', 'identity'];

/**
 * Refuses options that would change nothing.
 * @param given names of the options on the command line
 * @throws UsageError
 */
export function requireSolverUse(
  { solver, curvature }: Pick<SolverSettings, 'solver' | 'curvature'>,
  given: ReadonlySet<string>,
): void {
  for (const [name, solvers] of Object.entries(ONLY_OF)) {
    if (!given.has(name) || solvers.includes(solver)) continue;
    throw new UsageError(`--${name}: only of --solver ${solvers.join(', ')}, not of ${solver}; leave it out`);
  }
  if (curvature === 'hessian' && WITHOUT_HESSIAN.includes(solver)) {
    throw new UsageError(`--curvature hessian: ${solver} knows Gauss-Newton alone; take cg, minres, dense or lanczos`);
  }
}
