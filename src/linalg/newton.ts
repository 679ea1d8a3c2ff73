// Newton's method with backtracking; the direction comes from a dense Hessian or from Hessian-vector products.
import { cg, type CgOptions } from './cg.ts';
import { cholesky, choleskySolve } from './cholesky.ts';
import { NotPositiveDefiniteError } from './errors.ts';
import {
  beginMinimization,
  finish,
  iterate,
  moveTo,
  probe,
  type Minimization,
  type MinimizeOptions,
  type MinimizeResult,
} from './minimize.ts';
import { Held, type Objective, type Space } from './space.ts';
import { symmetricEigen } from './symmetric-eigen.ts';

/** A descent step d ≈ −H⁻¹g at x; a new vector, released by `newton`. */
export type NewtonDirection<V> = (at: {
  x: V;
  gradient: V;
  /** ‖g‖/‖g(x0)‖, for the accuracy of an inner solve. */
  relativeGradient: number;
  signal: AbortSignal | undefined;
}) => Promise<{ step: V; modified: boolean }>;

/** Result of {@link newton}. */
export interface NewtonResult<V> extends MinimizeResult<V> {
  /** Iterations whose Hessian was not positive definite, so that the direction was not −H⁻¹g. */
  modified: number;
}

const DECREASE = 1e-4;
const MAX_BACKTRACKS = 50;
/** Iterations without a lower value or gradient after which the run is called stagnated. */
const PATIENCE = 5;

/**
 * Minimises a smooth function by Newton steps with backtracking, down to rounding level: where differences of f are
 * below `valueNoise`, a step is taken if it lowers ‖∇f‖. Defaults: `gradientTolerance` 1e-12, `maxIterations` 100.
 *
 * @param space the vectors' space.
 * @param objective x ↦ value and gradient.
 * @param x0 starting point, kept by the caller.
 * @param direction from {@link denseDirection} or {@link cgDirection}.
 * @param options see {@link MinimizeOptions}.
 * @returns the point reached, with the history of gradient norms.
 * @throws NumericsError when f or its gradient is not finite at x0.
 * @example const { x } = await newton(float64Space, objective, x0, denseDirection((x) => hessian(x)));
 */
export async function newton<V>(
  space: Space<V>,
  objective: Objective<V>,
  x0: V,
  direction: NewtonDirection<V>,
  options: MinimizeOptions<V> = {},
): Promise<NewtonResult<V>> {
  const { maxIterations = 100, signal } = options;
  const held = new Held(space);
  try {
    const run = await beginMinimization('newton', space, held, objective, x0, options, 1e-12);
    let modified = 0;
    const status = await iterate(run, { maxIterations, patience: PATIENCE, signal }, async () => {
      const { x, gradient, norm } = run.at;
      const found = await direction({ x, gradient, relativeGradient: norm / run.gradientNorms[0], signal });
      held.own(found.step);
      if (found.modified) modified++;
      const better = await backtrack(run, found.step);
      held.drop(found.step);
      return better;
    });
    return { ...finish(run, status), modified };
  } finally {
    held.end();
  }
}

/** Moves to the first acceptable x + t·d, t = 1 and then smaller; false if there is none. */
async function backtrack<V>(run: Minimization<V>, d: V): Promise<boolean> {
  const from = run.at;
  const [slope] = await run.space.dots([[from.gradient, d]]);
  if (!(slope < 0)) return false;
  for (let t = 1, trial = 0; trial < MAX_BACKTRACKS; trial++) {
    const to = await probe(run, d, t);
    const decreased = to.value <= from.value + DECREASE * t * slope && Number.isFinite(to.norm);
    if (decreased || (to.value <= from.value + run.noise() && to.norm < from.norm)) {
      moveTo(run, to);
      run.held.drop(from.x, from.gradient);
      return true;
    }
    run.held.drop(to.x, to.gradient);
    const parabola = (-slope * t) / (2 * ((to.value - from.value) / t - slope)); // its minimiser
    t = Number.isFinite(parabola) ? Math.min(Math.max(parabola, 0.1 * t), 0.5 * t) : 0.5 * t;
  }
  return false;
}

/**
 * Newton directions from a dense Hessian, by Cholesky.
 *
 * @param hessian x ↦ row-major n×n Hessian; its lower triangle is read.
 * @param indefinite where the Hessian is not positive definite: 'reflect' (default) uses |H|, its eigenvalues made
 *   positive, and counts the step as modified; 'throw' lets the NotPositiveDefiniteError out.
 * @returns the direction for {@link newton}; it throws NotPositiveDefiniteError if asked to.
 * @example denseDirection((x) => hessian(x), 'throw')
 */
export function denseDirection(
  hessian: (x: Float64Array) => Float64Array | Promise<Float64Array>,
  indefinite: 'reflect' | 'throw' = 'reflect',
): NewtonDirection<Float64Array> {
  return async ({ x, gradient }) => {
    const h = await hessian(x);
    const descent = gradient.map((g) => -g);
    try {
      return { step: choleskySolve(cholesky(h, x.length), descent), modified: false };
    } catch (error) {
      if (indefinite === 'throw' || !(error instanceof NotPositiveDefiniteError)) throw error;
      return { step: solveReflected(h, descent), modified: true };
    }
  };
}

/** |H|⁻¹·b, eigenvalues floored at 1e-10 of the largest. */
function solveReflected(h: Float64Array, b: Float64Array): Float64Array {
  const n = b.length;
  const { values, vectors } = symmetricEigen(h, n);
  const floor = 1e-10 * Math.max(Math.abs(values[0]), Math.abs(values[n - 1])) || 1;
  const out = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    const v = vectors.subarray(k * n, (k + 1) * n);
    const c = v.reduce((sum, vi, i) => sum + vi * b[i], 0) / Math.max(Math.abs(values[k]), floor);
    for (let i = 0; i < n; i++) out[i] += c * v[i];
  }
  return out;
}

/** Options of {@link cgDirection}. */
export interface CgDirectionOptions<V> extends Pick<CgOptions<V>, 'preconditioner' | 'maxIterations' | 'damping'> {
  /** Relative accuracy of the inner solve; default min(0.1, relativeGradient), at least 1e-8. */
  tolerance?: ((relativeGradient: number) => number) | undefined;
}

/**
 * Newton directions from Hessian-vector products, by truncated conjugate gradients. At negative curvature the step
 * gathered so far is used (steepest descent if there is none), and counted as modified.
 *
 * @param space the vectors' space.
 * @param product (x, v) ↦ H(x)·v; a new vector, released by the solver.
 * @param options see {@link CgDirectionOptions}.
 * @returns the direction for {@link newton}.
 * @example cgDirection(float64Space, (x, v) => hvp(x, v))
 */
export function cgDirection<V>(
  space: Space<V>,
  product: (x: V, v: V) => V | Promise<V>,
  { tolerance = (relative) => Math.max(Math.min(0.1, relative), 1e-8), ...inner }: CgDirectionOptions<V> = {},
): NewtonDirection<V> {
  return async ({ x, gradient, relativeGradient, signal }) => {
    const descent = space.combine([-1], [gradient]);
    try {
      const apply = (v: V) => product(x, v);
      const solved = await cg(space, apply, descent, { ...inner, tolerance: tolerance(relativeGradient), signal });
      const negative = solved.negativeCurvature;
      if (negative === null) return { step: solved.x, modified: false };
      if (negative.iteration > 0) {
        space.release(negative.direction);
        return { step: solved.x, modified: true };
      }
      space.release(solved.x);
      return { step: negative.direction, modified: true };
    } finally {
      space.release(descent);
    }
  };
}
