// Newton's method in a trust region, on the Hessian where it is positive along the way, on Gauss-Newton where not.
import {
  beginMinimization,
  finish,
  iterate,
  type Minimization,
  type MinimizeOptions,
  type MinimizeResult,
  moveTo,
  probe,
} from './minimize.ts';
import { Held, type Objective, type Operator, type Space } from './space.ts';
import { truncatedCg, type TruncatedStep } from './truncated-cg.ts';

/** Which second derivative a model is made of. */
export type CurvatureKind = 'hessian' | 'gauss-newton';

/** A symmetric operator at one point, and the memory it holds. */
export interface Curvature<V> {
  product(v: V): V | Promise<V>;
  release(): void;
}

/** Options of {@link trustRegion}; `gradientTolerance` defaults to 1e-10, `maxIterations` to 100. */
export interface TrustRegionOptions<V> extends MinimizeOptions<V> {
  /** First radius; 1 unless told. */
  radius?: number | undefined;
  /** Whether the first model is of Gauss-Newton; not unless told. */
  gaussNewton?: boolean | undefined;
  /** ‖∇f‖ against which the accuracy of the inner solves is set; that at x0 unless told. */
  referenceNorm?: number | undefined;
  /** Products of one inner solve at most; 250 unless told. */
  innerIterations?: number | undefined;
  /** M⁻¹ at x, M close to the curvature there; none unless given. */
  preconditioner?: ((x: V) => Operator<V> | Promise<Operator<V>>) | undefined;
}

/** Result of {@link trustRegion}, with what is needed to go on from it. */
export interface TrustRegionResult<V> extends MinimizeResult<V> {
  readonly radius: number;
  readonly gaussNewton: boolean;
  /** Products of the curvature. */
  readonly products: number;
}

/** Steps without a lower value or gradient after which the run is called stagnated. */
const PATIENCE = 5;
/** Shortenings of one step before it is given up. */
const MAX_CUTS = 12;
/** Share of the promised decrease at which a step is taken, and those at which the radius falls and grows. */
const [TAKEN, POOR, GOOD] = [1e-4, 0.25, 0.75];

/** A minimisation with its region. */
interface Region<V> extends Minimization<V> {
  radius: number;
  products: number;
}

/**
 * Decrease of f from `from` to a point, in units of what the model promised. Where differences of f are lost in its
 * rounding, it is the mean of the slopes at both ends that tells.
 */
function ratioOf<V>(
  run: Region<V>,
  slopes: readonly [number, number],
  promised: number,
  to: { value: number },
): number {
  const lost = promised <= 10 * run.noise();
  return (lost ? -(slopes[0] + slopes[1]) / 2 : run.at.value - to.value) / promised;
}

/** Moves along a step, shortened until f falls as the model says; false if it never does. */
async function take<V>(run: Region<V>, { step, length, predicted, end }: TruncatedStep<V>): Promise<boolean> {
  const { held, at } = run;
  const [slope] = await run.space.dots([[at.gradient, step]]);
  const curved = -2 * (predicted + slope); // d·A·d
  for (let [t, cuts] = [1, 0]; cuts < MAX_CUTS; cuts++, t /= 4) {
    const to = await probe(run, step, t);
    const promised = -t * (slope + (t * curved) / 2);
    const ratio = ratioOf(run, [t * slope, t * to.slope], promised, to);
    if (!(ratio >= POOR)) run.radius = (t * length) / 4;
    else if (ratio > GOOD && end !== 'solved' && cuts === 0) run.radius = Math.max(run.radius, 3 * length);
    const lower = to.value <= at.value + run.noise() && to.norm < at.norm;
    if (Number.isFinite(to.norm) && (ratio >= TAKEN || lower)) {
      moveTo(run, to);
      held.drop(at.x, at.gradient);
      return true;
    }
    held.drop(to.x, to.gradient);
  }
  return false;
}

/**
 * Minimises a smooth function by Newton steps inside a trust region. A solve that meets negative curvature has its step
 * taken to the edge, and the next model is of Gauss-Newton; the one after that of the Hessian again.
 *
 * @param space the vectors' space.
 * @param objective x ↦ value and gradient.
 * @param x0 starting point, kept by the caller.
 * @param curvatureAt second derivatives at x, asked for once a step.
 * @param options see {@link TrustRegionOptions}.
 * @returns the point reached, with the region it was reached in.
 * @throws NumericsError when f or its gradient is not finite at x0.
 */
export async function trustRegion<V>(
  space: Space<V>,
  objective: Objective<V>,
  x0: V,
  curvatureAt: (x: V, kind: CurvatureKind) => Promise<Curvature<V>>,
  options: TrustRegionOptions<V> = {},
): Promise<TrustRegionResult<V>> {
  const { maxIterations = 100, innerIterations = 250, preconditioner, signal } = options;
  const held = new Held(space);
  try {
    const begun = await beginMinimization('trustRegion', space, held, objective, x0, options, 1e-10);
    const run: Region<V> = Object.assign(begun, { radius: options.radius ?? 1, products: 0 });
    const reference = options.referenceNorm ?? run.at.norm;
    let gaussNewton = options.gaussNewton ?? false;
    const status = await iterate(run, { maxIterations, patience: PATIENCE, signal }, async () => {
      const { x, gradient, norm } = run.at;
      const curvature = await curvatureAt(x, gaussNewton ? 'gauss-newton' : 'hessian');
      const found = await truncatedCg(space, (v) => curvature.product(v), gradient, {
        radius: run.radius,
        tolerance: Math.min(0.1, Math.max(Math.sqrt(norm / reference), 1e-3)),
        maxIterations: innerIterations,
        preconditioner: await preconditioner?.(x),
      }).finally(() => curvature.release());
      held.own(found.step);
      run.products += found.products;
      gaussNewton = found.end === 'negative-curvature';
      const better = await take(run, found);
      held.drop(found.step);
      return better;
    });
    return { ...finish(run, status), radius: run.radius, gaussNewton, products: run.products };
  } finally {
    held.end();
  }
}
