// A symmetric matrix on the host, decomposed once, behind the interface of every solver.

import { matVec, symmetrized, transpose } from '../../linalg/dense.ts';
import { symmetricEigen } from '../../linalg/symmetric-eigen.ts';
import { type Decomposition, decompositionOf } from './record.ts';

/** How trees become vectors of the matrix, and back. */
interface Coordinates<T> {
  toVector(b: T): Promise<Float64Array>;
  toTree(x: Float64Array): T;
  dispose(): void;
}

/**
 * Solves by eigenvalues and eigenvectors of a matrix.
 * @param matrix n×n, row-major, symmetric up to rounding
 */
export function hostDecomposition<T>(
  about: Decomposition<T>['about'],
  matrix: Float64Array,
  n: number,
  epsilon: number,
  coordinates: Coordinates<T>,
): Decomposition<T> {
  const { values: spectrum, vectors } = symmetricEigen(symmetrized(matrix, n), n);
  const columns = transpose(vectors, n);
  return decompositionOf(
    { about, spectrum, epsilon },
    async (b, damping) => {
      const along = matVec(vectors, await coordinates.toVector(b), n).map((c, i) => c / (spectrum[i] + damping));
      return coordinates.toTree(matVec(columns, along, n));
    },
    () => coordinates.dispose(),
  );
}
