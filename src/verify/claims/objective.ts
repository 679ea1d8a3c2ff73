// Claims on the objective: similarity, losses, their curvature, stationarity.

import { addScaled, norm } from '../../array/vector.ts';
import { createRng } from '../../array/rng.ts';
import { contrastive } from '../../autodiff/ops/contrastive.ts';
import { itemOf, scope, type Tensor, tensor } from '../../autodiff/tensor.ts';
import { curvaturesOf } from '../../ecif/curvatures.ts';
import { anchorLosses, totalLoss } from '../../ecif/objective.ts';
import { initLinearTwoTower, linearTwoTower } from '../../models/linear-two-tower.ts';
import { batchLoss, similarities } from '../../models/model.ts';
import { apart, type Claim, off, say } from '../claim.ts';
import { batchTerms, derivative, plainBatch, similarity } from '../plain.ts';
import type { Setting } from '../setting.ts';

/** A point away from the optimum, the same for every device. */
export const anywhere = ({ w }: Setting): Float64Array => {
  const rng = createRng(w.length);
  return w.map(() => rng.normal());
};

/** A point as the model's parameters. */
export const treeAt = ({ theta }: Setting, w: Float64Array): { w: Tensor } => ({
  w: tensor(theta.w.device, w, theta.w.shape),
});

/** cos(Aᵀx, Bᵀy)/τ of one pair, in plain loops. */
function plainCosine(
  [a, b]: readonly [ArrayLike<number>, ArrayLike<number>],
  x: readonly number[],
  y: readonly number[],
  d: number,
): number {
  const image = (m: ArrayLike<number>, v: readonly number[]): number[] =>
    Array.from({ length: d }, (_, c) => v.reduce((t, vi, i) => t + vi * m[i * d + c], 0));
  const [u, v] = [image(a, x), image(b, y)];
  return u.reduce((t, ui, i) => t + ui * v[i], 0) / (Math.hypot(...u) * Math.hypot(...v));
}

export const similarityClaim: Claim = {
  id: 'eq-similarity',
  place: 'Sec. 3, s(u, v)',
  symbol: 'S_ij = s(u_i, v_j)',
  statement: 's(u, v) = u·v/(‖u‖‖v‖)/τ, S_ij = s(u_i, v_j).',
  expected: 'holds',
  async measure({ file, problem }, device) {
    const [d, tau] = [3, file.temperature];
    const sizes = { text: file.text[0].length, image: file.image[0].length, shared: d };
    const towers = initLinearTwoTower(device, createRng(5), sizes);
    const s = await scope(() => similarities(linearTwoTower(tau), towers, problem.batches[0])).data();
    const weights = [await towers.text.data(), await towers.image.data()] as const;
    const ids = file.batches[0];
    const expected = ids.flatMap((i) => ids.map((j) => plainCosine(weights, file.text[i], file.image[j], d) / tau));
    const found = Float64Array.from(s);
    return {
      printed: apart(found, Float64Array.from(expected)),
      control: apart(
        found,
        Float64Array.from(expected, (x) => x * tau * 1.01),
      ),
    };
  },
};

export const batchLossClaim: Claim = {
  id: 'eq-batch-loss',
  place: 'Sec. 3, Eq. 1–2',
  symbol: 'L_Batch',
  statement: 'L_Batch = Σ_i −log softmax(S_i*)_i − log softmax(S_*i)_i, the sum of both directions over the anchors.',
  expected: 'holds',
  async measure(setting) {
    const { file, problem } = setting;
    const w = anywhere(setting);
    const found = await itemOf(() => batchLoss(problem.model, treeAt(setting, w), problem.batches[0]));
    const ids = file.batches[0];
    const pairs = { text: ids.map((i) => file.text[i]), image: ids.map((i) => file.image[i]) };
    const s = similarity(pairs, w, file.temperature);
    const softmax = (v: readonly number[], k: number): number =>
      Math.exp(v[k]) / v.reduce((t, x) => t + Math.exp(x), 0);
    const rows = s.reduce((t, row, k) => t - Math.log(softmax(row, k)), 0);
    const columns = s.reduce(
      (t, _, k) =>
        t -
        Math.log(
          softmax(
            s.map((row) => row[k]),
            k,
          ),
        ),
      0,
    );
    return { printed: off(found, rows + columns), control: off(found, 2 * rows) };
  },
  shape: { text: 3, image: 2 },
};

