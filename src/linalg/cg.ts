// Conjugate gradients, plain and preconditioned, for a symmetric positive definite operator.
import { NegativeCurvatureError } from './errors.ts';
import { Held, requireFinite, type Operator, type Space } from './space.ts';

/** Why {@link cg} stopped. `stagnated`: the true residual stays above the tolerance at rounding level. */
export type CgStatus = 'converged' | 'max-iterations' | 'negative-curvature' | 'stagnated';

/** Options of {@link cg}. */
export interface CgOptions<V> {
  /** r ↦ M⁻¹r with M symmetric positive definite and close to A; a new vector, released by `cg`. */
  preconditioner?: Operator<V> | undefined;
  /** Starting point (kept by the caller); default zero. */
  x0?: V | undefined;
  /** Stop at ‖b − Ax‖ ≤ tolerance·‖b‖; default 1e-8. */
  tolerance?: number | undefined;
  /** Default 1000. */
  maxIterations?: number | undefined;
  /** Solves (A + damping·I)x = b; default 0. It costs no extra vector operation. */
  damping?: number | undefined;
  /** Every so many iterations r is recomputed as b − Ax; default 50, 0 = never, also not at the end. */
  refresh?: number | undefined;
  /**
   * Rounding error of a product A·p, relative to ‖A‖·‖p‖. Where given, a claim of convergence is confirmed by one more product only if such
   * errors may have added up to a tenth of the tolerance; it always is unless given.
   */
  productError?: number | undefined;
  /** What to do when pᵀAp ≤ 0; default 'stop': return the best x so far and report. */
  onNegativeCurvature?: 'stop' | 'throw' | undefined;
  /** Called after each iteration; do not keep or release `x`. */
  onIteration?: ((info: { iteration: number; residual: number; x: V }) => void) | undefined;
  /**
   * Called after each iteration with all that a later run needs to go on; waited for. Its vectors stay the run's: copy
   * what is kept.
   */
  onState?: ((state: CgState<V>) => void | Promise<void>) | undefined;
  /** Goes on from such a state (kept by the caller) as if it had not been interrupted; `x0` does not matter then. */
  resume?: CgState<V> | undefined;
  /** Aborts between iterations, rejecting with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A run between two iterations. */
export interface CgState<V> {
  readonly x: V;
  readonly r: V;
  readonly p: V;
  readonly residuals: readonly number[];
  readonly products: number;
  /** How far rounding of products may have turned r from b − Ax, and what it is reckoned from; where it is. */
  readonly drift?: Drift | undefined;
}

/** Rounding of products that has added up. */
interface Drift {
  /** Largest ‖Ap‖/‖p‖ so far, for ‖A‖. */
  readonly norm: number;
  /** Σ α·‖A‖·‖p‖; null where it is not known. */
  readonly sum: number | null;
}

/** A direction along which the operator is not positive. */
export interface NegativeCurvature<V> {
  /** Iteration (from 0) that met it; x has had that many updates. */
  iteration: number;
  /** pᵀ(A+damping·I)p / pᵀp ≤ 0. Damping raised by more than its absolute value clears this direction. */
  curvature: number;
  /** The direction p, the caller's to release. */
  direction: V;
}

/** Result of {@link cg}. */
export interface CgResult<V> {
  /** Always a fresh vector, the caller's to release. */
  x: V;
  iterations: number;
  /** How often the operator was applied. */
  products: number;
  converged: boolean;
  status: CgStatus;
  /** ‖b − Ax‖/‖b‖ before the first iteration and after each; recomputed, not recurred, where convergence is confirmed. */
  residuals: number[];
  negativeCurvature: NegativeCurvature<V> | null;
}

/** A run in progress: x, r = b − Ax, z = M⁻¹r (or r itself), direction p, and their scalars. */
interface Run<V> {
  readonly space: Space<V>;
  readonly held: Held<V>;
  readonly apply: Operator<V>;
  readonly b: V;
  readonly bNorm: number;
  readonly damping: number;
  readonly preconditioner: Operator<V> | undefined;
  readonly residuals: number[];
  x: V;
  r: V;
  z: V;
  p: V;
  rr: number;
  rz: number;
  iteration: number;
  products: number;
  /** Smallest residual at which rounding had taken over, Infinity before, and the x it belongs to. */
  floor: number;
  best: V | null;
  /** Convergence claims of the recurrence that the true residual refuted. */
  refuted: number;
  /** Undefined where claims are confirmed in any case. */
  drift: Drift | undefined;
}

/**
 * Solves A·x = b for a symmetric positive definite operator given only by its products.
 * One product, three vector combinations and two waits per iteration, and a constant number of live vectors.
 *
 * @param space the vectors' space.
 * @param apply v ↦ A·v.
 * @param b right-hand side, kept by the caller.
 * @param options see {@link CgOptions}.
 * @returns x with the history; a negative curvature is reported, not thrown, unless asked.
 * @throws NegativeCurvatureError if `onNegativeCurvature` is 'throw'.
 * @throws NumericsError when a product is NaN or infinite.
 * @example const { x } = await cg(float64Space, (v) => matVec(a, v, n), b, { tolerance: 1e-10 });
 */
export async function cg<V>(
  space: Space<V>,
  apply: Operator<V>,
  b: V,
  options: CgOptions<V> = {},
): Promise<CgResult<V>> {
  const { tolerance = 1e-8, maxIterations = 1000, refresh = 50, productError = 0, signal } = options;
  const held = new Held(space);
  try {
    const run = await begin(space, held, apply, b, options);
    let status: CgStatus | null = residual(run) <= tolerance ? 'converged' : null;
    let negativeCurvature: NegativeCurvature<V> | null = null;
    while (status === null) {
      signal?.throwIfAborted();
      if (run.iteration >= maxIterations) {
        status = 'max-iterations';
        break;
      }
      negativeCurvature = await advance(run, options.onNegativeCurvature ?? 'stop');
      if (negativeCurvature) {
        status = 'negative-curvature';
        break;
      }
      const claimed = residual(run) <= tolerance;
      const doubtful = claimed ? driftOf(run, productError) > tolerance / 10 : run.iteration % refresh === 0;
      const due = refresh > 0 && doubtful;
      if (due && (await refreshResidual(run, tolerance))) status = 'stagnated';
      if (residual(run) <= tolerance) status = 'converged';
      run.residuals.push(residual(run));
      options.onIteration?.({ iteration: run.iteration, residual: residual(run), x: run.x });
      if (options.onState && status === null) await options.onState(stateOf(run));
    }
    const { iteration: iterations, products, residuals } = run;
    const x = held.give(run.x);
    return { x, iterations, products, converged: status === 'converged', status, residuals, negativeCurvature };
  } finally {
    held.end();
  }
}

const stateOf = <V>({ x, r, p, residuals, products, drift }: Run<V>): CgState<V> => ({
  ...{ x, r, p, products, ...(drift === undefined ? {} : { drift }) },
  residuals: [...residuals],
});

function residual<V>(run: Run<V>): number {
  return run.bNorm === 0 ? 0 : Math.sqrt(run.rr) / run.bNorm;
}

/** The drift after a step of some length along a p with some ‖Ap‖/‖p‖. */
const drifted = ({ norm, sum }: Drift, stretch: number, length: number): Drift => {
  const largest = Math.max(norm, stretch);
  return { norm: largest, sum: sum === null ? null : sum + largest * length };
};

/** How far the recurred residual may be from b − Ax, relative to ‖b‖. */
const driftOf = <V>({ drift, bNorm }: Run<V>, productError: number): number =>
  drift === undefined || drift.sum === null ? Infinity : (productError * drift.sum) / bNorm;

async function begin<V>(
  space: Space<V>,
  held: Held<V>,
  apply: Operator<V>,
  b: V,
  { x0, preconditioner, damping = 0, productError, resume }: CgOptions<V>,
): Promise<Run<V>> {
  const [bb] = await space.dots([[b, b]]);
  requireFinite('cg', '‖b‖²', bb, 0);
  const useStart = x0 !== undefined && bb > 0 && resume === undefined;
  const run: Run<V> = {
    ...{ space, held, apply, b, bNorm: Math.sqrt(bb), damping, preconditioner, residuals: [] },
    ...{ x: useStart ? x0 : held.own(space.zeros(b)), r: b, z: b, p: b, rr: bb, rz: bb },
    ...{ iteration: 0, products: 0, floor: Infinity, best: null, refuted: 0 },
    // A start other than 0 has a product in its first residual, of a size that is not known.
    drift: productError === undefined ? undefined : { norm: 0, sum: useStart ? null : 0 },
  };
  if (resume !== undefined) {
    const { x, r, p, residuals, products } = resume;
    Object.assign(run, { x, r, products, iteration: residuals.length - 1 });
    if (run.drift !== undefined) run.drift = resume.drift ?? { norm: 0, sum: null };
    run.residuals.push(...residuals);
    await precondition(run);
    run.p = p;
    return run;
  }
  if (useStart) run.r = await trueResidual(run);
  run.z = run.p = run.r;
  if (bb > 0 && (preconditioner || useStart)) {
    await precondition(run);
    run.p = run.z;
  }
  run.residuals.push(residual(run));
  return run;
}

async function trueResidual<V>(run: Run<V>): Promise<V> {
  const ax = await run.held.apply(run.apply, run.x);
  run.products++;
  const r = run.held.combine([1, -1, -run.damping], [run.b, ax, run.x]);
  run.held.drop(ax);
  return r;
}

/** z = M⁻¹r, r·r and r·z, with one wait. The old z must already be dropped. */
async function precondition<V>(run: Run<V>): Promise<void> {
  const { space, held, r } = run;
  run.z = run.preconditioner ? await held.apply(run.preconditioner, r) : r;
  if (run.z === r) {
    [run.rr] = await space.dots([[r, r]]);
    run.rz = run.rr;
  } else {
    [run.rr, run.rz] = await space.dots([
      [r, r],
      [r, run.z],
    ]);
  }
  requireFinite('cg', 'the residual', run.rr + run.rz, run.iteration);
}

/** One iteration, or the direction that forbids it. */
async function advance<V>(run: Run<V>, onNegative: 'stop' | 'throw'): Promise<NegativeCurvature<V> | null> {
  const { space, held, damping, p } = run;
  const ap = await held.apply(run.apply, p);
  run.products++;
  const [pap, pp, apap] = await space.dots([[p, ap], [p, p], ...(run.drift === undefined ? [] : [[ap, ap] as const])]);
  const curved = pap + damping * pp;
  requireFinite('cg', 'pᵀAp', curved, run.iteration);
  if (!(curved > 0)) return reportCurvature(run, curved / pp, onNegative);
  const alpha = run.rz / curved;
  if (run.drift !== undefined) run.drift = drifted(run.drift, Math.sqrt(apap / pp), alpha * Math.sqrt(pp));
  const { x, r, z, rz } = run;
  run.x = held.combine([1, alpha], [x, p]);
  if (x !== run.best) held.drop(x);
  run.r = damping === 0 ? held.combine([1, -alpha], [r, ap]) : held.combine([1, -alpha, -alpha * damping], [r, ap, p]);
  if (r !== p) held.drop(r);
  if (z !== p) held.drop(z);
  held.drop(ap);
  run.iteration++;
  await precondition(run);
  run.p = run.rr === 0 ? p : held.replace(p, held.combine([1, run.rz / rz], [run.z, p]));
  return null;
}

function reportCurvature<V>(run: Run<V>, curvature: number, on: 'stop' | 'throw'): NegativeCurvature<V> {
  const { iteration } = run;
  if (on === 'throw') {
    const fix = `raise damping by more than ${-curvature}, use a Gauss-Newton operator, or use minres`;
    const message = `cg: curvature ${curvature} at iteration ${iteration} is not positive; ${fix}`;
    throw new NegativeCurvatureError(message, iteration, curvature);
  }
  return { iteration, curvature, direction: run.held.give(run.p) };
}

/**
 * Replaces r by b − Ax. Where rounding had turned the recurred r away from it, by a tenth or more, the directions are
 * no longer conjugate to anything and start afresh. Returns true when rounding is the limit: the truth has not halved
 * since that last happened, or twenty claims of convergence were refuted; x is then the best of those looked at.
 */
async function refreshResidual<V>(run: Run<V>, tolerance: number): Promise<boolean> {
  const { space, held, r, z, p, rr } = run;
  const claimed = residual(run) <= tolerance;
  run.r = await trueResidual(run);
  const [cross] = await space.dots([[r, run.r]]);
  if (r !== p) held.drop(r);
  if (z !== p) held.drop(z);
  await precondition(run);
  const actual = residual(run);
  if (actual <= tolerance) return false;
  if (claimed) run.refuted++;
  if (run.rr + rr - 2 * cross <= 0.01 * run.rr) return run.refuted >= 20;
  run.p = held.replace(p, run.z);
  const stuck = actual > 0.5 * run.floor;
  if (actual < run.floor) {
    if (run.best !== null) held.drop(run.best);
    run.best = run.x;
    run.floor = actual;
  } else if (stuck && run.best !== null) {
    run.x = held.replace(run.x, run.best);
    run.rr = (run.floor * run.bNorm) ** 2;
  }
  return stuck;
}
