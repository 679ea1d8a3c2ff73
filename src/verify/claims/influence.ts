// Claims on the influence functions: positives, negatives, their Taylor expansion, and the edit they make.

import { addScaled, dot, norm } from '../../array/vector.ts';
import { itemOf } from '../../autodiff/tensor.ts';
import { lossOf, negativeIF, negOf, positiveIF, posOf } from '../../ecif/influence.ts';
import { decayTerm, totalLoss } from '../../ecif/objective.ts';
import { lossWithout, removalOf, removeLinear } from '../../ecif/removal.ts';
import type { Seg } from '../../ecif/seg.ts';
import { type NegForm, zetaLoss } from '../../ecif/terms.ts';
import { similarities } from '../../models/model.ts';
import { add } from '../../autodiff/ops/binary.ts';
import { apart, type Claim, off, say } from '../claim.ts';
import { derivative, plainMinimum, similarity } from '../plain.ts';
import type { Setting } from '../setting.ts';
import { settle } from '../setting.ts';
import { anywhere, treeAt } from './objective.ts';

type Vector = Float64Array;

/** Step of the weights around which the model is trained again. */
const STEP = 1e-3;

const minus = (v: Vector): Vector => v.map((x) => -x);

/** dθ̂/dε at ε = 0, by training again at ±ε. */
export const epsilonDerivative = ({ plain, minimum }: Setting): Vector =>
  derivative((t) => minimum(plain.positive(t)), STEP);

/** dθ̂/dζ at ζ = 1, by training again beside it. */
export const zetaDerivative = ({ plain, minimum }: Setting): Vector =>
  derivative((t) => minimum(plain.negative(1 + t)), STEP);

/** How θ̂ starts to move on the way to removal. */
export const removalDerivative = ({ plain, minimum }: Setting): Vector =>
  derivative((t) => minimum(plain.removal(t)), STEP);

/** The influences of the removed set, on the host. */
export async function influences(
  { problem, theta, seg, h, read }: Setting,
  form: NegForm,
): Promise<{ positive: Vector; negative: Vector }> {
  const [p, n] = [await positiveIF(problem, theta, seg, h), await negativeIF(problem, theta, seg, form, h)];
  return { positive: await read(() => p), negative: await read(() => n) };
}

/** What −positiveIF − negativeIF predicts of the parameters. */
export async function predictedChange(setting: Setting, form: NegForm): Promise<Vector> {
  const { positive, negative } = await influences(setting, form);
  return minus(addScaled(positive, 1, negative));
}

export const responseClaim: Claim = {
  id: 'erratum-11-response-sign',
  place: 'Sec. 2, after Eq. 4 (response function)',
  symbol: 'lim ε→−1',
  statement: 'Removing a term, ε from 0 to −1, changes θ̂ by −H⁻¹∇ℓ, to first order.',
  correction: '+H⁻¹∇ℓ: the derivative in ε is −H⁻¹∇ℓ and ε falls.',
  erratum: 11,
  expected: 'holds as corrected',
  async measure(setting) {
    const truth = minus(epsilonDerivative(setting));
    const { positive } = await influences(setting, 'corrected');
    return {
      printed: apart(positive, truth),
      corrected: apart(minus(positive), truth),
      control: apart(
        positive.map((x) => -1.1 * x),
        truth,
      ),
      note: `θ̂ starts to move by ${say(truth[0])}…, printed ${say(positive[0])}…`,
    };
  },
};

export const posClaim: Claim = {
  id: 'eq-pos',
  place: 'Sec. 3.1; Alg. 1, step 5',
  symbol: 'Pos',
  statement: 'Pos is both loss terms of each removed anchor over the whole batch.',
  expected: 'holds',
  async measure(setting) {
    const { problem, seg, plain } = setting;
    const w = anywhere(setting);
    const found = await itemOf(() => posOf(problem, seg)(treeAt(setting, w)));
    const only = (direction: 'both' | 't2i'): number =>
      plain.terms((removed) => ({ anchor: (k) => (removed(k) ? 1 : 0), candidate: () => 1 }), direction)(w).value;
    return { printed: off(found, only('both')), control: off(found, only('t2i')) };
  },
  shape: { text: 3, image: 2 },
};

export const positiveClaim: Claim = {
  id: 'prop-positive-if',
  place: 'Eq. 4, Prop. 1',
  symbol: 'positive-IF',
  statement: 'dθ̂_ε/dε at ε = 0 is −H⁻¹∇Pos(D*, Seg).',
  expected: 'holds',
  async measure(setting) {
    const truth = epsilonDerivative(setting);
    const { positive, negative } = await influences(setting, 'corrected');
    return { printed: apart(positive, truth), control: apart(addScaled(positive, 0.5, negative), truth) };
  },
  shape: { text: 3, image: 2 },
};

/** Every removed pair as a Seg of its own. */
export const singles = (seg: Seg): Seg[] =>
  seg.flatMap(({ batch, positions }) => positions.map((n) => [{ batch, positions: [n] }]));

