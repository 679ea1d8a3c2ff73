// Training on until the gradient of the whole objective vanishes.

import { lbfgs } from '../linalg/lbfgs.ts';
import type { MinimizeOptions, MinimizeResult } from '../linalg/minimize.ts';
import { cgDirection, newton } from '../linalg/newton.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { hessianProduct, objectiveOf, type StreamedLoss } from './streamed.ts';

/** Where {@link settle} came to. */
export interface Settled<T> extends Pick<MinimizeResult<T>, 'value' | 'gradientNorm' | 'converged' | 'status'> {
  readonly theta: T;
  readonly iterations: { readonly lbfgs: number; readonly newton: number };
}

/** Settings of {@link settle}. */
export interface SettleOptions {
  /** ‖∇F‖ to reach. */
  readonly tolerance: number;
  /** Iterations of L-BFGS at most. */
  readonly iterations: number;
  /** Newton steps at most, where L-BFGS did not get there. */
  readonly newtonSteps: number;
  /** Relative rounding error of the loss. */
  readonly noise: number;
  onIteration?(method: 'lbfgs' | 'newton', iteration: number, value: number, norm: number): void;
}

/**
 * Minimises the objective until ‖∇F‖ ≤ tolerance: L-BFGS, and Newton by conjugate gradients where it does not get there.
 * @param start stays the caller's
 */
export async function settle<T, B>(loss: StreamedLoss<T, B>, start: T, options: SettleOptions): Promise<Settled<T>> {
  const { tolerance, iterations, newtonSteps, noise, onIteration } = options;
  const space = treeSpace<T>();
  const told = (method: 'lbfgs' | 'newton', maxIterations: number): MinimizeOptions<T> => ({
    gradientTolerance: tolerance,
    maxIterations,
    valueNoise: noise,
    onIteration: ({ iteration, value, gradientNorm: norm }) => onIteration?.(method, iteration, value, norm),
  });
  const first = await lbfgs(space, objectiveOf(loss), start, told('lbfgs', iterations));
  const { value, gradientNorm: norm, converged, status } = first;
  const counts = { lbfgs: first.iterations, newton: 0 };
  if (converged || newtonSteps === 0)
    return { theta: first.x, value, gradientNorm: norm, converged, status, iterations: counts };
  const direction = cgDirection(space, hessianProduct(loss));
  const second = await newton(space, objectiveOf(loss), first.x, direction, told('newton', newtonSteps));
  space.release(first.x);
  return {
    theta: second.x,
    value: second.value,
    gradientNorm: second.gradientNorm,
    converged: second.converged,
    status: second.status,
    iterations: { ...counts, newton: second.iterations },
  };
}
