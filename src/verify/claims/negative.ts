// Claims on the negatives: the loss without them, its expansion in ζ, Neg and negative-IF.

import { addScaled, dot, norm } from '../../array/vector.ts';
import { add } from '../../autodiff/ops/binary.ts';
import { itemOf } from '../../autodiff/tensor.ts';
import { lossOf, negOf } from '../../ecif/influence.ts';
import { decayTerm, totalLoss } from '../../ecif/objective.ts';
import { lossWithout } from '../../ecif/removal.ts';
import { type NegForm, zetaLoss } from '../../ecif/terms.ts';
import { similarities } from '../../models/model.ts';
import { apart, type Claim, off, say } from '../claim.ts';
import { derivative, similarity } from '../plain.ts';
import type { Setting } from '../setting.ts';
import { influences, minus, predictedChange, STEP, zetaDerivative } from './influence.ts';
import { anywhere, treeAt } from './objective.ts';

type Vector = Float64Array;

export const removedLossClaim: Claim = {
  id: 'eq-removed-loss',
  place: 'Sec. 4.2, Eq. 6',
  symbol: 'L after removal',
  statement: 'Removing a pair deletes its row and its column of S; what is left is L_Total − Pos − Neg exact.',
  expected: 'holds',
  async measure(setting) {
    const { problem, seg, plain } = setting;
    const w = anywhere(setting);
    const at = treeAt(setting, w);
    const expected = plain.removal(1)(w).value;
    const dropped = await itemOf(() => lossWithout(problem, seg)(at));
    const total = await itemOf(() => totalLoss(problem)(at));
    const lost = async (form: NegForm): Promise<number> => itemOf(() => lossOf(problem, seg, form)(at));
    const byTerms = total - (await lost('exact'));
    return {
      printed: Math.max(off(dropped, expected), off(byTerms, expected)),
      control: off(total - (await lost('published')), expected),
    };
  },
  shape: { text: 3, image: 2 },
};

export const zetaClaim: Claim = {
  id: 'eq-zeta-loss',
  place: 'Sec. 4.2, Eq. 7',
  symbol: 'L_ζ',
  statement:
    'Weighting e^{S_kn} by ζ, the loss goes from the original at ζ = 1 to the one without the negatives at ζ = 0.',
  expected: 'holds',
  async measure(setting) {
    const { problem, seg, plain, file } = setting;
    const w = anywhere(setting);
    const found = (zeta: number): Promise<number> =>
      itemOf(() => {
        const s = similarities(problem.model, treeAt(setting, w), problem.batches[0]);
        return add(zetaLoss(s, seg[0].positions, zeta), decayTerm(treeAt(setting, w), file.delta));
      });
    const errors: number[] = [];
    for (const zeta of [0, 0.3, 1]) errors.push(off(await found(zeta), plain.negative(zeta)(w).value));
    return { printed: Math.max(...errors), control: off(await found(0.3), plain.negative(0.31)(w).value) };
  },
  tolerance: { float64: 1e-6, float32: 1e-4 },
  shape: { text: 3, image: 2, batches: 1, pairs: 6 },
};

/** d/dζ of the loss at θ̂, at a given ζ. */
const slopeAt = ({ plain, optimum }: Setting, zeta: number): number =>
  derivative((t) => Float64Array.of(plain.negative(zeta + t)(optimum).value), STEP)[0];

export const taylorClaim: Claim = {
  id: 'eq-neg-taylor',
  place: 'Sec. 4.2, Taylor expansion at ζ = 1',
  symbol: 'Neg',
  statement: 'The coefficient of (ζ − 1) is Σ_k Σ_j e^{S_kj}/Σ_n e^{S_kn}.',
  correction: 'Its reciprocal, term by term: Σ_k Σ_n e^{S_kn}/Σ_j e^{S_kj}.',
  erratum: 1,
  expected: 'holds as corrected',
  async measure(setting) {
    const { problem, seg, value } = setting;
    const truth = slopeAt(setting, 1);
    const neg = (form: NegForm): Promise<number> => value(negOf(problem, seg, form));
    const [published, corrected] = [await neg('published'), await neg('corrected')];
    return {
      printed: off(published, truth),
      corrected: off(corrected, truth),
      control: off(await neg('exact'), truth),
      note: `dL/dζ = ${say(truth)}, printed ${say(published)}`,
    };
  },
};

export const invertedClaim: Claim = {
  id: 'erratum-01-neg-inverted',
  place: 'Sec. 4.2, Neg and its use in the edit',
  symbol: 'θ̃ by the printed Neg',
  statement: 'With the printed Neg, θ̃ is closer to retraining than θ̂ is, for most removals.',
  byMedian: true,
  correction: 'With the corrected Neg.',
  erratum: 1,
  expected: 'holds as corrected',
  tolerance: { float64: 1, float32: 1 },
  shape: { decay: 5, temperature: 1 },
  async measure(setting) {
    const { plain, minimum, optimum } = setting;
    const change = addScaled(minimum(plain.removal(1)), -1, optimum);
    const [published, corrected] = [
      apart(await predictedChange(setting, 'published'), change),
      apart(await predictedChange(setting, 'corrected'), change),
    ];
    return {
      printed: published,
      corrected,
      control: apart(minus(await predictedChange(setting, 'corrected')), change),
      note: `error over change ${say(published)}, doing nothing has 1`,
    };
  },
};

