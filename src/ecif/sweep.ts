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

/** Batches that are read back together when few tangents go along. */
const BATCHES_AT_ONCE = 8;

type Terms<T> = (theta: T) => Record<string, Tensor>;

/** {@link tangentsOf} for several functions, read back together. */
async function tangentsOfEach<T>(
  fs: readonly Terms<T>[],
  theta: T,
  tangents: readonly T[],
): Promise<Record<string, Float64Array[]>[]> {
  const rows = fs.map((): Record<string, Float64Array[]> => ({}));
  for (let first = 0; first < tangents.length; first += AT_ONCE) {
    const some = tangents.slice(first, first + AT_ONCE);
    const swept = fs.map((f) => scope(() => jvpMany(f, theta, some)));
    const parts = await readAll(swept.flatMap(({ tangents: each }) => each.flatMap((t) => treeLeaves<Tensor>(t))));
    let at = 0;
    swept.forEach(({ tangents: each }, i) => {
      for (const one of each)
        for (const key of Object.keys(one).toSorted()) (rows[i][key] ??= []).push(Float64Array.from(parts[at++]));
    });
    disposeTree(swept.map(({ value, tangents: each }) => [value, each]));
  }
  return rows;
}

/**
 * Derivatives along each tangent of every leaf of f(θ), a record of vectors.
 * @returns one matrix for each leaf, row i for tangent i
 */
export const tangentsOf = async <T>(
  f: Terms<T>,
  theta: T,
  tangents: readonly T[],
): Promise<Record<string, Float64Array[]>> => (await tangentsOfEach([f], theta, tangents))[0];

/** One sweep over all batches: Pos and Neg of every pair, differentiated along every tangent. */
export async function sweepPairs<T, B>(
  { model, batches }: Problem<T, B>,
  theta: T,
  tangents: readonly T[],
  form: NegForm,
): Promise<PairTangents[]> {
  const terms = batches.map((members) => (t: T): Record<string, Tensor> => {
    const { pos, neg } = pairTerms(similarities(model, t, members), form);
    return { posT2i: pos.t2i, posI2t: pos.i2t, negT2i: neg.t2i, negI2t: neg.i2t };
  });
  const together = Math.max(1, Math.floor(BATCHES_AT_ONCE / tangents.length));
  const out: PairTangents[] = [];
  for (let first = 0; first < terms.length; first += together) {
    const swept = await tangentsOfEach(terms.slice(first, first + together), theta, tangents);
    for (const [i, rows] of swept.entries()) out.push(...pairsOf(first + i, rows));
  }
  return out;
}

/** The pairs of one batch from the rows of its terms. */
function pairsOf(batch: number, rows: Record<string, Float64Array[]>): PairTangents[] {
  const at = (key: string, position: number): Float64Array => Float64Array.from(rows[key], (row) => row[position]);
  return Array.from(rows.posT2i[0], (_, position) => ({
    batch,
    position,
    pos: { t2i: at('posT2i', position), i2t: at('posI2t', position) },
    neg: { t2i: at('negT2i', position), i2t: at('negI2t', position) },
  }));
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
