// The whole curvature of a model of few parameters, decomposed once.

import { Flat } from '../../autodiff/flat.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { unitTangent } from '../sweep.ts';
import { hostDecomposition } from './host-spectrum.ts';
import { curvatureOperator } from './products.ts';
import type { CurvatureKind, Decomposition } from './record.ts';

/** Settings of {@link denseOf}. */
export interface DenseOptions {
  /** `gauss-newton` unless told. */
  readonly curvature?: CurvatureKind;
  onProduct?(done: number, of: number): void;
}

/**
 * Eigenvalues and eigenvectors of the whole curvature: exact, at one product for every parameter.
 * @example const dense = await denseOf(loss, theta, { curvature: 'hessian' }); await dense.solver(0.1).solve(b);
 */
export async function denseOf<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  { curvature = 'gauss-newton', onProduct }: DenseOptions = {},
): Promise<Decomposition<T>> {
  const flat = new Flat(theta);
  const n = flat.size;
  const product = curvatureOperator(loss, theta, curvature);
  const matrix = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const unit = unitTangent(flat, i);
    const column = await product(unit);
    matrix.set(await flat.toVector(column), i * n);
    disposeTree([unit, column]);
    onProduct?.(i + 1, n);
  }
  const about = { method: 'dense', curvature, l2: loss.l2, settings: { parameters: n } };
  return hostDecomposition(about, matrix, n, flat.device.epsilon, {
    toVector: (b) => flat.toVector(b),
    toTree: (x) => flat.toTree(x),
    dispose: () => undefined,
  });
}