export const totalLossClaim: Claim = {
  id: 'eq-total-loss',
  place: 'Sec. 3, Eq. 3',
  symbol: 'L_Total',
  statement: 'L_Total = Σ over batches of L_Batch + δ/2·‖θ‖².',
  expected: 'holds',
  async measure(setting) {
    const { file, problem, plain } = setting;
    const w = anywhere(setting);
    const found = await itemOf(() => totalLoss(problem)(treeAt(setting, w)));
    const expected = plain.total(w).value;
    return { printed: off(found, expected), control: off(found, expected + (file.delta / 2) * norm(w) ** 2) };
  },
};

export const hessianClaim: Claim = {
  id: 'eq-hessian',
  place: 'Sec. 4.1 after Eq. 5; Alg. 1, step 8',
  symbol: 'H = ∇²Σ L_Batch + δI',
  statement: 'The Hessian at θ̂ is that of the batch losses plus δI, δ once; H = H₋ + ΔH.',
  expected: 'holds',
  tolerance: { float64: 1e-6, float32: 1e-2 },
  async measure({ file, problem, theta, seg, plain, w }) {
    const { before, after, lost } = curvaturesOf(problem, seg);
    const [h, less, difference] = [await before.dense(theta), await after.dense(theta), await lost.dense(theta)];
    const n = w.length;
    const expected = new Float64Array(n * n);
    w.forEach((_, i) => {
      const along = (t: number): Float64Array => plain.total(w.map((x, j) => (j === i ? x + t : x))).gradient;
      expected.set(derivative(along, 1e-3), i * n);
    });
    const whole = addScaled(less.matrix, 1, difference.matrix);
    const twice = expected.map((x, i) => (i % (n + 1) === 0 ? x + file.delta : x));
    return {
      printed: Math.max(apart(h.matrix, expected), apart(whole, h.matrix)),
      control: Math.min(apart(h.matrix, twice), apart(less.matrix, h.matrix)),
    };
  },
};

export const stationarityClaim: Claim = {
  id: 'erratum-11-stationarity',
  place: 'App. C, minimising conditions',
  symbol: '∇L_Total(θ̂) = 0',
  statement: 'θ̂ minimises Σ L_Batch, so Σ∇L_Batch(θ̂) = 0.',
  correction: 'Σ∇L_Batch(θ̂) + δθ̂ = 0.',
  erratum: 11,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-6, float32: 1e-2 },
  async measure({ file, plain, w, optimum }) {
    const decay = w.map((x) => file.delta * x);
    const without = addScaled(plain.total(w).gradient, -1, decay);
    const scale = norm(decay) || 1;
    const corrected = addScaled(without, 1, decay);
    return {
      printed: norm(without) / scale,
      corrected: Math.max(norm(corrected) / scale, apart(w, optimum)),
      control: norm(addScaled(without, 2, decay)) / scale,
      note: `‖Σ∇L_Batch(θ̂)‖ = ${say(norm(without))}, not 0`,
    };
  },
};

export const oneDirectionClaim: Claim = {
  id: 'erratum-11-one-direction',
  place: 'Sec. 4.2, Eq. 6–7',
  symbol: 'L_T2I,ζ at ζ = 1',
  statement: 'At ζ = 1 the T2I loss of Eq. 7, with all of Pos added, equals the original L_T2I.',
  correction: 'Only the T2I part of Pos belongs there.',
  erratum: 11,
  expected: 'holds as corrected',
  async measure(setting) {
    const { file, problem } = setting;
    const w = anywhere(setting);
    const [first] = file.batches;
    const gone = first.findIndex((id) => file.remove.includes(id));
    const n = Math.max(0, gone);
    const s = scope(() => similarities(problem.model, treeAt(setting, w), problem.batches[0]));
    const { t2i, i2t } = scope(() => anchorLosses(s));
    const [rows, columns] = [[...(await t2i.data())], [...(await i2t.data())]];
    const pairs = { text: first.map((i) => file.text[i]), image: first.map((i) => file.image[i]) };
    const whole = batchTerms(plainBatch(pairs, file.temperature), w, undefined, 't2i', 0).value;
    const others = rows.reduce((t, x, k) => (k === n ? t : t + x), 0);
    const both = await itemOf(() => contrastive(s));
    return {
      printed: off(others + rows[n] + columns[n], whole),
      corrected: off(others + rows[n], whole),
      control: off(both, whole),
      note: `Eq. 7 at ζ = 1 gives ${say(others + rows[n] + columns[n])}, L_T2I is ${say(whole)}`,
    };
  },
};
