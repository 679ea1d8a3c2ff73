// What a set of pairs contributes to a batch loss as positives (Pos) and as negatives (Neg), on the matrix S.

import { EcifError } from '../array/errors.ts';
import { add, mul, sub } from '../autodiff/ops/binary.ts';
import { contrastive } from '../autodiff/ops/contrastive.ts';
import { gather } from '../autodiff/ops/indexing.ts';
import { broadcastTo, full, permute, reshape, stack, zeros } from '../autodiff/ops/layout.ts';
import { greaterEqual, where } from '../autodiff/ops/piecewise.ts';
import { logSumExp, sum } from '../autodiff/ops/reduce.ts';
import { softmax } from '../autodiff/ops/softmax.ts';
import { affine, exp, log1p, neg as negate } from '../autodiff/ops/unary.ts';
import { Tensor, tensor } from '../autodiff/tensor.ts';
import { FAR } from '../models/model.ts';
import { anchorLosses } from './objective.ts';

/**
 * How the effect of negatives is written, with P_k the softmax mass of the removed in row (column) k of the kept:
 * `corrected` Σ P_k, the first-order coefficient; `published` Σ 1/P_k, as printed; `exact` Σ −log(1 − P_k).
 */
export type NegForm = 'corrected' | 'published' | 'exact';

/** A value split by direction. */
export interface Directions {
  readonly t2i: Tensor;
  readonly i2t: Tensor;
}

/** Both directions together. */
export const both = ({ t2i, i2t }: Directions): Tensor => add(t2i, i2t);

/** Makes sure that positions lie in a batch. */
function requireWithin(positions: readonly number[], size: number): void {
  const odd = positions.find((i) => !Number.isInteger(i) || i < 0 || i >= size);
  if (odd !== undefined)
    throw new EcifError(`Seg: position ${odd} in a batch of ${size}; give a whole number in 0…${size - 1}`);
}

/** A set of pairs of a batch by their positions, or of batches (…, B) by 1 at each of them and 0 elsewhere. */
export type Removed = readonly number[] | Tensor;

/** 1 at the given positions, 0 elsewhere, (n). */
export function indicator(like: Tensor, positions: Removed): Tensor {
  if (positions instanceof Tensor) return positions;
  const values = new Float64Array(like.shape[0]);
  requireWithin(positions, values.length);
  for (const i of positions) values[i] = 1;
  return tensor(like.device, values);
}

/**
 * Pos(E): both loss terms of every removed anchor, candidates being the whole batch.
 * @eq eq-pos
 * @param s (B, B), or (…, B, B) of several batches
 */
export function pos(s: Tensor, removed: Removed): Directions {
  const { t2i, i2t } = anchorLosses(s);
  const e = indicator(s, removed);
  return { t2i: sum(mul(e, t2i)), i2t: sum(mul(e, i2t)) };
}

/** S with every candidate that is not in the set far below: columns for rows (axis −1), rows for columns (axis −2). */
export function masked(s: Tensor, set: Tensor, axis: -1 | -2): Tensor {
  const far = affine(set, -FAR, FAR);
  const along = axis === -1 ? [1, set.shape.at(-1) as number] : [set.shape.at(-1) as number, 1];
  return add(s, reshape(far, [...set.shape.slice(0, -1), ...along]));
}

/** Sᵀ of every batch. */
const turned = (s: Tensor): Tensor =>
  permute(
    s,
    s.shape.map((_, i, { length }) => (i < length - 2 ? i : 2 * length - 3 - i)),
  );

/** log P_k for every row (axis −1) or column (axis −2): the share of the removed in the softmax of k. */
const logShare = (s: Tensor, removed: Tensor, axis: -1 | -2): Tensor =>
  sub(logSumExp(masked(s, removed, axis), axis), logSumExp(s, axis));

/** −log(1 − P), also where P is close to 1: there from log of the share of the kept. */
function minusLogRest(logP: Tensor, logRest: Tensor): Tensor {
  const p = exp(logP);
  const small = where(greaterEqual(p, full(p.device, p.shape, 0.5)), zeros(p.device, p.shape), p);
  return where(greaterEqual(p, full(p.device, p.shape, 0.5)), negate(logRest), negate(log1p(negate(small))));
}

/**
 * Neg(E) in one of its forms, summed over the kept.
 * @eq eq-neg-taylor
 * @eq erratum-01-neg-inverted
 * @eq erratum-08-taylor-point
 * @deviation the paper prints the reciprocal, here `published`
 * @param s (B, B), or (…, B, B) of several batches
 */
