// What the minimisers share: options, result, and an evaluation that owns its vectors.
import { requireFinite, type Held, type Objective, type Space } from './space.ts';

/** Options of every minimiser. It stops as soon as either tolerance is met. */
export interface MinimizeOptions<V> {
  /** Stop at ‖∇f‖ ≤ gradientTolerance. */
  gradientTolerance?: number | undefined;
  /** Stop at ‖∇f‖ ≤ relativeTolerance·‖∇f(x0)‖; default 0. */
  relativeTolerance?: number | undefined;
  maxIterations?: number | undefined;
  /** Rounding error of f relative to |f|; default 1e-10, about 1e-6 for float32. Below it, gradients decide. */
  valueNoise?: number | undefined;
  /** Called after each iteration; do not keep or release `x`. */
  onIteration?: ((info: { iteration: number; value: number; gradientNorm: number; x: V }) => void) | undefined;
  /** Aborts between iterations, rejecting with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Why a minimiser stopped. `stagnated`: no further progress is possible in this precision. */
export type MinimizeStatus = 'converged' | 'max-iterations' | 'stagnated';

/** Result of every minimiser. */
export interface MinimizeResult<V> {
  /** Always a fresh vector, the caller's to release. */
  x: V;
  value: number;
  gradientNorm: number;
  iterations: number;
  /** Evaluations of f with its gradient. */
  evaluations: number;
  converged: boolean;
  status: MinimizeStatus;
  /** ‖∇f‖ at x0 and after each iteration. */
  gradientNorms: number[];
}

/** An evaluated point, its vectors owned by the run (x0 excepted). */
export interface Point<V> {
  readonly x: V;
  readonly value: number;
  readonly gradient: V;
  readonly norm: number;
}

/** A minimisation in progress. */
export interface Minimization<V> {
  readonly method: string;
  readonly space: Space<V>;
  readonly held: Held<V>;
  readonly objective: Objective<V>;
  readonly options: MinimizeOptions<V>;
  readonly tolerance: number;
  readonly noise: () => number;
  readonly gradientNorms: number[];
  at: Point<V>;
  iterations: number;
  evaluations: number;
}

/** Evaluates f at x0 and fixes the tolerance. */
export async function beginMinimization<V>(
  method: string,
  space: Space<V>,
  held: Held<V>,
  objective: Objective<V>,
  x0: V,
  options: MinimizeOptions<V>,
  defaultTolerance: number,
): Promise<Minimization<V>> {
  const { value, gradient: made } = await objective(x0);
  const gradient = held.adopt(made, x0);
  const [gg] = await space.dots([[gradient, gradient]]);
  requireFinite(method, 'f(x0) or its gradient', value + gg, 0);
  const norm = Math.sqrt(gg);
  const { gradientTolerance = defaultTolerance, relativeTolerance = 0, valueNoise = 1e-10 } = options;
  const run: Minimization<V> = {
    ...{ method, space, held, objective, options, gradientNorms: [norm], iterations: 0, evaluations: 1 },
    at: { x: x0, value, gradient, norm },
    tolerance: Math.max(gradientTolerance, relativeTolerance * norm),
    noise: () => valueNoise * Math.max(Math.abs(run.at.value), 1e-6 * Math.abs(value)),
  };
  return run;
}

/** Evaluates f at x + t·d; also returns the slope ∇f·d there. Non-finite values are left to the line search. */
export async function probe<V>(
  run: Minimization<V>,
  d: V,
  t: number,
): Promise<Point<V> & { t: number; slope: number }> {
  const { space, held } = run;
  const x = held.combine([1, t], [run.at.x, d]);
  const { value, gradient: made } = await run.objective(x);
  const gradient = held.adopt(made, x);
  run.evaluations++;
  const [gg, slope] = await space.dots([
    [gradient, gradient],
    [gradient, d],
  ]);
  return { x, value, gradient, norm: Math.sqrt(gg), t, slope };
}

/** Moves to an evaluated point and reports it; the old point stays owned, for the caller to drop. */
export function moveTo<V>(run: Minimization<V>, point: Point<V>): void {
  run.at = point;
  run.iterations++;
  run.gradientNorms.push(point.norm);
  const { value, norm: gradientNorm, x } = point;
  run.options.onIteration?.({ iteration: run.iterations, value, gradientNorm, x });
}

/**
 * Called once per iteration; true when for more than `patience` of them neither f fell by more than its noise nor ‖∇f‖
 * by a hundredth.
 */
function stallDetector<V>(run: Minimization<V>, patience: number): () => boolean {
  const best = { value: Infinity, norm: Infinity, iteration: 0 };
  return () => {
    const { value, norm } = run.at;
    if (value < best.value - run.noise() || norm < 0.99 * best.norm) {
      best.value = Math.min(best.value, value);
      best.norm = Math.min(best.norm, norm);
      best.iteration = run.iterations;
    }
    return run.iterations - best.iteration > patience;
  };
}

/**
 * Takes steps until there is a reason to stop.
 * @param step moves to a better point, or returns false where it finds none
 */
export async function iterate<V>(
  run: Minimization<V>,
  { maxIterations, patience, signal }: { maxIterations: number; patience: number; signal: AbortSignal | undefined },
  step: () => Promise<boolean>,
): Promise<MinimizeStatus> {
  const stalled = stallDetector(run, patience);
  for (;;) {
    signal?.throwIfAborted();
    if (run.at.norm <= run.tolerance) return 'converged';
    if (run.iterations >= maxIterations) return 'max-iterations';
    if (stalled() || !(await step())) return 'stagnated';
  }
}

/** The result at the current point. */
export function finish<V>(run: Minimization<V>, status: MinimizeStatus): MinimizeResult<V> {
  const { at, iterations, evaluations, gradientNorms } = run;
  const x = run.held.give(at.x);
  const summary = { value: at.value, gradientNorm: at.norm, iterations, evaluations, gradientNorms };
  return { x, ...summary, converged: status === 'converged', status };
}
