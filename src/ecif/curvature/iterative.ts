// Solving with the curvature by products alone: conjugate gradients, MINRES, LiSSA.

import { EcifError } from '../../array/errors.ts';
import { createRng } from '../../array/rng.ts';
import { Flat } from '../../autodiff/flat.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { CgResult, CgState } from '../../linalg/cg.ts';
import { lissa, type LissaPosition } from '../../linalg/lissa.ts';
import { minres } from '../../linalg/minres.ts';
import { extremeEigenvalues } from '../../linalg/power.ts';
import { treeCg } from '../../linalg/tree-cg.ts';
import { treeSpace } from '../../linalg/tree-space.ts';
import type { OnRows, StreamedLoss } from '../../models/streamed.ts';
import { type ProductOptions, productsAt } from './linearized.ts';
import { batchOperator, curvatureOperator } from './products.ts';
import type { CurvatureKind, RecordedSolver, SolverRecord } from './record.ts';

/** How one solve went. */
export interface SolveRecord {
  readonly curvature: CurvatureKind;
  /** `slow` of iterations after which a preconditioner was made, and another record says how the solve went on. */
  readonly status: string;
  readonly iterations: number;
  /** ‖b − H·x‖/‖b‖ before the first iteration and after each. */
  readonly residuals: readonly number[];
}

/** A solver that iterates, and keeps a record of every solve. */
export interface IterativeSolver<T> extends RecordedSolver<T> {
  readonly history: readonly SolveRecord[];
}

/** Settings of every iterative solver. */
export interface IterativeOptions {
  /** Added to the curvature beyond δ; 0 unless told. */
  readonly damping?: number;
  /** Relative residual to reach; 1e-8 in float64 and 1e-4 in float32 unless told. */
  readonly tolerance?: number;
  /** 1000 unless told. */
  readonly maxIterations?: number;
  /** What becomes of a solve that did not get there: an error, or its last x; `throw` unless told. */
  readonly unfinished?: 'throw' | 'keep';
  onIteration?(iteration: number, residual: number): void;
}

/** Settings of {@link cgSolver}. */
export interface CgSolverOptions<T> extends IterativeOptions, ProductOptions {
  /**
   * `auto` begins with the Hessian and changes to Gauss-Newton for good where it meets a direction of curvature ≤ 0;
   * `hessian` throws there. `auto` unless told. Solutions that were given before the change are of the Hessian, as
   * `history` says of each; where all are to be of one curvature, solve with `hessian`, and again with the other if it throws.
   */
  readonly curvature?: CurvatureKind | 'auto';
  /** Any solver that stands in for the inverse; it stays the caller's. */
  readonly preconditioner?: RecordedSolver<T>;
  /** A preconditioner that is made only where a solve without one takes long; every later solve has it from the start. */
  readonly reserve?: Reserve<T>;
  /** Told after each iteration where the solve is; its vectors stay the solver's. */
  onState?(state: CgSolverState<T>): Promise<void>;
  /** Where the first solve goes on, as if it had not been interrupted. */
  readonly resume?: CgSolverState<T> | undefined;
}

/** A preconditioner in reserve. */
export interface Reserve<T> {
  /** Iterations without it. */
  readonly after: number;
  /** It stays the caller's; asked for once. */
  make(): Promise<RecordedSolver<T>>;
}

/** A solve between two iterations. */
export interface CgSolverState<T> extends CgState<T> {
  readonly curvature: CurvatureKind;
  /** Whether it has a preconditioner. */
  readonly preconditioned: boolean;
  /** How the solve went before, with another curvature or without the preconditioner. */
  readonly earlier: readonly SolveRecord[];
}

/** What all iterative solvers share: settings with nothing open, the record, what is said of a failure. */
function commonOf<T, B>(method: string, loss: StreamedLoss<T, B>, theta: T, options: IterativeOptions) {
  const { epsilon } = new Flat(theta).device;
  const { damping = 0, tolerance = Math.max(1e-8, 1024 * epsilon), maxIterations = 1000 } = options;
  const history: SolveRecord[] = [];
  const about = (curvature: CurvatureKind, more: SolverRecord['settings'] = {}): SolverRecord => ({
    ...{ method, curvature, l2: loss.l2, damping },
    settings: { tolerance, maxIterations, ...more },
  });
  /** Keeps the record; gives x, or says what is wrong with it. */
  const ended = (x: T, record: SolveRecord, fix: string): T => {
    history.push(record);
    const { status, residuals } = record;
    if (status === 'converged' || options.unfinished === 'keep') return x;
    disposeTree(x);
    throw new EcifError(`${method}: ${status} at residual ${residuals.at(-1)}, ${tolerance} asked for; ${fix}`);
  };
  const onIteration = ({ iteration, residual }: { iteration: number; residual: number }): void =>
    options.onIteration?.(iteration, residual);
  return { damping, tolerance, maxIterations, history, about, ended, onIteration };
}