export const taylorPointClaim: Claim = {
  id: 'erratum-08-taylor-point',
  place: 'App. C.2, expansion "at ζ = 0"; dθ̂/dζ at ζ = 0',
  symbol: 'd/dζ',
  statement: 'Neg is the derivative of the loss in ζ at ζ = 0.',
  correction: 'At ζ = 1.',
  erratum: 8,
  expected: 'holds as corrected',
  async measure(setting) {
    const { problem, seg, value } = setting;
    const found = await value(negOf(problem, seg, 'corrected'));
    const [there, here] = [slopeAt(setting, 3 * STEP), slopeAt(setting, 1)];
    return {
      printed: off(found, there),
      corrected: off(found, here),
      control: off(found, slopeAt(setting, 0.5)),
      note: `dL/dζ is ${say(there)} at ζ = 0 and ${say(here)} at ζ = 1, Neg is ${say(found)}`,
    };
  },
};

export const missingLogClaim: Claim = {
  id: 'erratum-08-missing-log',
  place: 'App. C.2, first display',
  symbol: 'L_T2I,−neg',
  statement: 'Without its negatives the loss is Σ_k e^{S_kk}/Σ_j e^{S_kj}.',
  correction: 'Σ_k −log of it.',
  erratum: 8,
  expected: 'holds as corrected',
  async measure(setting) {
    const { file, plain } = setting;
    const w = anywhere(setting);
    const truth = plain.terms(
      (removed) => ({
        anchor: (k) => (removed(k) ? 0 : 1),
        candidate: (_, j) => (removed(j) ? 0 : 1),
      }),
      't2i',
    )(w).value;
    const shares = file.batches.flatMap((ids) => {
      const kept = ids.filter((id) => !file.remove.includes(id));
      const pairs = { text: kept.map((i) => file.text[i]), image: kept.map((i) => file.image[i]) };
      const s = kept.length === 0 ? [] : similarity(pairs, w, file.temperature);
      return s.map((row, k) => Math.exp(row[k]) / row.reduce((t, x) => t + Math.exp(x), 0));
    });
    const sum = (f: (p: number) => number): number => shares.reduce((t, p) => t + f(p), 0);
    return {
      printed: off(
        sum((p) => p),
        truth,
      ),
      corrected: off(
        sum((p) => -Math.log(p)),
        truth,
      ),
      control: off(
        sum((p) => -Math.log2(p)),
        truth,
      ),
      note: `the loss is ${say(truth)}, printed ${say(sum((p) => p))}`,
    };
  },
  shape: { pairs: 8, batches: 2, remove: 2 },
};

export const negativeClaim: Claim = {
  id: 'prop-negative-if',
  place: 'Prop. 4.2',
  symbol: 'negative-IF',
  statement: 'dθ̂_ζ/dζ is −H⁻¹∇Neg(D*, Seg), with the printed Neg.',
  correction: 'With the corrected Neg, at ζ = 1.',
  erratum: 1,
  expected: 'holds as corrected',
  async measure(setting) {
    const truth = zetaDerivative(setting);
    const negative = async (form: NegForm): Promise<Vector> => (await influences(setting, form)).negative;
    const published = await negative('published');
    return {
      printed: apart(published, truth),
      corrected: apart(await negative('corrected'), truth),
      control: apart(await negative('exact'), truth),
      note: `‖dθ̂/dζ‖ = ${say(norm(truth))}, printed ${say(norm(published))}`,
    };
  },
};

export const doubleShiftClaim: Claim = {
  id: 'erratum-14-double-shift',
  place: 'Sec. 4.2 and App. C.2, log ζ·E_n for every n of E_m',
  symbol: 'S + log ζ·Σ E_n',
  statement: 'Adding log ζ·E_n for every removed n weights the removed negatives by ζ and leaves Pos as it is.',
  correction: 'Shift every entry of the rows and columns of the set once.',
  erratum: 14,
  expected: 'holds as corrected',
  shape: { remove: 2, oneBatch: true, batches: 1, pairs: 6 },
  async measure(setting) {
    const { file, plain } = setting;
    const w = anywhere(setting);
    const zeta = 0.3;
    const s = similarity(file, w, file.temperature);
    const order = file.batches[0];
    const gone = (i: number): number => (file.remove.includes(order[i]) ? 1 : 0);
    const loss = (times: (i: number, j: number) => number): number => {
      const shifted = order.map((a, i) => order.map((b, j) => s[a][b] + times(i, j) * Math.log(zeta)));
      const one = (v: readonly number[], k: number): number => Math.log(v.reduce((t, x) => t + Math.exp(x), 0)) - v[k];
      const columns = order.map((_, k) => shifted.map((row) => row[k]));
      return shifted.reduce((t, row, k) => t + one(row, k) + one(columns[k], k), 0);
    };
    const truth = plain.negative(zeta)(w).value - (file.delta / 2) * dot(w, w);
    // E_n is one on row n and column n: entry (n, n') lies in two of them.
    const each = loss((i, j) => (i === j ? gone(i) : gone(i) + gone(j)));
    const once = loss((i, j) => Math.max(gone(i), gone(j)));
    return {
      printed: off(each, truth),
      corrected: off(once, truth),
      control: off(
        loss((i) => gone(i)),
        truth,
      ),
      note: `the ζ-loss is ${say(truth)}, with E_n for every n ${say(each)}`,
    };
  },
};
