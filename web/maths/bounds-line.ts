// The problem with one parameter: the smallest constants of the printed theorem, and its loss as a curve.

import { placeConvex } from '../../src/ecif/convex-file.ts';
import * as ecif from '../../src/index.ts';
import { type BoundedEstimator, boundsFile, EDITS } from './bounds-problems.ts';
import { computation } from './computation.ts';

/** Values of θ/τ among which the largest third derivatives are sought. */
const SCAN = Array.from({ length: 301 }, (_, i) => (i - 150) / 25);

const setting = (temperature: number) => ({ problem: 'line', features: 1, temperature }) as const;

/** S of the whole batch for each of several θ, (n, B, B). */
function stacked(temperature: number, theta: ecif.Tensor): ecif.Tensor {
  const { text, image } = boundsFile(setting(temperature), 1, 1);
  const products = text.map(([x]) => image.map(([y]) => (x * y) / temperature));
  return ecif.mul(theta, ecif.tensor(theta.device, products));
}

/** Several θ, (n, 1, 1). */
const column = (device: ecif.Device, values: readonly number[]): ecif.Tensor =>
  ecif.tensor(device, Float64Array.from(values), [values.length, 1, 1]);

/** f′ of a function that maps every entry by itself. */
const derivative = (f: (x: ecif.Tensor) => ecif.Tensor) => (x: ecif.Tensor) =>
  ecif.jvp(f, x, ecif.full(x.device, x.shape, 1)).tangent;

/**
 * C_H and C'_H as small as they can be: with one parameter they are the largest third derivatives of the batch loss and
 * of Pos + Neg of the removed pair, found by a scan.
 */
export async function lineConstants(device: ecif.Device, temperature: number): Promise<ecif.TheoremConstants> {
  const scan = column(
    device,
    SCAN.map((x) => x * temperature),
  );
  const batch = (x: ecif.Tensor): ecif.Tensor => {
    const { t2i, i2t } = ecif.anchorLosses(stacked(temperature, x));
    return ecif.sum(ecif.add(t2i, i2t), -1);
  };
  const lost = (x: ecif.Tensor): ecif.Tensor => {
    const { pos, neg } = ecif.pairTerms(stacked(temperature, x), 'corrected');
    const all = [pos.t2i, pos.i2t, neg.t2i, neg.i2t].reduce((a, b) => ecif.add(a, b));
    return ecif.slice(all, [0, 2], [SCAN.length, 1]);
  };
  const thirds = ecif.scope(() => [batch, lost].map((f) => derivative(derivative(derivative(f)))(scan)));
  const [ofBatch, ofPair] = (await ecif.readAll(thirds)).map((v) => Math.max(...v.map(Math.abs)));
  ecif.disposeTree([scan, thirds]);
  return { batch: ofBatch, pair: ofPair };
}

/** A removal of which the loss is drawn. */
export interface LineAsked {
  readonly estimator: BoundedEstimator;
  readonly temperature: number;
  readonly decay: number;
}

/** The loss after removal, and the points that a removal knows. */
export interface LineFound {
  readonly theta: readonly number[];
  /** F, the loss after true removal. */
  readonly loss: readonly number[];
  /** F(θ̂) + F′(θ̂)·(θ − θ̂) + F″(θ̂)/2·(θ − θ̂)². */
  readonly parabola: readonly number[];
  /** θ̂, θ̃, θ* */
  readonly points: { readonly trained: number; readonly edited: number; readonly retrained: number };
  /** F″ at θ̂ and at retraining. */
  readonly curvature: { readonly trained: number; readonly retrained: number };
}

export const lineFound = computation<LineAsked, LineFound>({
  wants: 'float64',
  run: async (device, { estimator, temperature, decay }) => {
    const file = boundsFile(setting(temperature), decay, 1);
    const { problem, start, validation } = placeConvex(file, device);
    const { theta } = await ecif.minimise(ecif.totalLoss(problem), start);
    const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta);
    const removal = ecif.removalOf(problem, theta, ecif.segOf(file.batches, file.remove), h);
    const moved = await EDITS[estimator](removal);
    const { theta: best } = await ecif.minimise(removal.without, theta);
    const found = await ecif.readAll([theta, moved, best].map(({ w }) => w));
    const [trained, edited, retrained] = found.map(([w]) => w);
    const curve = await lossCurve(device, removal.without, Math.max(trained, edited, retrained));
    const curvature = async (at: ecif.Bilinear): Promise<number> => (await ecif.hessian(removal.without, at)).matrix[0];
    const at = ecif.scope(() => ecif.valueAndGrad(removal.without)(theta));
    const [[value], [slope]] = await ecif.readAll([at.value, at.grad.w]);
    const bend = await curvature(theta);
    const parabola = curve.theta.map((w) => value + slope * (w - trained) + (bend / 2) * (w - trained) ** 2);
    const result = { trained: bend, retrained: await curvature(best) };
    h.dispose();
    ecif.disposeTree([problem.batches, start, validation, theta, moved, best, at]);
    return { ...curve, parabola, points: { trained, edited, retrained }, curvature: result };
  },
});

/** F from 0 to somewhat beyond a point. */
async function lossCurve(
  device: ecif.Device,
  f: (theta: ecif.Bilinear) => ecif.Tensor,
  end: number,
): Promise<{ theta: number[]; loss: number[] }> {
  const theta = Array.from({ length: 61 }, (_, i) => (1.2 * end * i) / 60);
  const made = theta.map((w) => ecif.scope(() => f({ w: ecif.tensor(device, [[w]]) })));
  const loss = (await ecif.readAll(made)).map(([x]) => x);
  ecif.disposeTree(made);
  return { theta, loss };
}