export function neg(s: Tensor, removed: Removed, form: NegForm): Directions {
  const e = indicator(s, removed);
  const kept = affine(e, -1, 1);
  if (form === 'corrected') {
    const places = e.shape.slice(0, -1);
    const [n] = e.shape.slice(-1);
    const meets = mul(reshape(kept, [...places, n, 1]), reshape(e, [...places, 1, n])); // row k kept, candidate removed
    return { t2i: sum(mul(softmax(s), meets)), i2t: sum(mul(softmax(turned(s)), meets)) };
  }
  const part = (axis: -1 | -2): Tensor => {
    const logP = logShare(s, e, axis);
    if (form === 'published') return sum(mul(kept, exp(negate(logP))));
    return sum(mul(kept, minusLogRest(logP, logShare(s, kept, axis))));
  };
  return { t2i: part(-1), i2t: part(-2) };
}

/**
 * The batch loss with the removed weighted by ζ as candidates of the kept: L + Σ_k log(1 + (ζ − 1)·P_k). ζ = 1 is the
 * loss itself; ζ = 0 leaves what the removed do as positives.
 * @eq eq-zeta-loss
 * @eq erratum-14-double-shift
 * @deviation the set is weighted once; E_n for every n would weight pairs within it twice
 * @param zeta in 0…1
 */
export function zetaLoss(s: Tensor, removed: readonly number[], zeta: number): Tensor {
  const e = indicator(s, removed);
  const kept = affine(e, -1, 1);
  const part = (axis: -1 | -2): Tensor => {
    const logP = logShare(s, e, axis);
    // log(1 − P + ζP); near P = 1 and ζ = 0 only the logarithms of both parts have digits left.
    const both = (): Tensor => stack([logShare(s, kept, axis), affine(logP, 1, Math.max(Math.log(zeta), FAR))]);
    const near = zeta >= 0 && zeta < 0.5;
    return sum(mul(kept, near ? logSumExp(both(), 0) : log1p(affine(exp(logP), zeta - 1, 0))));
  };
  return add(contrastive(s), add(part(-1), part(-2)));
}

/**
 * The batch loss with the rows and columns of the removed dropped; 0 where nothing is left.
 * @eq eq-removed-loss
 * @eq erratum-08-missing-log
 */
export function removedLoss(s: Tensor, removed: readonly number[]): Tensor {
  requireWithin(removed, s.shape[0]);
  const kept = Array.from({ length: s.shape[0] }, (_, i) => i).filter((i) => !removed.includes(i));
  if (kept.length === 0) return sum(affine(s, 0, 0));
  const index = tensor(s.device, Int32Array.from(kept), [kept.length], 'int');
  return contrastive(permute(gather(permute(gather(s, index)), index)));
}

/** −log(1 − p) of every entry: one that is most of its row (column) from log of the share of the others. */
function minusLogOthers(p: Tensor, logits: Tensor, axis: -1 | -2): Tensor {
  const most = greaterEqual(p, full(p.device, p.shape, 0.75));
  const others = logSumExp(add(logits, affine(most, FAR, 0)), axis, { keepDims: true });
  const rest = broadcastTo(sub(logSumExp(logits, axis, { keepDims: true }), others), p.shape);
  return where(most, rest, negate(log1p(negate(where(most, zeros(p.device, p.shape), p)))));
}

/** Pos and Neg of every pair alone, (…, B) each: what a forward-mode sweep turns into all scores at once. */
export interface PairTerms {
  readonly pos: Directions;
  readonly neg: Directions;
}

/**
 * Pos_n and Neg_n for E = {n}, all n.
 * @eq eq-pos
 * @eq eq-neg-taylor
 * @param s (…, B, B)
 */
export function pairTerms(s: Tensor, form: NegForm): PairTerms {
  const n = s.shape[s.shape.length - 1];
  const off = tensor(
    s.device,
    Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 0 : 1)),
    [n, n],
  );
  const share = (p: Tensor, logits: Tensor, axis: -1 | -2): Tensor => {
    if (form === 'corrected') return mul(p, off);
    if (form === 'exact') return mul(minusLogOthers(p, logits, axis), off);
    return mul(exp(sub(logSumExp(logits, axis, { keepDims: true }), logits)), off);
  };
  const rows = share(softmax(s), s, -1);
  const columns = share(turned(softmax(turned(s))), s, -2);
  return { pos: anchorLosses(s), neg: { t2i: sum(rows, -2), i2t: sum(columns, -1) } };
}