/** Name and settings of a preconditioner. */
function preconditionerSettings<T>(of: RecordedSolver<T> | undefined): SolverRecord['settings'] {
  const settings = Object.entries(of?.about.settings ?? {}).map(([name, value]) => [`preconditioner.${name}`, value]);
  return { preconditioner: of?.about.method ?? null, ...Object.fromEntries(settings) };
}

/** A vector, the gradient of the objective at the solver's θ, or that of another function of the similarities. */
type RightSide<T> = { readonly b: T } | { readonly on: OnRows } | 'gradient';

/** Rounding error of a product, in units of the device's: sums of thousands of terms, layer upon layer. */
const PRODUCT_ERROR = 64;

/**
 * Conjugate gradients, preconditioned by any other solver.
 * @throws EcifError from `solve` where it does not converge; NegativeCurvatureError for an indefinite `hessian`
 * @example const h = cgSolver(loss, theta, { preconditioner: await jointOf(loss, theta), tolerance: 1e-3 }); await h.solve(b);
 */
export function cgSolver<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: CgSolverOptions<T> = {},
): IterativeSolver<T> {
  const { curvature = 'auto', reserve, onState } = options;
  const common = commonOf('cg', loss, theta, options);
  const { damping, tolerance, maxIterations, onIteration } = common;
  let { preconditioner, resume } = options;
  let kind: CurvatureKind = resume?.curvature ?? (curvature === 'auto' ? 'hessian' : curvature);
  const products = productsAt(loss, theta, options);
  const productError = PRODUCT_ERROR * new Flat(theta).device.epsilon;
  /** The reserve, while it may still be called on. */
  const inReserve = (): Reserve<T> | undefined =>
    reserve !== undefined && reserve.after < maxIterations && preconditioner === undefined ? reserve : undefined;
  const attempt = (right: RightSide<T>, earlier: readonly SolveRecord[], x0?: T) => {
    const on = right !== 'gradient' && 'on' in right ? right.on : undefined;
    return products.during(
      kind,
      async ({ product, gradient, other }) => {
        const b = right === 'gradient' ? await gradient() : 'b' in right ? right.b : (other as T);
        const spent = earlier.reduce((sum, { status, iterations }) => sum + (status === 'slow' ? iterations : 0), 0);
        const most = inReserve()?.after ?? maxIterations - spent;
        const chosen = preconditioner;
        const more = { curvature: kind, preconditioned: chosen !== undefined, earlier: [...earlier] };
        try {
          return await treeCg(product, b, {
            ...{ damping, tolerance, maxIterations: most, productError, onIteration, x0, resume },
            preconditioner: chosen && ((r) => chosen.solve(r)),
            onNegativeCurvature: curvature === 'auto' ? 'stop' : 'throw',
            onState: onState && ((state) => onState({ ...state, ...more })),
          });
        } finally {
          if (right === 'gradient') disposeTree(b);
        }
      },
      on,
    );
  };
  const recordOf = ({ status, iterations, residuals }: CgResult<T>): SolveRecord => ({
    ...{ curvature: kind, status, iterations, residuals },
  });
  const solve = async (right: RightSide<T>): Promise<T> => {
    const earlier = [...(resume?.earlier ?? [])];
    if (resume?.preconditioned === true) preconditioner ??= await reserve?.make();
    let found = await attempt(right, earlier);
    resume = undefined;
    while (found.negativeCurvature !== null || (found.status === 'max-iterations' && inReserve() !== undefined)) {
      const { x, negativeCurvature } = found;
      earlier.push(negativeCurvature === null ? { ...recordOf(found), status: 'slow' } : recordOf(found));
      try {
        if (negativeCurvature !== null) kind = 'gauss-newton';
        else preconditioner = await reserve?.make();
        found = await attempt(right, earlier, negativeCurvature === null ? x : undefined);
      } finally {
        disposeTree([x, negativeCurvature?.direction ?? []]);
      }
    }
    common.history.push(...earlier);
    return common.ended(
      found.x,
      recordOf(found),
      `raise the damping, the tolerance or the number of iterations${preconditioner === undefined ? ', or give a preconditioner' : ''}`,
    );
  };
  return {
    get about() {
      return common.about(kind, preconditionerSettings(preconditioner));
    },
    history: common.history,
    accuracy: tolerance,
    solve: (b) => solve({ b }),
    solveGradient: (on) => solve(on === undefined ? 'gradient' : { on }),
    dispose: () => products.dispose(),
  };
}

