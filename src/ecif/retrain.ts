// Minimising an objective to the end: the ground truth that every estimate is compared with.

import { treeLeaves } from '../array/tree.ts';
import { hessian } from '../autodiff/curvature.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import { valueAndGrad } from '../autodiff/transforms.ts';
import { denseDirection, newton } from '../linalg/newton.ts';
import { float64Space } from '../linalg/space.ts';

/** A minimiser, with the norm of the gradient that was reached. */
export interface Minimum<T> {
  readonly theta: T;
  readonly gradientNorm: number;
  readonly iterations: number;
}

/**
 * Minimises a convex function by Newton's method on the dense Hessian.
 * @param start where to begin; not changed
 * @returns the minimiser, to the precision of the device
 */
export async function minimise<T>(f: (theta: T) => Tensor, start: T): Promise<Minimum<T>> {
  const flat = new Flat(start);
  const at = async <R>(x: Float64Array, use: (theta: T) => Promise<R>): Promise<R> => {
    const theta = flat.toTree(x);
    const result = await use(theta);
    disposeTree(theta);
    return result;
  };
  const evaluate = (x: Float64Array): Promise<{ value: number; gradient: Float64Array }> =>
    at(x, async (theta) => {
      const { value, grad } = scope(() => valueAndGrad(f)(theta));
      const result = { value: await value.item(), gradient: await flat.toVector(grad) };
      disposeTree([value, grad]);
      return result;
    });
  const matrix = (x: Float64Array): Promise<Float64Array> => at(x, async (theta) => (await hessian(f, theta)).matrix);
  const { epsilon } = treeLeaves<Tensor>(start)[0].device;
  const found = await newton(float64Space, evaluate, await flat.toVector(start), denseDirection(matrix, 'throw'), {
    gradientTolerance: Math.max(1e-12, 20 * epsilon),
    valueNoise: Math.max(1e-10, 20 * epsilon),
  });
  return { theta: flat.toTree(found.x), gradientNorm: found.gradientNorm, iterations: found.iterations };
}