export const additiveClaim: Claim = {
  id: 'prop-positive-additive',
  place: 'Sec. 3.1, extension to multiple samples',
  symbol: 'Σ positive-IF',
  statement: 'The positive influence of a set is the sum of those of its pairs.',
  expected: 'holds',
  shape: { remove: 3, text: 3, image: 2, pairs: 10, batches: 2 },
  async measure({ problem, theta, seg, h, read }) {
    const whole = await positiveIF(problem, theta, seg, h);
    const found = await read(() => whole);
    let sum = new Float64Array(found.length) as Vector;
    let last = sum;
    for (const one of singles(seg)) {
      const part = await positiveIF(problem, theta, one, h);
      last = await read(() => part);
      sum = addScaled(sum, 1, last);
    }
    return { printed: apart(sum, found), control: apart(addScaled(sum, -1, last), found) };
  },
};

export const removedLossClaim: Claim = {
  id: 'eq-removed-loss',
  place: 'Sec. 3.2, Eq. 6',
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
  place: 'Sec. 3.2, Eq. 7',
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
  place: 'Sec. 3.2, Taylor expansion at ζ = 1',
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
  place: 'Sec. 3.2, Neg and its use in the edit',
  symbol: 'θ̃ by the printed Neg',
  statement: 'With the printed Neg, θ̃ is closer to retraining than θ̂ is.',
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
  place: 'Prop. 2',
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
  place: 'Sec. 3.2 and App. C.2, log ζ·E_n for every n of E_m',
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

export const editClaim: Claim = {
  id: 'eq-edit',
  place: 'App. D, property (edited parameters); Alg. 1, step 11',
  symbol: 'θ̃ = θ̂ − positive-IF − negative-IF',
  statement: 'To first order θ̂_{ε,ζ} moves by ε·positive-IF + (ζ − 1)·negative-IF, with the printed Neg.',
  correction: 'With the corrected Neg.',
  erratum: 1,
  expected: 'holds as corrected',
  async measure(setting) {
    const truth = removalDerivative(setting);
    const corrected = await predictedChange(setting, 'corrected');
    const published = await predictedChange(setting, 'published');
    const { positive } = await influences(setting, 'corrected');
    return {
      printed: apart(published, truth),
      corrected: apart(corrected, truth),
      control: apart(minus(positive), truth),
      note: `towards removal θ̂ starts to move by ${say(truth[0])}…, printed ${say(published[0])}…`,
    };
  },
};

export const halfRootClaim: Claim = {
  id: 'erratum-04-root-half',
  place: 'App. D, first proposition',
  symbol: '√2/2',
  statement: 'The parameters after removal are θ̂ − H⁻¹·√2/2·(∇Pos + ∇Neg).',
  correction: 'θ̂ + H⁻¹(∇Pos + ∇Neg) to first order.',
  erratum: 4,
  expected: 'holds as corrected',
  async measure(setting) {
    const truth = removalDerivative(setting);
    const corrected = await predictedChange(setting, 'corrected');
    const printed = corrected.map((x) => -Math.SQRT1_2 * x);
    const cosine = dot(printed, truth) / (norm(printed) * norm(truth));
    return {
      printed: apart(printed, truth),
      corrected: apart(corrected, truth),
      control: apart(
        corrected.map((x) => Math.SQRT1_2 * x),
        truth,
      ),
      note: `cosine with the true change ${say(cosine)}`,
    };
  },
};

/** Relative error of the edit against retraining at a decay. */
async function editError(setting: Setting, device: Parameters<typeof settle>[1], delta: number): Promise<number[]> {
  const at = await settle({ ...setting.file, delta }, device);
  const removal = removalOf(at.problem, at.theta, at.seg, at.h);
  const retrained = plainMinimum(at.plain.removal(1), at.optimum);
  const change = norm(addScaled(retrained, -1, at.optimum));
  const errors: number[] = [];
  for (const form of ['published', 'exact'] as const) {
    const edited = await removeLinear(removal, form);
    errors.push(norm(addScaled(await at.read(() => edited), -1, retrained)) / change);
  }
  at.dispose();
  return errors;
}

export const orderClaim: Claim = {
  id: 'prop-removal-order',
  place: 'App. D, "ε = −1, ζ = 0 estimates retraining"',
  symbol: '‖θ̃ − θ*‖/‖θ* − θ̂‖',
  statement: 'The edit approaches retraining as δ grows, its relative error falling like 1/δ, with the printed Neg.',
  correction:
    'With the exact Neg; the corrected one keeps the gap of its linearisation, which falls with the batch size.',
  erratum: 1,
  expected: 'holds as corrected',
  tolerance: { float64: 0.2, float32: 0.2 },
  shape: { text: 2, image: 2, pairs: 6, batches: 1, temperature: 1 },
  async measure(setting, device) {
    const [low, high] = [await editError(setting, device, 200), await editError(setting, device, 800)];
    const order = (i: number): number => Math.log(high[i] / low[i]) / Math.log(4);
    return {
      printed: Math.abs(order(0) + 1),
      corrected: Math.abs(order(1) + 1),
      control: Math.abs(order(1) + 2),
      note: `from δ = 200 to 800 the error goes from ${say(low[0])} to ${say(high[0])}`,
    };
  },
};
