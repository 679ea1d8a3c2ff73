// Parameter trees on a device as vectors, so that solvers and minimisers run where the model runs.

import { ShapeError } from '../array/errors.ts';
import { treeFrom, treeLeaves, treeMap, treePaths } from '../array/tree.ts';
import { combine, mul } from '../autodiff/ops/binary.ts';
import { zeros } from '../autodiff/ops/layout.ts';
import { sum } from '../autodiff/ops/reduce.ts';
import { affine } from '../autodiff/ops/unary.ts';
import { disposeTree, keep, readAll, scope, type Tensor } from '../autodiff/tensor.ts';
import type { HostArray } from '../device/device.ts';
import type { Space } from './space.ts';

/** Σ cᵢ·xᵢ of one leaf. */
function combineLeaf(coeffs: readonly number[], parts: readonly Tensor[]): Tensor {
  if (parts.length === 1) return affine(parts[0], coeffs[0], 0);
  return parts
    .slice(2)
    .reduce((total, x, i) => combine(1, total, coeffs[i + 2], x), combine(coeffs[0], parts[0], coeffs[1], parts[1]));
}

/** Leaves that are multiplied with each other. */
type LeafPairs = readonly (readonly [Tensor, Tensor])[];

function pairedLeaves(a: unknown, b: unknown): LeafPairs {
  if (treePaths(a).join() !== treePaths(b).join()) {
    throw new ShapeError('dots: trees with other keys; both must come from one space');
  }
  const right = treeLeaves<Tensor>(b);
  return treeLeaves<Tensor>(a).map((x, i) => {
    if (x.shape.join() !== right[i].shape.join()) {
      throw new ShapeError(
        `dots: leaves of shapes [${x.shape.join()}] and [${right[i].shape.join()}]; give equal ones`,
      );
    }
    return [x, right[i]];
  });
}

/** Numbers up to which vectors are read and multiplied on the host: less work than a kernel for each product. */
export const ON_HOST = 2 ** 20;

async function dotsOnHost(pairs: readonly LeafPairs[], distinct: readonly Tensor[]): Promise<number[]> {
  const values = await readAll(distinct);
  const read = new Map(distinct.map((x, i) => [x, values[i]]));
  const product = ([a, b]: LeafPairs[number]): number => {
    const [x, y] = [read.get(a) as HostArray, read.get(b) as HostArray];
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
    return sum;
  };
  return pairs.map((leaves) => leaves.reduce((total, leaf) => total + product(leaf), 0));
}

async function dotsOnDevice(pairs: readonly LeafPairs[]): Promise<number[]> {
  const products = scope(() => pairs.map((leaves) => leaves.map(([x, y]) => sum(mul(x, y)))));
  const values = await readAll(products.flat());
  disposeTree(products);
  let at = 0;
  return products.map((parts) => parts.reduce((total) => total + values[at++][0], 0));
}

/**
 * The vector space of trees of tensors. Vectors it makes belong to the caller until released, whatever scope is open.
 * @example const { x } = await cg(treeSpace<Theta>(), (v) => lin.hvp(v), g);
 */
export function treeSpace<T>(): Space<T> {
  return {
    async dots(pairs) {
      const leaves = pairs.map(([a, b]) => pairedLeaves(a, b));
      const distinct = [...new Set(leaves.flat(2))];
      const size = distinct.reduce((sum, x) => sum + x.size, 0);
      return size <= ON_HOST ? dotsOnHost(leaves, distinct) : dotsOnDevice(leaves);
    },
    combine(coeffs, vectors) {
      if (coeffs.length !== vectors.length || coeffs.length === 0) {
        throw new ShapeError(
          `combine: ${coeffs.length} coefficients for ${vectors.length} vectors; give one each, at least one`,
        );
      }
      const leaves = vectors.map((v) => treeLeaves<Tensor>(v));
      return keep(
        scope(() =>
          treeFrom<T>(
            vectors[0],
            leaves[0].map((_, i) =>
              combineLeaf(
                coeffs,
                leaves.map((l) => l[i]),
              ),
            ),
          ),
        ),
      );
    },
    zeros: (like) => keep(treeMap<Tensor, T>(like, (x) => zeros(x.device, x.shape))),
    release: (...vectors) => vectors.forEach(disposeTree),
  };
}
