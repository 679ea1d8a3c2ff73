// Products with the curvature of an objective at one point, over all of its batches or over some.

import type { Rng } from '../../array/rng.ts';
import type { Operator } from '../../linalg/space.ts';
import { treeSpace } from '../../linalg/tree-space.ts';
import { gaussNewtonProduct, hessianProduct, type StreamedLoss } from '../../models/streamed.ts';
import type { CurvatureKind } from './record.ts';

/** v ↦ curvature·v at θ, δ included. */
export function curvatureOperator<T, B>(loss: StreamedLoss<T, B>, theta: T, kind: CurvatureKind): Operator<T> {
  const product = kind === 'hessian' ? hessianProduct(loss) : gaussNewtonProduct(loss);
  return (v) => product(theta, v);
}

/** An unbiased estimate of curvature·v, from so many batches drawn without replacement. */
export function batchOperator<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  kind: CurvatureKind,
  count: number,
): (v: T, rng: Rng) => Promise<T> {
  const space = treeSpace<T>();
  const all = loss.partitions.flat();
  return async (v, rng) => {
    const drawn = Array.from(rng.permutation(all.length).slice(0, count), (i) => all[i]);
    const product = await curvatureOperator({ ...loss, partitions: [drawn], l2: 0 }, theta, kind)(v);
    const out = space.combine([all.length / drawn.length / loss.partitions.length, loss.l2], [product, v]);
    space.release(product);
    return out;
  };
}
