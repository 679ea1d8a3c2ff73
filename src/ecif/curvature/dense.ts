// The whole curvature of a model of few parameters, decomposed once.

import { Flat } from '../../autodiff/flat.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import { matVec, symmetrized, transpose } from '../../linalg/dense.ts';
import { symmetricEigen } from '../../linalg/symmetric-eigen.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { unitTangents } from '../sweep.ts';
import { curvatureOperator } from './products.ts';
import { conditionAt, type CurvatureKind, type Decomposition } from './record.ts';

/** Settings of {@link denseOf}. */
export interface DenseOptions {
  /** `gauss-newton` unless told. */
  readonly curvature?: CurvatureKind;
}

/** The curvature as a matrix, row-major over the parameters in leaf order, δ included. */
async function denseMatrix<T, B>(loss: StreamedLoss<T, B>, theta: T, kind: CurvatureKind): Promise<Float64Array> {
  const flat = new Flat(theta);
  const product = curvatureOperator(loss, theta, kind);
  const matrix = new Float64Array(flat.size ** 2);
  for (const [i, unit] of unitTangents(theta).entries()) {
    const column = await product(unit);
    matrix.set(await flat.toVector(column), i * flat.size);
    disposeTree([unit, column]);
  }
  return symmetrized(matrix, flat.size);
}

/**
 * Eigenvalues and eigenvectors of the whole curvature: exact, at one product for every parameter.
 * @example const dense = await denseOf(loss, theta, { curvature: 'hessian' }); await dense.solver(0.1).solve(b);
 */
export async function denseOf<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  { curvature = 'gauss-newton' }: DenseOptions = {},
): Promise<Decomposition<T>> {
  const flat = new Flat(theta);
  const n = flat.size;
  const { values: spectrum, vectors } = symmetricEigen(await denseMatrix(loss, theta, curvature), n);
  const columns = transpose(vectors, n);
  const { epsilon } = flat.device;
  const about = { method: 'dense', curvature, l2: loss.l2, settings: { parameters: n } };
  const made: Decomposition<T> = {
    about,
    spectrum,
    epsilon,
    solver: (damping = 0) => ({
      about: { ...about, damping },
      accuracy: epsilon * conditionAt(made, damping),
      solve: async (b) => {
        const along = matVec(vectors, await flat.toVector(b), n);
        return flat.toTree(
          matVec(
            columns,
            along.map((c, i) => c / (spectrum[i] + damping)),
            n,
          ),
        );
      },
      dispose: () => undefined,
    }),
    dispose: () => undefined,
  };
  return made;
}
