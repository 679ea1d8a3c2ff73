// MINRES (Paige and Saunders 1975): smallest residual over Krylov spaces, for symmetric, possibly indefinite operators.
import { Held, requireFinite, type Operator, type Space } from './space.ts';

/**
 * Why {@link minres} stopped. `least-squares`: the system has no solution, x minimises ‖b − Ax‖ instead;
 * `stagnated`: the true residual stays above the tolerance at rounding level.
 */
export type MinresStatus = 'converged' | 'least-squares' | 'max-iterations' | 'stagnated';

/** Options of {@link minres}. */
export interface MinresOptions<V> {
  /** Starting point (kept by the caller); default zero. */
  x0?: V | undefined;
  /** Stop at ‖b − Ax‖ ≤ tolerance·‖b‖; default 1e-8. */
  tolerance?: number | undefined;
  /** Stop as least-squares at ‖Ar‖ ≤ this·‖A‖‖r‖; default 1e-10. */
  leastSquaresTolerance?: number | undefined;
  /** Default 1000. */
  maxIterations?: number | undefined;
  /** Solves (A + damping·I)x = b; default 0. */
  damping?: number | undefined;
  /** Every so many iterations the recurred residual is checked against b − Ax; default 50, 0 = only at the end. */
  refresh?: number | undefined;
  /** Called after each iteration; do not keep or release `x`. */
  onIteration?: ((info: { iteration: number; residual: number; x: V }) => void) | undefined;
  /** Aborts between iterations, rejecting with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Result of {@link minres}. */
export interface MinresResult<V> {
  /** Always a fresh vector, the caller's to release. */
  x: V;
  iterations: number;
  /** How often the operator was applied. */
  products: number;
  converged: boolean;
  status: MinresStatus;
  /** ‖b − Ax‖/‖b‖ before the first iteration and after each; the last one is recomputed from x. */
  residuals: number[];
}

/** What lasts over restarts. */
interface Run<V> {
  readonly space: Space<V>;
  readonly held: Held<V>;
  readonly apply: Operator<V>;
  readonly b: V;
  readonly bNorm: number;
  readonly options: MinresOptions<V>;
  readonly residuals: number[];
  x: V;
  /** Where the current pass began, to return to if rounding makes it end worse. */
  from: V;
  iterations: number;
  products: number;
}

/** One Lanczos process with its QR factors; `u`, `uOld` are β times unit vectors, `w`, `wOld` search directions. */
interface Pass<V> {
  u: V;
  uOld: V | null;
  w: V | null;
  wOld: V | null;
  beta: number;
  betaOld: number;
  cos: number;
  sin: number;
  deltaBar: number;
  epsilon: number;
  phiBar: number;
  norm: number;
}

/**
 * Solves A·x = b for a symmetric operator that may be indefinite, minimising the residual at every iteration.
 * One product, three vector combinations and two waits per iteration, and a constant number of live vectors.
 *
 * @param space the vectors' space.
 * @param apply v ↦ A·v.
 * @param b right-hand side, kept by the caller.
 * @param options see {@link MinresOptions}.
 * @returns x with the residual history (never increasing within a run, up to rounding).
 * @throws NumericsError when a product is NaN or infinite.
 * @example const { x } = await minres(float64Space, (v) => matVec(a, v, n), b);
 */
export async function minres<V>(
  space: Space<V>,
  apply: Operator<V>,
  b: V,
  options: MinresOptions<V> = {},
): Promise<MinresResult<V>> {
  const { tolerance = 1e-8, maxIterations = 1000, x0 } = options;
  const held = new Held(space);
  try {
    const [bb] = await space.dots([[b, b]]);
    requireFinite('minres', '‖b‖²', bb, 0);
    const start = x0 === undefined || bb === 0 ? held.own(space.zeros(b)) : x0;
    const bNorm = Math.sqrt(bb);
    const counters = { iterations: 0, products: 0 };
    const run: Run<V> = { space, held, apply, b, bNorm, options, residuals: [], x: start, from: start, ...counters };
    let [r, rNorm] = start === x0 ? await trueResidual(run) : [b, bNorm];
    let relative = bNorm === 0 ? 0 : rNorm / bNorm;
    run.residuals.push(relative);
    let slow = 0; // passes that did not halve the residual
    let status: MinresStatus | null = relative <= tolerance ? 'converged' : null;
    while (status === null) {
      const { from } = run;
      const ended: PassEnd = await solvePass(run, r, rNorm);
      [r, rNorm] = await trueResidual(run);
      const before = relative;
      relative = Math.min(rNorm / bNorm, before);
      if (rNorm / bNorm > before) run.x = held.replace(run.x, run.from);
      else run.from = held.replace(run.from, run.x);
      run.residuals[run.residuals.length - 1] = relative;
      if (relative <= tolerance) status = 'converged';
      else if (ended === 'least-squares') status = ended;
      else if (run.iterations >= maxIterations) status = 'max-iterations';
      else if (run.x === from || (relative > 0.5 * before && ++slow === 3)) status = 'stagnated';
    }
    const { iterations, products, residuals } = run;
    return { x: held.give(run.x), iterations, products, converged: status === 'converged', status, residuals };
  } finally {
    held.end();
  }
}

async function trueResidual<V>(run: Run<V>): Promise<[V, number]> {
  const { space, held, b, x, options } = run;
  const ax = await held.apply(run.apply, x);
  run.products++;
  const r = held.combine([1, -1, -(options.damping ?? 0)], [b, ax, x]);
  held.drop(ax);
  const [rr] = await space.dots([[r, r]]);
  requireFinite('minres', 'the residual', rr, run.iterations);
  return [r, Math.sqrt(rr)];
}

type PassEnd = 'claimed' | 'parted' | 'least-squares' | 'exhausted';

/** Runs Lanczos from the residual `r` until its own estimate meets the tolerance; consumes `r`. */
async function solvePass<V>(run: Run<V>, r: V, rNorm: number): Promise<PassEnd> {
  const { held, options, bNorm } = run;
  const { tolerance = 1e-8, maxIterations = 1000, refresh = 50 } = options;
  const pass: Pass<V> = {
    ...{ u: r, uOld: null, w: null, wOld: null, beta: rNorm, betaOld: 1, cos: -1, sin: 0 },
    ...{ deltaBar: 0, epsilon: 0, phiBar: rNorm, norm: 0 },
  };
  let ended: PassEnd | null = null;
  while (ended === null) {
    options.signal?.throwIfAborted();
    if (run.iterations >= maxIterations) {
      ended = 'exhausted';
      break;
    }
    const moved = await step(run, pass);
    if (!moved) {
      ended = 'least-squares';
      break;
    }
    run.iterations++;
    const relative = pass.phiBar / bNorm;
    run.residuals.push(relative);
    options.onIteration?.({ iteration: run.iterations, residual: relative, x: run.x });
    if (relative <= tolerance || pass.beta <= Number.EPSILON * pass.norm) ended = 'claimed';
    else if (refresh > 0 && run.iterations % refresh === 0 && (await parted(run, pass))) ended = 'parted';
  }
  dropAll(held, pass.u, pass.uOld, pass.w, pass.wOld);
  return ended;
}

/** Whether rounding has made the true residual more than twice the recurred one. */
async function parted<V>(run: Run<V>, pass: Pass<V>): Promise<boolean> {
  const [r, rNorm] = await trueResidual(run);
  run.held.drop(r);
  return rNorm > 2 * pass.phiBar;
}

/** Σ c·v over the terms whose vector exists. */
function combineTerms<V>(held: Held<V>, terms: readonly (readonly [number, V | null])[]): V {
  const present = terms.filter((term): term is readonly [number, V] => term[1] !== null);
  return held.combine(
    present.map(([c]) => c),
    present.map(([, v]) => v),
  );
}

function dropAll<V>(held: Held<V>, ...vectors: (V | null)[]): void {
  for (const v of vectors) if (v !== null) held.drop(v);
}

/** One iteration; false, and x unchanged, when ‖Ar‖ says that no x does better. */
async function step<V>(run: Run<V>, pass: Pass<V>): Promise<boolean> {
  const { space, held, options } = run;
  const { u, uOld, beta, betaOld } = pass;
  const au = await held.apply(run.apply, u);
  run.products++;
  const [uau] = await space.dots([[u, au]]);
  const ritz = uau / (beta * beta); // vᵀAv, v = u/β
  const next = combineTerms(held, [
    [1 / beta, au],
    [-ritz / beta, u],
    [-beta / betaOld, uOld],
  ]);
  held.drop(au);
  const [nn] = await space.dots([[next, next]]);
  requireFinite('minres', 'the Lanczos vector', nn + ritz, run.iterations);
  const betaNext = Math.sqrt(nn);
  const alpha = ritz + (options.damping ?? 0);
  pass.norm = Math.max(pass.norm, Math.hypot(uOld === null ? 0 : beta, alpha, betaNext));
  const delta = pass.cos * pass.deltaBar + pass.sin * alpha;
  const gammaBar = pass.sin * pass.deltaBar - pass.cos * alpha;
  const root = Math.hypot(gammaBar, pass.cos * betaNext); // ‖Ar‖/‖r‖ before this update
  if (root <= (options.leastSquaresTolerance ?? 1e-10) * pass.norm) {
    held.drop(next);
    return false;
  }
  const gamma = Math.hypot(gammaBar, betaNext);
  update(run, pass, delta, gamma, gammaBar / gamma);
  pass.epsilon = pass.sin * betaNext;
  pass.deltaBar = -pass.cos * betaNext;
  pass.cos = gammaBar / gamma;
  pass.sin = betaNext / gamma;
  pass.phiBar *= pass.sin;
  dropAll(held, uOld);
  Object.assign(pass, { u: next, uOld: u, beta: betaNext, betaOld: beta });
  return true;
}

/** w ← (v − δ·w − ε·w_old)/γ, x ← x + φ·w. */
function update<V>(run: Run<V>, pass: Pass<V>, delta: number, gamma: number, cos: number): void {
  const { held } = run;
  const { u, beta, w, wOld, epsilon, phiBar } = pass;
  const next = combineTerms(held, [
    [1 / (beta * gamma), u],
    [-delta / gamma, w],
    [-epsilon / gamma, wOld],
  ]);
  const x = held.combine([1, cos * phiBar], [run.x, next]);
  if (run.x !== run.from) held.drop(run.x);
  run.x = x;
  dropAll(held, wOld);
  pass.wOld = w;
  pass.w = next;
}
