// Curvature that is diagonal after an orthogonal change of basis of every parameter's rows and columns.

import { treeFrom, treeLeaves } from '../../array/tree.ts';
import { div } from '../../autodiff/ops/binary.ts';
import { matmul } from '../../autodiff/ops/matmul.ts';
import { affine } from '../../autodiff/ops/unary.ts';
import { disposeTree, keep, readAll, scope, type Tensor } from '../../autodiff/tensor.ts';
import { type Decomposition, decompositionOf } from './record.ts';

/** Bases of the rows and columns of a matrix, a vector in every row; null is the standard basis. */
export interface Basis {
  readonly rows: Tensor | null;
  readonly columns: Tensor | null;
}

/** The standard basis of both sides. */
export const STANDARD: Basis = { rows: null, columns: null };

/** A parameter's block: diag(values) in the basis, without δ. */
export interface Block extends Basis {
  /** Shape of the parameter. */
  readonly values: Tensor;
}

/** Coordinates of a parameter in a basis. */
export function toBasis({ rows, columns }: Basis, x: Tensor): Tensor {
  const left = rows === null ? x : matmul(rows, x);
  return columns === null ? left : matmul(left, columns, { form: 'nt' });
}

/** The parameter with these coordinates. */
export function fromBasis({ rows, columns }: Basis, x: Tensor): Tensor {
  const left = rows === null ? x : matmul(rows, x, { form: 'tn' });
  return columns === null ? left : matmul(left, columns);
}

/**
 * The decomposition made of a block for every leaf of θ, in order.
 * @param blocks are taken over
 */
export async function blockDecomposition<T>(
  theta: T,
  about: Decomposition<T>['about'],
  blocks: readonly Block[],
): Promise<Decomposition<T>> {
  const { l2 } = about;
  const { epsilon } = treeLeaves<Tensor>(theta)[0].device;
  const parts = await readAll(blocks.map(({ values }) => values));
  const spectrum = Float64Array.from(parts.flatMap((part) => Array.from(part, (v) => v + l2))).sort();
  const solve = (b: T, shift: number): T => {
    const leaves = treeLeaves<Tensor>(b).map((x, i) => {
      const block = blocks[i];
      return fromBasis(block, div(toBasis(block, x), affine(block.values, 1, shift)));
    });
    return treeFrom(b, leaves);
  };
  return decompositionOf(
    { about, spectrum, epsilon },
    (b, damping) => Promise.resolve(keep(scope(() => solve(b, l2 + damping)))),
    () => blocks.forEach(disposeTree),
  );
}
