// The step of a trust region: conjugate gradients on a quadratic model, cut off at its edge and at negative curvature.
import { Held, requireFinite, type Operator, type Space } from './space.ts';

/** Settings of {@link truncatedCg}. */
export interface TruncatedOptions<V> {
  /** Longest step, in the norm of the preconditioner. */
  readonly radius: number;
  /** Stop at ‖g + A·d‖ ≤ tolerance·‖g‖. */
  readonly tolerance: number;
  readonly maxIterations: number;
  /** r ↦ M⁻¹r with M symmetric positive definite; a new vector. */
  readonly preconditioner?: Operator<V> | undefined;
}

/** A step, and what the model promises of it. */
export interface TruncatedStep<V> {
  /** The caller's to release. */
  readonly step: V;
  /** Its length in the norm of the preconditioner. */
  readonly length: number;
  /** −(g·d + d·A·d/2) > 0. */
  readonly predicted: number;
  readonly products: number;
  /** Why it ended. */
  readonly end: 'solved' | 'edge' | 'negative-curvature' | 'max-iterations';
}

/** The positive root τ of ‖d + τ·p‖ = radius. */
function toEdge(dd: number, dp: number, pp: number, radius: number): number {
  const left = radius ** 2 - dd;
  return left / (dp + Math.sqrt(dp ** 2 + pp * left));
}

/**
 * Minimises g·d + d·A·d/2 over ‖d‖ ≤ radius along the path of conjugate gradients (Steihaug).
 * @param apply v ↦ A·v, symmetric; need not be positive
 * @param g the gradient, kept by the caller
 * @example const { step } = await truncatedCg(space, (v) => lin.hvp(v), g, { radius: 1, tolerance: 0.1, maxIterations: 50 });
 */
export async function truncatedCg<V>(
  space: Space<V>,
  apply: Operator<V>,
  g: V,
  { radius, tolerance, maxIterations, preconditioner }: TruncatedOptions<V>,
): Promise<TruncatedStep<V>> {
  const held = new Held(space);
  const scaled = async (r: V): Promise<V> => (preconditioner ? held.apply(preconditioner, r) : r);
  try {
    let [d, r] = [held.own(space.zeros(g)), g];
    let z = await scaled(r);
    let [rr, rz] = await space.dots([
      [r, r],
      [r, z],
    ]);
    const enough = tolerance * Math.sqrt(rr);
    let p = held.combine([-1], [z]);
    let [dd, dp, pp, predicted] = [0, 0, rz, 0];
    for (let products = 0; ;) {
      const found = (end: TruncatedStep<V>['end']): TruncatedStep<V> => ({
        ...{ step: held.give(d), length: Math.sqrt(dd), predicted, products, end },
      });
      if (Math.sqrt(rr) <= enough) return found('solved');
      if (products >= maxIterations) return found('max-iterations');
      const ap = await held.apply(apply, p);
      products++;
      const [curved] = await space.dots([[p, ap]]);
      requireFinite('truncatedCg', 'pᵀAp', curved, products);
      const alpha = rz / curved;
      const leaves = !(curved > 0) || dd + 2 * alpha * dp + alpha ** 2 * pp >= radius ** 2;
      const tau = leaves ? toEdge(dd, dp, pp, radius) : alpha;
      predicted += tau * rz - (tau ** 2 * curved) / 2;
      d = held.replace(d, held.combine([1, tau], [d, p]));
      dd += 2 * tau * dp + tau ** 2 * pp;
      if (leaves) return found(curved > 0 ? 'edge' : 'negative-curvature');
      const next = held.combine([1, alpha], [r, ap]);
      held.drop(ap, z, r);
      r = next;
      z = await scaled(r);
      const before = rz;
      [rr, rz] = await space.dots([
        [r, r],
        [r, z],
      ]);
      requireFinite('truncatedCg', 'the residual', rr + rz, products);
      const beta = rz / before;
      dp = beta * (dp + alpha * pp);
      pp = rz + beta ** 2 * pp;
      p = held.replace(p, held.combine([-1, beta], [z, p]));
    }
  } finally {
    held.end();
  }
}
