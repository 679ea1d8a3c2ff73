// Kronecker projections of parameters: every matrix M ↦ L·M·Rᵀ, much smaller than M.

import { EcifError } from '../../array/errors.ts';
import { createRng, type Rng } from '../../array/rng.ts';
import { treeFrom, treeLeaves, treePaths } from '../../array/tree.ts';
import { dot, norm } from '../../array/vector.ts';
import { disposeTree, keep, readAll, scope, type Tensor, tensor } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { symmetricEigen } from '../../linalg/symmetric-eigen.ts';
import { type Basis, fromBasis, STANDARD, toBasis } from './blocks.ts';
import type { Factor, KroneckerFactors } from './kronecker-factors.ts';

/**
 * How the rows of L and R are chosen: `random`, normal of variance 1/k, so that E[PᵀP] = 1 and inner products are kept
 * in expectation; `orthogonal`, random and orthonormal; `pca`, the leading eigenvectors of the Kronecker factors.
 */
export type ProjectionInit = 'random' | 'orthogonal' | 'pca';

/** Settings of {@link projectionOf}. */
export interface ProjectionOptions {
  /** Rows k of L and R; a side that is not longer keeps its length. */
  readonly size: number;
  /** `random` unless told. */
  readonly init?: ProjectionInit;
  /** 0 unless told. */
  readonly seed?: number;
  /** For `pca`, by path of the matrix. */
  readonly factors?: ReadonlyMap<string, KroneckerFactors>;
}

/** The map P from parameters to few numbers. */
export interface Projection<T> {
  /** Numbers that P gives. */
  readonly size: number;
  /** P·θ. */
  project(tree: T): Promise<Float64Array>;
  /** Pᵀ·values; it belongs to the caller. */
  lift(values: Float64Array): T;
  dispose(): void;
}

/** Rows of normal numbers of variance 1/k. */
const randomRows = (k: number, n: number, rng: Rng): Float64Array =>
  Float64Array.from({ length: k * n }, () => rng.normal() / Math.sqrt(k));

/** Random orthonormal rows, by Gram and Schmidt, twice. */
function orthonormalRows(k: number, n: number, rng: Rng): Float64Array {
  const out = randomRows(k, n, rng);
  for (let i = 0; i < k; i++) {
    const row = out.subarray(i * n, (i + 1) * n);
    for (let j = 0; j < 2 * i; j++) {
      const other = out.subarray((j % i) * n, ((j % i) + 1) * n);
      const c = dot(row, other);
      for (let l = 0; l < n; l++) row[l] -= c * other[l];
    }
    const length = norm(row);
    for (let l = 0; l < n; l++) row[l] /= length;
  }
  return out;
}

/** The eigenvectors of the k largest eigenvalues, in rows. */
function leadingRows(k: number, factor: Factor): Float64Array {
  const { size: n } = factor;
  if ('matrix' in factor) return symmetricEigen(factor.matrix, n).vectors.slice((n - k) * n);
  const order = Array.from(factor.diagonal.keys()).sort((i, j) => factor.diagonal[j] - factor.diagonal[i]);
  const out = new Float64Array(k * n);
  for (let row = 0; row < k; row++) out[row * n + order[row]] = 1;
  return out;
}

/** L or R of one side; null where nothing is to be projected. */
function sideOf(
  device: Device,
  n: number,
  { size, init = 'random' }: ProjectionOptions,
  factor: Factor | undefined,
  rng: Rng,
): Tensor | null {
  const k = Math.min(size, n);
  if (init === 'pca') return factor === undefined ? null : tensor(device, leadingRows(k, factor), [k, n]);
  if (init === 'orthogonal') return tensor(device, orthonormalRows(k, n, rng), [k, n]);
  return n <= size ? null : tensor(device, randomRows(k, n, rng), [k, n]);
}

/** Side of a projected matrix: that of L or R, or its own. */
const lengthOf = (side: Tensor | null, own: number): number => (side === null ? own : side.shape[0]);

/**
 * P over all parameters: matrices are projected on both sides, others stay as they are.
 * @throws EcifError for a size that is none
 * @example const p = projectionOf(theta, { size: 8 }); const small = await p.project(gradient);
 */
export function projectionOf<T>(theta: T, options: ProjectionOptions): Projection<T> {
  const { size, seed = 0, factors } = options;
  if (!(Number.isInteger(size) && size >= 1)) {
    throw new EcifError(`projection: size ${size}; give a whole number of at least 1`);
  }
  const [leaves, paths] = [treeLeaves<Tensor>(theta), treePaths(theta)];
  const bases = leaves.map(({ device, shape }, i): Basis => {
    if (shape.length !== 2) return STANDARD;
    const found = factors?.get(paths[i]);
    const rng = createRng(seed).fork(i);
    return keep({
      rows: sideOf(device, shape[0], options, found?.rows, rng),
      columns: sideOf(device, shape[1], options, found?.columns, rng),
    });
  });
  const shapes = leaves.map(({ shape }, i) =>
    shape.length === 2 ? [lengthOf(bases[i].rows, shape[0]), lengthOf(bases[i].columns, shape[1])] : shape,
  );
  const sizes = shapes.map((shape) => shape.reduce((a, b) => a * b, 1));
  const total = sizes.reduce((a, b) => a + b, 0);
  return {
    size: total,
    project: async (tree) => {
      const small = scope(() => treeLeaves<Tensor>(tree).map((x, i) => toBasis(bases[i], x)));
      const parts = await readAll(small);
      // What stays as it is belongs to the tree.
      disposeTree(small.filter((_, i) => bases[i].rows !== null || bases[i].columns !== null));
      const out = new Float64Array(total);
      let first = 0;
      for (const part of parts) {
        out.set(part, first);
        first += part.length;
      }
      return out;
    },
    lift: (values) => {
      let first = 0;
      const made = scope(() =>
        leaves.map(({ device }, i) => {
          const part = values.slice(first, (first += sizes[i]));
          return fromBasis(bases[i], tensor(device, part, shapes[i]));
        }),
      );
      return keep(treeFrom(theta, made));
    },
    dispose: () => disposeTree(bases),
  };
}
