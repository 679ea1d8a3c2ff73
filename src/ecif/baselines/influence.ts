// Influence with every curvature: one solve for w = H⁻¹·∇L_val, one sweep along w for the scores of all pairs.

import { Flat } from '../../autodiff/flat.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import { cgSolver, lissaSolver } from '../curvature/iterative.ts';
import { diagonalOf, ekfacOf, identityOf, kfacOf } from '../curvature/kronecker.ts';
import { lograOf } from '../curvature/logra.ts';
import { lanczosOf } from '../curvature/low-rank.ts';
import type { Decomposition } from '../curvature/record.ts';
import type { CurvatureSolver } from '../solver.ts';
import type { StreamedPair } from '../streamed-scores.ts';
import type { NegForm } from '../terms.ts';
import { meansAlong } from './by-row.ts';
import { type Method, type ScoringTask, withEvaluationGradient } from './method.ts';

/** Makes the curvature at θ̂ ready to be inverted. */
type MakeSolver = <T, B>(task: ScoringTask<T, B>) => Promise<CurvatureSolver<T>>;

/** A decomposition and its solver as one. */
async function solverOf<T>(made: Promise<Decomposition<T>>): Promise<CurvatureSolver<T>> {
  const decomposition = await made;
  return { ...decomposition.solver(), dispose: () => decomposition.dispose() };
}

/** Terms of LiSSA's series at most; what is reached by then is taken. */
const LISSA_TERMS = 200;
/** Eigenpairs that Lanczos keeps, as far as there are parameters. */
const RANK = 16;
/** Rows and columns that LoGra keeps of a matrix. */
const KEPT = 4;

/** Ways to invert the curvature. */
const CURVATURES = {
  hessian: ({ loss, theta }) => Promise.resolve(cgSolver(loss, theta)),
  'gauss-newton': ({ loss, theta }) => Promise.resolve(cgSolver(loss, theta, { curvature: 'gauss-newton' })),
  ekfac: ({ loss, theta, seed }) => solverOf(ekfacOf(loss, theta, { seed })),
  kfac: ({ loss, theta, seed }) => solverOf(kfacOf(loss, theta, { seed })),
  diagonal: ({ loss, theta, seed }) => solverOf(diagonalOf(loss, theta, { seed })),
  lanczos: ({ loss, theta, seed }) =>
    solverOf(lanczosOf(loss, theta, { rank: Math.min(RANK, new Flat(theta).size), seed })),
  logra: ({ loss, theta, seed }) => solverOf(lograOf(loss, theta, { size: KEPT, init: 'pca', seed })),
  lissa: ({ loss, theta, seed }) => lissaSolver(loss, theta, { maxIterations: LISSA_TERMS, unfinished: 'keep', seed }),
  identity: ({ loss, theta }) => solverOf(identityOf(loss, theta)),
} satisfies Record<string, MakeSolver>;

/** Which parts of a pair's influence count. */
interface Counted {
  /** How negatives count; `corrected` unless told. */
  readonly form?: NegForm;
  /** The whole score, or its part as positive alone; `score` unless told. */
  readonly part?: keyof Pick<StreamedPair['scores'][number], 'score' | 'positive'>;
}

/** w·∇Pos_n + w·∇Neg_n with w = H⁻¹·∇L_val. */
const influence = (
  name: string,
  about: string,
  curvature: keyof typeof CURVATURES,
  { form = 'corrected', part = 'score' }: Counted = {},
): Method => ({
  name,
  about,
  needs: curvature === 'identity' ? ['evaluation'] : ['evaluation', 'curvature'],
  scores: async (task) => {
    const solver = await CURVATURES[curvature](task);
    const w = await withEvaluationGradient(task, task.theta, (gradient) => solver.solve(gradient));
    const scores = await meansAlong(task, task.theta, w, (pair) => pair.scores[0][part], form);
    disposeTree(w);
    solver.dispose();
    return scores;
  },
});

/** The exact score: the Hessian, negatives to first order. */
export const ecif = influence('ecif', 'H the Hessian; ∇Pos + ∇Neg', 'hessian');

/** As `ecif`, the negatives without linearisation: Σ −log(1 − P). */
export const ecifExact = influence('ecif-exact', 'as ecif, Neg = Σ −log(1 − P)', 'hessian', { form: 'exact' });

/** The formula as the paper prints it, negatives inverted. */
export const ecifPublished = influence('ecif-published', 'as ecif, Neg = Σ 1/P as printed', 'hessian', {
  form: 'published',
});

/** The score without what the pair does as a negative. */
export const ecifPositive = influence('ecif-positive', 'as ecif without ∇Neg', 'hessian', { part: 'positive' });

/** The exact terms with every approximation of the curvature. */
export const approximations: readonly Method[] = (
  ['gauss-newton', 'ekfac', 'kfac', 'diagonal', 'lanczos', 'logra', 'lissa'] as const
).map((curvature) => influence(`ecif-${curvature}`, `as ecif, H by ${curvature}`, curvature));

/** The curvature that ignores curvature: what every approximation has to beat. */
export const identityCurvature = influence('identity', 'as ecif, H = 1 + δ', 'identity');

/** IF-EKFAC as the paper compares with: EK-FAC curvature, the pair's own loss alone. */
export const ifEkfac = influence('if-ekfac', 'EK-FAC; ∇Pos alone', 'ekfac', { part: 'positive' });
