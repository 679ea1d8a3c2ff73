// LiSSA: the Neumann series x ← b + (I − A/scale)·x, whose limit is scale·A⁻¹b, averaged over repeats.
import { NumericsError } from '../array/errors.ts';
import { DivergenceError } from './errors.ts';
import { Held, requireFinite, type Space } from './space.ts';

/** Where a LiSSA run is; a stochastic operator draws its mini-batch from it. */
export interface LissaPosition {
  /** Iteration within the repeat, from 0. */
  iteration: number;
  /** Repeat, from 0. */
  repeat: number;
}

/** Options of {@link lissa}. */
export interface LissaOptions {
  /** At least half, safely all, of the largest eigenvalue of A + damping·I; see `extremeEigenvalues`. */
  scale: number;
  /** Iterations per repeat; default 1000. */
  maxIterations?: number | undefined;
  /** Independent runs that are averaged, for a stochastic operator; default 1. */
  repeats?: number | undefined;
  /** A repeat ends early at residual ≤ tolerance; default 1e-6, 0 = run all iterations. */
  tolerance?: number | undefined;
  /** Solves (A + damping·I)x = b; default 0. */
  damping?: number | undefined;
  /** The residual is looked at every so many iterations (each look is a wait); default 1. */
  checkEvery?: number | undefined;
  /** Diverged when the residual exceeds this times the smallest seen; default 1000. */
  divergenceFactor?: number | undefined;
  /** Default 'stop': return the x of the smallest residual seen and report. */
  onDivergence?: 'stop' | 'throw' | undefined;
  /** Called at each look; do not keep or release anything. */
  onIteration?: ((info: LissaPosition & { residual: number }) => void) | undefined;
  /** Aborts between iterations, rejecting with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Why {@link lissa} stopped. */
export type LissaStatus = 'converged' | 'max-iterations' | 'diverged';

/** Result of {@link lissa}. */
export interface LissaResult<V> {
  /** Estimate of A⁻¹b, a fresh vector, the caller's to release. */
  x: V;
  /** Iterations over all repeats, which is the number of products. */
  iterations: number;
  /** Every repeat met the tolerance. */
  converged: boolean;
  status: LissaStatus;
  /** Per repeat, ‖b − Ax‖/‖b‖ at each look (with a stochastic operator: of that draw). */
  residuals: number[][];
  diverged: null | (LissaPosition & { residual: number });
}

/** One repeat: y is the running sum, y/scale the estimate. */
interface Repeat<V> {
  y: V;
  best: V;
  bestResidual: number;
  residuals: number[];
  iterations: number;
  status: LissaStatus;
}

/**
 * Solves A·x = b by the Neumann series; the operator may be stochastic (a mini-batch per iteration).
 * Converges exactly when every eigenvalue of A lies in (0, 2·scale).
 *
 * @param space the vectors' space.
 * @param apply (v, position) ↦ A·v, or an unbiased estimate of it; a new vector, released by `lissa`.
 * @param b right-hand side, kept by the caller.
 * @param options see {@link LissaOptions}; `scale` is required.
 * @returns the estimate with residuals; divergence is reported, not thrown, unless asked.
 * @throws DivergenceError if `onDivergence` is 'throw'.
 * @throws NumericsError when `scale` is not positive, `repeats` not at least 1, or b not finite.
 * @example const { x } = await lissa(float64Space, (v) => matVec(a, v, n), b, { scale: 10 });
 */
export async function lissa<V>(
  space: Space<V>,
  apply: (v: V, position: LissaPosition) => V | Promise<V>,
  b: V,
  options: LissaOptions,
): Promise<LissaResult<V>> {
  const { scale, repeats = 1 } = options;
  if (!(scale > 0 && scale < Infinity && repeats >= 1)) {
    const fix = 'scale is a positive bound on the eigenvalues, repeats at least 1';
    throw new NumericsError(`lissa: scale ${scale}, repeats ${repeats}; ${fix}`);
  }
  const [bb] = await space.dots([[b, b]]);
  requireFinite('lissa', '‖b‖²', bb, 0);
  const held = new Held(space);
  const all: Repeat<V>[] = [];
  let sum: V | null = null;
  try {
    for (let repeat = 0; repeat < repeats; repeat++) {
      const run = await runRepeat(space, held, apply, b, Math.sqrt(bb), repeat, options);
      all.push(run);
      if (run.status === 'diverged') {
        sum = run.best;
        break;
      }
      const next: V = sum === null ? run.y : held.combine([1, 1], [sum, run.y]);
      if (sum !== null) held.drop(sum, run.y);
      sum = next;
    }
    const last = all[all.length - 1];
    const count = last.status === 'diverged' ? 1 : repeats;
    const x = space.combine([1 / (scale * count)], [sum ?? b]);
    return { x, ...summarise(all) };
  } finally {
    held.end();
  }
}

function summarise<V>(all: readonly Repeat<V>[]): Omit<LissaResult<V>, 'x'> {
  const last = all[all.length - 1];
  const diverged = last.status === 'diverged';
  const converged = all.every((run) => run.status === 'converged');
  const where = { repeat: all.length - 1, iteration: last.iterations - 1, residual: last.residuals.at(-1) ?? NaN };
  return {
    iterations: all.reduce((total, run) => total + run.iterations, 0),
    converged,
    status: diverged ? 'diverged' : converged ? 'converged' : 'max-iterations',
    residuals: all.map((run) => run.residuals),
    diverged: diverged ? where : null,
  };
}

async function runRepeat<V>(
  space: Space<V>,
  held: Held<V>,
  apply: (v: V, position: LissaPosition) => V | Promise<V>,
  b: V,
  bNorm: number,
  repeat: number,
  options: LissaOptions,
): Promise<Repeat<V>> {
  const { scale, maxIterations = 1000, damping = 0, checkEvery = 1 } = options;
  const keep = 1 - damping / scale;
  const run: Repeat<V> = {
    ...{ y: b, best: b, bestResidual: Infinity, residuals: [], iterations: 0 },
    status: bNorm === 0 ? 'converged' : 'max-iterations',
  };
  while (run.status === 'max-iterations' && run.iterations < maxIterations) {
    options.signal?.throwIfAborted();
    const iteration = run.iterations++;
    const ay = await held.apply((v) => apply(v, { iteration, repeat }), run.y);
    let next: V;
    if (iteration % checkEvery === 0 || run.iterations === maxIterations) {
      const change = held.combine([1, -1 / scale, keep - 1], [b, ay, run.y]); // b − A(y/scale), the residual
      const [rr] = await space.dots([[change, change]]);
      run.status = look(run, held, Math.sqrt(rr) / bNorm, { iteration, repeat }, options);
      next = run.status === 'converged' ? run.y : held.combine([1, 1], [run.y, change]);
      held.drop(change);
    } else next = held.combine([1, -1 / scale, keep], [b, ay, run.y]);
    held.drop(ay);
    if (run.y !== next && run.y !== run.best) held.drop(run.y);
    run.y = next;
  }
  const [result, other] = run.status === 'diverged' ? [run.best, run.y] : [run.y, run.best];
  if (other !== result) held.drop(other);
  return run;
}

/** Judges the residual of the current y; 'max-iterations' means carry on. */
function look<V>(
  run: Repeat<V>,
  held: Held<V>,
  residual: number,
  at: LissaPosition,
  options: LissaOptions,
): LissaStatus {
  const { tolerance = 1e-6, divergenceFactor = 1000, scale } = options;
  run.residuals.push(residual);
  options.onIteration?.({ ...at, residual });
  if (residual < run.bestResidual) {
    if (run.best !== run.y) held.drop(run.best);
    run.best = run.y;
    run.bestResidual = residual;
  } else if (!(residual <= divergenceFactor * Math.max(run.bestResidual, 1e-12))) {
    if (options.onDivergence !== 'throw') return 'diverged';
    const found = `residual ${residual} at iteration ${at.iteration}, smallest before ${run.bestResidual}`;
    const fix = `raise scale above half the largest eigenvalue (now ${scale}), or add damping if A is indefinite`;
    throw new DivergenceError(`lissa: diverged, ${found}; ${fix}`, at.iteration, residual);
  }
  return residual <= tolerance ? 'converged' : 'max-iterations';
}
