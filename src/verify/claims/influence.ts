// Claims on the influence functions: positives, the response to re-weighting, and the edit they make.

import { addScaled, dot, norm } from '../../array/vector.ts';
import { itemOf } from '../../autodiff/tensor.ts';
import { negativeIF, positiveIF, posOf } from '../../ecif/influence.ts';
import { removalOf, removeLinear } from '../../ecif/removal.ts';
import type { Seg } from '../../ecif/seg.ts';
import type { NegForm } from '../../ecif/terms.ts';
import { apart, type Claim, off, say } from '../claim.ts';
import { derivative, plainMinimum } from '../plain.ts';
import { type Setting, settle } from '../setting.ts';
import { anywhere, treeAt } from './objective.ts';

type Vector = Float64Array;

/** Step of the weights around which the model is trained again. */
export const STEP = 1e-3;

export const minus = (v: Vector): Vector => v.map((x) => -x);

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
  place: 'Sec. 3, after Eq. 4 (response function)',
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
  place: 'Sec. 4.1; Alg. 1, step 5',
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
  place: 'Eq. 5, Prop. 4.1',
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
  place: 'Sec. 4.1, extension to multiple samples',
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

export const editClaim: Claim = {
  id: 'eq-edit',
  place: 'Property D.2; Alg. 1, step 11',
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
  place: 'Prop. D.1',
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
  byMedian: true,
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