/** Settings of {@link minresSolver}. */
export interface MinresSolverOptions extends IterativeOptions {
  /** `hessian` unless told; it may be indefinite. */
  readonly curvature?: CurvatureKind;
}

/**
 * MINRES: solves with the Hessian even where it is indefinite. The solution then need not be a direction of descent.
 * @throws EcifError from `solve` where it does not converge
 */
export function minresSolver<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: MinresSolverOptions = {},
): IterativeSolver<T> {
  const { curvature = 'hessian' } = options;
  const common = commonOf('minres', loss, theta, options);
  const { damping, tolerance, maxIterations, onIteration } = common;
  return {
    about: common.about(curvature),
    history: common.history,
    accuracy: tolerance,
    solve: async (b) => {
      const product = curvatureOperator(loss, theta, curvature);
      const settings = { damping, tolerance, maxIterations, onIteration };
      const { x, status, iterations, residuals } = await minres(treeSpace<T>(), product, b, settings);
      return common.ended(
        x,
        { curvature, status, iterations, residuals },
        'raise the damping, the tolerance or the number of iterations',
      );
    },
    dispose: () => undefined,
  };
}

/** Settings of {@link lissaSolver}. */
export interface LissaSolverOptions extends IterativeOptions {
  /** `gauss-newton` unless told; an indefinite Hessian diverges. */
  readonly curvature?: CurvatureKind;
  /** Batches drawn anew for every product, all of them unless told; the solution is then an estimate. */
  readonly batches?: number;
  /** Runs that are averaged; 1 unless told. */
  readonly repeats?: number;
  /** 0 unless told. */
  readonly seed?: number;
}

/** Above the largest eigenvalue as Lanczos sees it, from below. */
const MARGIN = 1.1;

/**
 * LiSSA: the Neumann series of the curvature over its largest eigenvalue, found first by Lanczos.
 * @throws EcifError from `solve` where it does not converge, unless its products are drawn
 */
export async function lissaSolver<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: LissaSolverOptions = {},
): Promise<IterativeSolver<T>> {
  const { curvature = 'gauss-newton', batches, repeats = 1, seed = 0 } = options;
  const common = commonOf('lissa', loss, theta, options);
  const { damping, tolerance, maxIterations } = common;
  const [space, rng] = [treeSpace<T>(), createRng(seed)];
  const whole = curvatureOperator(loss, theta, curvature);
  const start = new Flat(theta).normal(rng.fork(0));
  const { largest } = await extremeEigenvalues(space, whole, start, { tolerance: 1e-2 });
  disposeTree(start);
  // What stands for all batches has at most so many times the curvature of all.
  const spread = batches === undefined ? 1 : Math.max(1, loss.partitions.flat().length / batches);
  const scale = MARGIN * spread * (largest.value + largest.error + damping);
  const drawn = batches === undefined ? null : batchOperator(loss, theta, curvature, batches);
  const product = (v: T, { iteration, repeat }: LissaPosition): T | Promise<T> =>
    drawn === null ? whole(v) : drawn(v, rng.fork(1 + repeat * maxIterations + iteration));
  return {
    about: common.about(curvature, { scale, batches: batches ?? null, repeats, seed }),
    history: common.history,
    ...(batches === undefined ? { accuracy: tolerance } : {}),
    solve: async (b) => {
      const { x, status, iterations, residuals } = await lissa(space, product, b, {
        ...{ scale, damping, repeats, maxIterations },
        tolerance: drawn === null ? tolerance : 0,
        onIteration: common.onIteration,
      });
      const record = { curvature, status, iterations, residuals: residuals.at(-1) ?? [] };
      if (drawn === null || status === 'diverged')
        return common.ended(x, record, 'raise the damping or the number of iterations');
      common.history.push(record);
      return x;
    },
    dispose: () => undefined,
  };
}
