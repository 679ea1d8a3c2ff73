// Minimising an objective to the end: the ground truth that every estimate is compared with.

import { treeLeaves } from '../array/tree.ts';
import { hessian } from '../autodiff/curvature.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree, itemOf, scope, type Tensor } from '../autodiff/tensor.ts';
import { valueAndGrad } from '../autodiff/transforms.ts';
import { lbfgs } from '../linalg/lbfgs.ts';
import type { MinimizeOptions, MinimizeResult, MinimizeStatus } from '../linalg/minimize.ts';
import { denseDirection, newton } from '../linalg/newton.ts';
import { float64Space, type Objective } from '../linalg/space.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { DENSE_UP_TO } from './solver.ts';

/** Settings of {@link minimise}. */
export interface MinimiseOptions {
  /** Newton on the dense Hessian up to 100 parameters, L-BFGS beyond, unless told. */
  method?: 'newton' | 'lbfgs' | undefined;
  /** Stop at this ‖∇f‖; unless told 1e-12 for Newton and 1e-9 for L-BFGS in float64, in float32 ε·max(20, |f|). */
  gradientTolerance?: number | undefined;
  maxIterations?: number | undefined;
  /** Where the Hessian is not positive definite: an error, or a step with its eigenvalues made positive. */
  indefinite?: 'throw' | 'reflect' | undefined;
  /** Told after each iteration. */
  onIteration?: ((info: { iteration: number; value: number; gradientNorm: number }) => void) | undefined;
}

/** A minimiser, with the norm of the gradient that was reached. */
export interface Minimum<T> {
  readonly theta: T;
  readonly value: number;
  readonly gradientNorm: number;
  readonly iterations: number;
  readonly method: 'newton' | 'lbfgs';
  /** `stagnated`: no lower point is to be found in this precision. */
  readonly status: MinimizeStatus;
}

const minimum = <T>(
  { value, gradientNorm, iterations, status }: MinimizeResult<unknown>,
  theta: T,
  method: Minimum<T>['method'],
): Minimum<T> => ({ theta, value, gradientNorm, iterations, status, method });

/** f and its gradient at a tree, the gradient on the device. */
function objectiveOf<T>(f: (theta: T) => Tensor): Objective<T> {
  return async (theta) => {
    const { value, grad } = scope(() => valueAndGrad(f)(theta));
    const number = await value.item();
    value.dispose();
    return { value: number, gradient: grad };
  };
}

async function byNewton<T>(
  f: (theta: T) => Tensor,
  start: T,
  indefinite: 'throw' | 'reflect',
  options: MinimizeOptions<Float64Array>,
): Promise<Minimum<T>> {
  const flat = new Flat(start);
  const on = objectiveOf(f);
  const at = async <R>(x: Float64Array, use: (theta: T) => Promise<R>): Promise<R> => {
    const theta = flat.toTree(x);
    const result = await use(theta);
    disposeTree(theta);
    return result;
  };
  const objective = (x: Float64Array): Promise<{ value: number; gradient: Float64Array }> =>
    at(x, async (theta) => {
      const { value, gradient } = await on(theta);
      const vector = await flat.toVector(gradient);
      disposeTree(gradient);
      return { value, gradient: vector };
    });
  const matrix = (x: Float64Array): Promise<Float64Array> => at(x, async (theta) => (await hessian(f, theta)).matrix);
  const direction = denseDirection(matrix, indefinite);
  const found = await newton(float64Space, objective, await flat.toVector(start), direction, options);
  return minimum(found, flat.toTree(found.x), 'newton');
}

/**
 * Minimises a smooth function to the precision of the device: a convex one to its minimiser, another to a stationary point.
 * @param start where to begin; not changed
 * @throws NotPositiveDefiniteError where Newton's method meets an indefinite Hessian and was not told to reflect it
 * @example const { theta, gradientNorm } = await minimise(totalLoss(problem), start);
 */
export async function minimise<T>(
  f: (theta: T) => Tensor,
  start: T,
  options: MinimiseOptions = {},
): Promise<Minimum<T>> {
  const { epsilon } = treeLeaves<Tensor>(start)[0].device;
  const { method = new Flat(start).size <= DENSE_UP_TO ? 'newton' : 'lbfgs', indefinite = 'throw' } = options;
  const finest = method === 'newton' ? 1e-12 : 1e-9;
  const noise = 20 * epsilon > finest ? epsilon * Math.max(20, Math.abs(await itemOf(() => f(start)))) : 0;
  const { gradientTolerance = Math.max(finest, noise), onIteration } = options;
  const shared = { gradientTolerance, valueNoise: Math.max(1e-10, 20 * epsilon), onIteration };
  if (method === 'newton') {
    return byNewton(f, start, indefinite, { ...shared, maxIterations: options.maxIterations ?? 100 });
  }
  const found = await lbfgs(treeSpace<T>(), objectiveOf(f), start, {
    ...shared,
    maxIterations: options.maxIterations ?? 10_000,
    history: 20,
  });
  return minimum(found, found.x, method);
}
