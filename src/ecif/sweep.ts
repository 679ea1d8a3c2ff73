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

/** Batches to sweep before anything is read back. */
export const batchesTogether = (tangents: number): number => Math.max(1, Math.floor(BATCHES_AT_ONCE / tangents));

type Terms<T> = (theta: T) => Record<string, Tensor>;

/** Values of every leaf of a function, and its derivatives: row i of a leaf's matrix is of tangent i. */
export interface Swept {
  readonly values: Readonly<Record<string, Float64Array>>;
  readonly tangents: Readonly<Record<string, readonly Float64Array[]>>;
}

/**
 * Derivatives along each tangent of every leaf of some functions, records of vectors, read back together.
 * @param withValues whether the values are read too
 */
export async function sweepEach<T>(
  fs: readonly Terms<T>[],
  theta: T,
  tangents: readonly T[],
  withValues = false,
): Promise<Swept[]> {
  const out = fs.map(() => ({
    values: {} as Record<string, Float64Array>,
    tangents: {} as Record<string, Float64Array[]>,
  }));
  for (let first = 0; first < tangents.length; first += AT_ONCE) {
    const some = tangents.slice(first, first + AT_ONCE);
    const swept = fs.map((f) => scope(() => jvpMany(f, theta, some)));
    const looked = swept.map(({ value, tangents: each }) => (withValues && first === 0 ? [...each, value] : each));
    const parts = await readAll(looked.flatMap((each) => each.flatMap((t) => treeLeaves<Tensor>(t))));
    let at = 0;
    looked.forEach((each, i) =>
      each.forEach((one, k) => {
        for (const key of Object.keys(one).toSorted()) {
          const row = Float64Array.from(parts[at++]);
          if (k < some.length) (out[i].tangents[key] ??= []).push(row);
          else out[i].values[key] = row;
        }
      }),
    );
    disposeTree(swept.map(({ value, tangents: each }) => [value, each]));
  }
  return out;
}

/** Derivatives along each tangent of every leaf of f(θ), a record of vectors. */
export const tangentsOf = async <T>(f: Terms<T>, theta: T, tangents: readonly T[]): Promise<Swept['tangents']> =>
  (await sweepEach([f], theta, tangents))[0].tangents;

/** Pos and Neg of every pair of a batch, from its similarities. */
export function termsOf(s: Tensor, form: NegForm): Record<string, Tensor> {
  const { pos, neg } = pairTerms(s, form);
  return { posT2i: pos.t2i, posI2t: pos.i2t, negT2i: neg.t2i, negI2t: neg.i2t };
}

/** One sweep over all batches: Pos and Neg of every pair, differentiated along every tangent. */
export async function sweepPairs<T, B>(
  { model, batches }: Problem<T, B>,
  theta: T,
  tangents: readonly T[],
  form: NegForm,
): Promise<PairTangents[]> {
  const terms = batches.map(
    (members) =>
      (t: T): Record<string, Tensor> =>
        termsOf(similarities(model, t, members), form),
  );
  const together = batchesTogether(tangents.length);
  const out: PairTangents[] = [];
  for (let first = 0; first < terms.length; first += together) {
    const swept = await sweepEach(terms.slice(first, first + together), theta, tangents);
    for (const [i, { tangents: rows }] of swept.entries()) out.push(...pairsOf(first + i, rows));
  }
  return out;
}

/** The pairs of one batch from the rows of its terms. */
export function pairsOf(batch: number, rows: Swept['tangents']): PairTangents[] {
  const at = (key: string, position: number): Float64Array => Float64Array.from(rows[key], (row) => row[position]);
  return Array.from(rows.posT2i[0], (_, position) => ({
    batch,
    position,
    pos: { t2i: at('posT2i', position), i2t: at('posI2t', position) },
    neg: { t2i: at('negT2i', position), i2t: at('negI2t', position) },
  }));
}

/** One of the unit vectors of the parameters as a tree. */
export function unitTangent<T>(flat: Flat<T>, index: number): T {
  const unit = new Float64Array(flat.size);
  unit[index] = 1;
  return flat.toTree(unit);
}

/** The unit vectors of the parameters as trees. */
export function unitTangents<T>(theta: T): T[] {
  const flat = new Flat(theta);
  return Array.from({ length: flat.size }, (_, i) => unitTangent(flat, i));
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
