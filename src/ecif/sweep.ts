// Forward-mode sweeps over the pairs: derivatives of per-pair terms along given directions, without per-pair gradients.

import { Flat } from '../autodiff/flat.ts';
import { disposeTree, readAll, scope, type Tensor } from '../autodiff/tensor.ts';
import { jvpMany } from '../autodiff/transforms.ts';
import { treeLeaves } from '../array/tree.ts';
import { similarities } from '../models/model.ts';
import type { Problem } from './objective.ts';
import { type NegForm, pairTerms } from './terms.ts';

/** Directions that one sweep takes along at most. */
const AT_ONCE = 32;

/** Where a pair lies. */
export interface PairPlace {
  readonly batch: number;
  readonly position: number;
}

/** Derivatives of one pair's Pos and Neg by direction, one entry for each tangent. */
export interface PairTangents extends PairPlace {
  readonly pos: { readonly t2i: Float64Array; readonly i2t: Float64Array };
  readonly neg: { readonly t2i: Float64Array; readonly i2t: Float64Array };
}

/**
 * Derivatives along each tangent of every leaf of f(θ), a tree of vectors.
 * @returns one matrix for each leaf, row i for tangent i
 */
export async function tangentsOf<T>(
  f: (theta: T) => Record<string, Tensor>,
  theta: T,
  tangents: readonly T[],
): Promise<Record<string, Float64Array[]>> {
  const rows: Record<string, Float64Array[]> = {};
  for (let first = 0; first < tangents.length; first += AT_ONCE) {
    const { value, tangents: pushed } = scope(() => jvpMany(f, theta, tangents.slice(first, first + AT_ONCE)));
    for (const one of pushed) {
      const parts = await readAll(treeLeaves<Tensor>(one));
      Object.keys(one)
        .toSorted()
        .forEach((key, i) => (rows[key] ??= []).push(Float64Array.from(parts[i])));
    }
    disposeTree([value, pushed]);
  }
  return rows;
}

/** One sweep over all batches: Pos and Neg of every pair, differentiated along every tangent. */
export async function sweepPairs<T, B>(
  problem: Problem<T, B>,
  theta: T,
  tangents: readonly T[],
  form: NegForm,
): Promise<PairTangents[]> {
  const out: PairTangents[] = [];
  for (const [batch, members] of problem.batches.entries()) {
    const terms = (t: T): Record<string, Tensor> => {
      const { pos, neg } = pairTerms(similarities(problem.model, t, members), form);
      return { posT2i: pos.t2i, posI2t: pos.i2t, negT2i: neg.t2i, negI2t: neg.i2t };
    };
    const rows = await tangentsOf(terms, theta, tangents);
    const at = (key: string, position: number): Float64Array => Float64Array.from(rows[key], (row) => row[position]);
    for (let position = 0; position < rows.posT2i[0].length; position++) {
      out.push({
        batch,
        position,
        pos: { t2i: at('posT2i', position), i2t: at('posI2t', position) },
        neg: { t2i: at('negT2i', position), i2t: at('negI2t', position) },
      });
    }
  }
  return out;
}

/** The unit vectors of the parameters as trees. */
export function unitTangents<T>(theta: T): T[] {
  const flat = new Flat(theta);
  return Array.from({ length: flat.size }, (_, i) => {
    const unit = new Float64Array(flat.size);
    unit[i] = 1;
    return flat.toTree(unit);
  });
}

/** Entry by entry. */
export const plus = (a: Float64Array, b: Float64Array): Float64Array => a.map((x, i) => x + b[i]);

/** ∇Pos_n and ∇Neg_n of every pair, for models of few parameters. */
export async function pairGradients<T, B>(
  problem: Problem<T, B>,
  theta: T,
  form: NegForm,
): Promise<(PairPlace & { pos: Float64Array; neg: Float64Array })[]> {
  const units = unitTangents(theta);
  const swept = await sweepPairs(problem, theta, units, form);
  disposeTree(units);
  return swept.map(({ batch, position, pos, neg }) => ({
    batch,
    position,
    pos: plus(pos.t2i, pos.i2t),
    neg: plus(neg.t2i, neg.i2t),
  }));
}
