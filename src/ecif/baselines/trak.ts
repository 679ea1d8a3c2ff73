// TRAK: random projections of the gradient of each pair's log-odds, and the kernel of all of them.

import { EcifError } from '../../array/errors.ts';
import { createRng } from '../../array/rng.ts';
import { dot } from '../../array/vector.ts';
import { Flat } from '../../autodiff/flat.ts';
import { add, sub } from '../../autodiff/ops/binary.ts';
import { stopGradient } from '../../autodiff/ops/layout.ts';
import { logSumExp } from '../../autodiff/ops/reduce.ts';
import { affine, neg, sigmoid } from '../../autodiff/ops/unary.ts';
import { disposeTree, type Tensor } from '../../autodiff/tensor.ts';
import { cholesky, choleskySolve } from '../../linalg/cholesky.ts';
import { embedded, type Embeddings, type Model, similarities } from '../../models/model.ts';
import { diagonal, withoutDiagonal } from '../objective.ts';
import { sweepEach } from '../sweep.ts';
import { type BatchTerms, RowMeans, sweepBatches } from './by-row.ts';
import type { Method, ScoringTask } from './method.ts';

/**
 * What the other embeddings of a batch are to the gradient of a pair: `moving` with the parameters, as they are, or
 * `constant`, as public code for CLIP has it, where they are computed once and stored.
 */
export type Negatives = 'moving' | 'constant';

/** Settings of {@link trakOf}. */
export interface TrakOptions {
  readonly name: string;
  readonly negatives: Negatives;
  /** Random directions, as many as parameters at most; 24 unless told. */
  readonly projections?: number;
  /** Independent projections that are averaged; 2 unless told. */
  readonly repeats?: number;
  /** Last checkpoints of training that count beside θ̂; 2 unless told. */
  readonly checkpoints?: number;
  /** Added to the kernel, as a share of its mean eigenvalue; 1e-3 unless told. */
  readonly ridge?: number;
}

/** log p/(1 − p) of a pair's softmax in both directions: S_kk − LSE_{j≠k} S_kj, and along the column, (B) each. */
function logOdds<T, B>(
  model: Model<T, B>,
  theta: T,
  { u, v, s }: Embeddings & { readonly s: Tensor },
  negatives: Negatives,
): { t2i: Tensor; i2t: Tensor } {
  const own = diagonal(s);
  const product = (left: Tensor, right: Tensor): Tensor =>
    similarities({ scale: (t: T) => model.scale(t), embed: () => ({ u: left, v: right }) }, theta, null);
  const others = negatives === 'moving' ? [s, s] : [product(u, stopGradient(v)), product(stopGradient(u), v)];
  return {
    t2i: sub(own, logSumExp(withoutDiagonal(others[0]), 1)),
    i2t: sub(own, logSumExp(withoutDiagonal(others[1]), 0)),
  };
}

/** The output function of a pair, both directions summed, and 1 − p, their mean. */
const outputsOf =
  <T, B>(model: Model<T, B>, negatives: Negatives): BatchTerms<T> =>
  (made, theta) => {
    const { t2i, i2t } = logOdds(model, theta, made, negatives);
    return { output: add(t2i, i2t), doubt: affine(add(sigmoid(neg(t2i)), sigmoid(neg(i2t))), 0.5, 0) };
  };

/** Projected gradients of the outputs. */
interface Features {
  /** Of every row, (count, k). */
  readonly phi: Float64Array;
  /** 1 − p of every row. */
  readonly doubt: Float64Array;
  /** Σ over evaluation pairs of (1 − p)·φ, which is minus the gradient of their loss, (k). */
  readonly target: Float64Array;
}

async function featuresOf<T, B>(
  task: ScoringTask<T, B>,
  theta: T,
  directions: readonly T[],
  negatives: Negatives,
): Promise<Features> {
  const { loss, count, evaluation } = task;
  const k = directions.length;
  const terms = outputsOf(loss.model, negatives);
  const [phi, doubt] = [new RowMeans(count, k), new RowMeans(count)];
  for await (const { rows, swept } of sweepBatches(task, theta, directions, terms)) {
    rows.forEach((row, i) => {
      phi.add(row, ...swept.tangents.output.map((each) => each[i]));
      doubt.add(row, swept.values.doubt[i]);
    });
  }
  const judged = (t: T): Record<string, Tensor> => terms(embedded(loss.model, t, evaluation), t);
  const [{ values, tangents }] = await sweepEach([judged], theta, directions, true);
  return {
    phi: phi.means(),
    doubt: doubt.means(),
    target: Float64Array.from(tangents.output, (each) => dot(each, values.doubt)),
  };
}

/** φ_n·(ΦᵀΦ + ridge)⁻¹·target for every row. */
function attributed({ phi, target }: Features, ridge: number): Float64Array {
  const k = target.length;
  const row = (n: number): Float64Array => phi.subarray(n * k, (n + 1) * k);
  const kernel = new Float64Array(k * k);
  for (let n = 0; n < phi.length / k; n++) {
    const each = row(n);
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) kernel[i * k + j] += each[i] * each[j];
  }
  const trace = Array.from({ length: k }, (_, i) => kernel[i * (k + 1)]).reduce((a, b) => a + b);
  const x = choleskySolve(cholesky(kernel, k, (ridge * trace) / k), target);
  return Float64Array.from({ length: phi.length / k }, (_, n) => dot(row(n), x));
}

/**
 * TRAK: (1 − p_n)·φ_n·(ΦᵀΦ)⁻¹·Σ_z (1 − p_z)·φ_z over evaluation pairs z, φ = P·∇f, f the log-odds of a pair; both factors
 * are means over checkpoints and projections. Features come from forward-mode sweeps along the rows of P.
 */
export function trakOf(options: TrakOptions): Method {
  const { name, negatives, projections = 24, repeats = 2, checkpoints: last = 2, ridge = 1e-3 } = options;
  if (!(Number.isInteger(projections) && projections >= 1)) {
    throw new EcifError(`trak: ${projections} projections; give a whole number of at least 1`);
  }
  return {
    name,
    about: `(1 − p)·φ·(ΦᵀΦ)⁻¹·φ_val, negatives ${negatives}`,
    needs: ['evaluation', 'checkpoints'],
    scores: async (task) => {
      const points = [
        task.theta,
        ...task.checkpoints.slice(Math.max(0, task.checkpoints.length - last)).map(({ theta }) => theta),
      ];
      const flat = new Flat(task.theta);
      const rng = createRng(task.seed);
      const [sums, doubts] = [new Float64Array(task.count), new Float64Array(task.count)];
      for (const theta of points) {
        for (let repeat = 0; repeat < repeats; repeat++) {
          const k = Math.min(projections, flat.size);
          const directions = Array.from({ length: k }, () => flat.normal(rng));
          const features = await featuresOf(task, theta, directions, negatives);
          disposeTree(directions);
          attributed(features, ridge).forEach((value, row) => (sums[row] += value));
          features.doubt.forEach((value, row) => (doubts[row] += value));
        }
      }
      const models = points.length * repeats;
      return sums.map((sum, row) => (sum / models) * (doubts[row] / models));
    },
  };
}

/** With the derivative through the negatives. */
export const trak = trakOf({ name: 'trak', negatives: 'moving' });

/** With negatives that stand still. */
export const trakConstant = trakOf({ name: 'trak-constant', negatives: 'constant' });
