// Products with the curvature at one point for solvers, which ask for many: forward passes kept for a solve, for all, or not.

import { stacked } from '../../models/stacked.ts';
import { curvatureAt, type CurvatureHere, KEPT_BYTES, objectiveOf, type StreamedLoss } from '../../models/streamed.ts';
import { curvatureOperator } from './products.ts';
import type { CurvatureKind } from './record.ts';

/** How a solver makes its products. */
export interface ProductOptions {
  /**
   * `linearized` keeps the forward passes of as many batches as `memory` holds until the solver is disposed, `auto` for
   * the time of each solve, `streamed` none; `auto` unless told. The products are the same.
   */
  readonly products?: 'linearized' | 'streamed' | 'auto';
  /** Bytes on the device that may be kept of forward passes; 512 MiB unless told. */
  readonly memory?: number;
}

/** Products at one θ. */
export interface SolverProducts<T> {
  /** What `f` makes of v ↦ curvature·v, δ included, and of the gradient; both end with it. */
  during<R>(kind: CurvatureKind, f: (here: Omit<CurvatureHere<T>, 'release'>) => Promise<R>): Promise<R>;
  /** Gives back what is kept. */
  dispose(): void;
}

/** The products of a solver at θ. */
export function productsAt<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  { products = 'auto', memory = KEPT_BYTES }: ProductOptions,
): SolverProducts<T> {
  let held: { readonly kind: CurvatureKind; readonly at: CurvatureHere<T> } | null = null;
  const dispose = (): void => {
    held?.at.release();
    held = null;
  };
  return {
    during: async (kind, f) => {
      if (products === 'streamed') {
        const gradient = async (): Promise<T> => (await objectiveOf(await stacked(loss))(theta)).gradient;
        return f({ product: curvatureOperator(loss, theta, kind), gradient });
      }
      if (held?.kind !== kind) {
        dispose();
        held = { kind, at: await curvatureAt(await stacked(loss), theta, kind, memory) };
      }
      try {
        return await f(held.at);
      } finally {
        if (products === 'auto') dispose();
      }
    },
    dispose,
  };
}
