// How far a result is from float64.

import { treeLeaves } from '../src/array/tree.ts';
import * as ecif from '../src/index.ts';

/** The values of a tree of tensors, leaf after leaf. */
export async function readFlat(tree: unknown): Promise<Float64Array> {
  const parts = await ecif.readAll(treeLeaves<ecif.Tensor>(tree));
  return Float64Array.from(parts.flatMap((p) => [...p]));
}

/** Largest difference, relative to the largest expected entry. */
export function relativeError(actual: Float64Array, expected: Float64Array): number {
  const peak = expected.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  return expected.reduce((m, v, i) => Math.max(m, Math.abs(v - actual[i])), 0) / peak;
}
