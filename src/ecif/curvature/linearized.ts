// Products with the curvature at one point for solvers, which ask for many: forward passes kept for a solve, for all, or not.

import { stacked } from '../../models/stacked.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import {
  batchGradient,
  curvatureAt,
  type CurvatureHere,
  KEPT_BYTES,
  objectiveOf,
  type OnRows,
  type StreamedLoss,
} from '../../models/streamed.ts';
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
  /**
   * What `f` makes of v ↦ curvature·v, δ included, and of the gradient; both end with it.
   * @param on a function of S whose gradient is wanted too, `other` then
   */
  during<R>(kind: CurvatureKind, f: (here: Omit<CurvatureHere<T>, 'release'>) => Promise<R>, on?: OnRows): Promise<R>;
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
  /** The gradient of another function of S by a pass of its own, for as long as `f` takes. */
  const withOther = async <R>(on: OnRows | undefined, f: (aside: { readonly other?: T }) => Promise<R>): Promise<R> => {
    if (on === undefined) return f({});
    const other = await batchGradient({ ...(await stacked(loss)), on }, theta);
    try {
      return await f({ other });
    } finally {
      disposeTree(other);
    }
  };
  return {
    during: async (kind, f, on) => {
      if (products === 'streamed') {
        const gradient = async (): Promise<T> => (await objectiveOf(await stacked(loss))(theta)).gradient;
        const product = curvatureOperator(loss, theta, kind);
        return withOther(on, (aside) => f({ product, gradient, ...aside }));
      }
      if (held?.kind === kind) {
        const { at } = held;
        return withOther(on, (aside) => f({ ...at, ...aside }));
      }
      dispose();
      const at = await curvatureAt(await stacked(loss), theta, kind, memory, on);
      held = { kind, at };
      try {
        return await f(at);
      } finally {
        if (products === 'auto') dispose();
      }
    },
    dispose,
  };
}
