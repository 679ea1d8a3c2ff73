// Approximations of the Gauss-Newton matrix by blocks: EK-FAC, K-FAC, its diagonal, the identity.

import { treeLeaves, treePaths } from '../../array/tree.ts';
import { full } from '../../autodiff/ops/layout.ts';
import { square } from '../../autodiff/ops/unary.ts';
import { disposeTree, type Tensor, tensor } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { symmetricEigen } from '../../linalg/symmetric-eigen.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { type Basis, type Block, blockDecomposition, STANDARD, toBasis } from './blocks.ts';
import { drawSettings, type DrawOptions, overGradients } from './draws.ts';
import { type Factor, type FactorOptions, kroneckerFactors, SPECTRUM_PASS } from './kronecker-factors.ts';
import type { Decomposition, SolverRecord } from './record.ts';

/** The eigenbasis of one side, its vectors in rows, and the eigenvalues. */
interface Side {
  readonly basis: Tensor | null;
  readonly values: Float64Array;
}

function sideOf(device: Device, factor: Factor): Side {
  if ('diagonal' in factor) return { basis: null, values: factor.diagonal };
  const { size, matrix } = factor;
  const { values, vectors } = symmetricEigen(matrix, size);
  return { basis: tensor(device, vectors, [size, size]), values: values.map((v) => Math.max(v, 0)) };
}

/** Both sides of every leaf that has factors, null for the others. */
async function sidesOf<T, B>(loss: StreamedLoss<T, B>, theta: T, options: FactorOptions) {
  const factors = await kroneckerFactors(loss, theta, options);
  const [leaves, paths] = [treeLeaves<Tensor>(theta), treePaths(theta)];
  return leaves.map(({ device }, i) => {
    const found = factors.get(paths[i]);
    return found === undefined ? null : { rows: sideOf(device, found.rows), columns: sideOf(device, found.columns) };
  });
}

/** Expected squares of the coordinates of the gradient in a basis for every leaf: the diagonal of the Gauss-Newton matrix there. */
async function diagonalIn<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: DrawOptions,
  bases: readonly Basis[],
): Promise<Tensor[]> {
  const { draws } = await overGradients(loss, theta, options, SPECTRUM_PASS, {
    draw: ({ gradient }) => treeLeaves<Tensor>(gradient).map((g, i) => square(toBasis(bases[i], g))),
    inputs: () => [],
  });
  return draws;
}

const aboutOf = (
  method: string,
  { l2 }: { readonly l2: number },
  settings: SolverRecord['settings'],
): Omit<SolverRecord, 'damping'> => ({ method, curvature: 'gauss-newton', l2, settings });

/**
 * EK-FAC: blocks that are diagonal in the Kronecker eigenbasis, with the diagonal that the Gauss-Newton matrix has there
 * in expectation. A parameter without a linear map gets its diagonal.
 * @example const ekfac = await ekfacOf(loss, theta, { draws: 8 }); const x = await ekfac.solver(0.1).solve(b);
 */
export async function ekfacOf<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: FactorOptions = {},
): Promise<Decomposition<T>> {
  const sides = await sidesOf(loss, theta, options);
  const bases = sides.map((both) =>
    both === null ? STANDARD : { rows: both.rows.basis, columns: both.columns.basis },
  );
  const values = await diagonalIn(loss, theta, options, bases);
  const blocks = bases.map((basis, i): Block => ({ ...basis, values: values[i] }));
  return blockDecomposition(theta, aboutOf('ekfac', loss, drawSettings(options)), blocks);
}

/** K-FAC: rows ⊗ columns for every matrix, damped on the products of eigenvalues. A parameter without a linear map gets its diagonal. */
export async function kfacOf<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: FactorOptions = {},
): Promise<Decomposition<T>> {
  const sides = await sidesOf(loss, theta, options);
  const leaves = treeLeaves<Tensor>(theta);
  const diagonal = sides.includes(null)
    ? await diagonalIn(
        loss,
        theta,
        options,
        leaves.map(() => STANDARD),
      )
    : [];
  const blocks = sides.map((both, i): Block => {
    if (both === null) return { ...STANDARD, values: diagonal[i] };
    const { rows, columns } = both;
    disposeTree(diagonal.at(i));
    return {
      rows: rows.basis,
      columns: columns.basis,
      values: tensor(leaves[i].device, outer(rows.values, columns.values), leaves[i].shape),
    };
  });
  return blockDecomposition(theta, aboutOf('kfac', loss, drawSettings(options)), blocks);
}

/** a·bᵀ, row-major. */
function outer(a: Float64Array, b: Float64Array): Float64Array {
  const out = new Float64Array(a.length * b.length);
  a.forEach((x, i) => b.forEach((y, j) => (out[i * b.length + j] = x * y)));
  return out;
}

/** The diagonal of the Gauss-Newton matrix. */
export async function diagonalOf<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: DrawOptions = {},
): Promise<Decomposition<T>> {
  const bases = treeLeaves<Tensor>(theta).map(() => STANDARD);
  const values = await diagonalIn(loss, theta, options, bases);
  const blocks = values.map((each): Block => ({ ...STANDARD, values: each }));
  return blockDecomposition(theta, aboutOf('diagonal', loss, drawSettings(options)), blocks);
}

/**
 * A multiple of the identity, the curvature that ignores curvature.
 * @param scale added to δ; 1 unless told
 */
export function identityOf<T, B>(loss: StreamedLoss<T, B>, theta: T, scale = 1): Promise<Decomposition<T>> {
  const blocks = treeLeaves<Tensor>(theta).map((x): Block => ({ ...STANDARD, values: full(x.device, x.shape, scale) }));
  return blockDecomposition(theta, aboutOf('identity', loss, { scale }), blocks);
}
