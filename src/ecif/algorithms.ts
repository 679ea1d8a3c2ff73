// Algorithms 1–5 of the paper, each as printed and as corrected.

import type { Rng } from '../array/rng.ts';
import { addScaled, dot, norm } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { add, mul, sub } from '../autodiff/ops/binary.ts';
import { reshape } from '../autodiff/ops/layout.ts';
import { logSumExp, mean, sum } from '../autodiff/ops/reduce.ts';
import { affine, exp } from '../autodiff/ops/unary.ts';
import { type Tensor } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import { batchLoss, type Model } from '../models/model.ts';
import { influenceOf, overSeg, posOf, negOf } from './influence.ts';
import { overPartitions, type Problem, totalLoss } from './objective.ts';
import { relativeScore } from './relative.ts';
import { requirePositiveCosines, type SelfForm, selfLosses } from './self.ts';
import { type Seg, segOf } from './seg.ts';
import { curvatureAt } from './solver.ts';
import { indicator, masked } from './terms.ts';

type Vector = Float64Array;

/** A training set whose pairs can be put into any batches. */
export interface Corpus<T, B> extends Omit<Problem<T, B>, 'batches'> {
  /** Number of pairs. */
  readonly count: number;
  /** The batch of these pairs. */
  batchOf(ids: readonly number[]): B;
}

/** What Algorithm 1 returns. */
export interface Ecif {
  readonly positiveIF: Vector;
  readonly negativeIF: Vector;
  /** θ̃ = θ̂ − positiveIF − negativeIF. */
  readonly edited: Vector;
}

/** Every pair once, in batches of `size` at random. */
export function randomPartition(count: number, size: number, rng: Rng): number[][] {
  const order = [...rng.permutation(count)];
  return Array.from({ length: Math.ceil(count / size) }, (_, m) => order.slice(m * size, (m + 1) * size));
}

/**
 * Neg_m as Algorithm 1 prints it: both fractions inverted, and the image side with the text side's numerator,
 * Σ_i Σ_j e^{S_ij}/Σ_n e^{S_in} + Σ_j e^{S_ij}/Σ_n e^{S_ni}.
 * @eq erratum-02-image-side
 */
export function negOfAlgorithm1(s: Tensor, removed: readonly number[]): Tensor {
  const e = indicator(s, removed);
  const kept = affine(e, -1, 1);
  const textSide = logSumExp(s, 1);
  const rows = exp(sub(textSide, logSumExp(masked(s, e, -1), 1)));
  const columns = exp(sub(textSide, logSumExp(masked(s, e, -2), 0)));
  return add(sum(mul(kept, rows)), sum(mul(kept, columns)));
}

async function ecifOf<T, B>(problem: Problem<T, B>, theta: T, seg: Seg, negTerm: (theta: T) => Tensor): Promise<Ecif> {
  const flat = new Flat(theta);
  const h = await curvatureAt(totalLoss(problem), theta);
  const positiveIF = await flat.toVector(await influenceOf(posOf(problem, seg), theta, h));
  const negativeIF = await flat.toVector(await influenceOf(negTerm, theta, h));
  h.dispose();
  const edited = addScaled(addScaled(await flat.toVector(theta), -1, positiveIF), -1, negativeIF);
  return { positiveIF, negativeIF, edited };
}

/**
 * Algorithm 1 as printed: a fresh random partition, and Neg as it stands there.
 * @eq alg-1-ecif
 * @param size pairs of a batch
 */
export async function algorithm1Printed<T, B>(
  corpus: Corpus<T, B>,
  theta: T,
  removed: readonly number[],
  size: number,
  rng: Rng,
): Promise<Ecif> {
  const partition = randomPartition(corpus.count, size, rng);
  const problem = overPartitions(corpus, [partition.map((ids) => corpus.batchOf(ids))]);
  const seg = segOf(partition, removed);
  return ecifOf(problem, theta, seg, overSeg(problem, seg, negOfAlgorithm1));
}

/**
 * Algorithm 1 as corrected: the partitions the model was trained on, all of them, and the first-order Neg.
 * @eq alg-1-ecif
 * @eq erratum-13-partitions
 * @deviation Neg is not inverted; the partitions of training take the place of a fresh one
 */
export async function algorithm1Corrected<T, B>(
  corpus: Corpus<T, B>,
  theta: T,
  removed: readonly number[],
  partitions: readonly (readonly (readonly number[])[])[],
): Promise<Ecif> {
  const problem = overPartitions(
    corpus,
    partitions.map((partition) => partition.map((ids) => corpus.batchOf(ids))),
  );
  const seg = segOf(partitions.flat(), removed);
  return ecifOf(problem, theta, seg, negOf(problem, seg, 'corrected'));
}

/** C = Σ over D' of ∇L_Batch. */
export const taskGradient = <T, B>(model: Model<T, B>, theta: T, tests: readonly B[]): Promise<Vector> =>
  new Flat(theta).read(() => grad((t: T) => tests.map((batch) => batchLoss(model, t, batch)).reduce(add))(theta));

/** C = mean over D' of the gradient of the self evaluation loss. */
export async function selfGradient<T, B>(model: Model<T, B>, theta: T, test: B, form: SelfForm): Promise<Vector> {
  if (form === '-log-cos') await requirePositiveCosines(model, theta, test, "D'");
  return new Flat(theta).read(() => grad((t: T) => reshape(mean(selfLosses(model, t, test, form)), []))(theta));
}

type Influence = Pick<Ecif, 'positiveIF' | 'negativeIF'>;

/**
 * Algorithm 2 (and the last step of 3) as printed: C·positiveIF + C·negativeIF, the opposite of the paper's own Property.
 * @eq alg-2-task-score
 */
export const algorithm2Printed = ({ positiveIF, negativeIF }: Influence, c: Vector): number =>
  dot(c, positiveIF) + dot(c, negativeIF);

/**
 * Algorithm 2 as corrected: the predicted change of the loss if the set is removed.
 * @eq alg-2-task-score
 * @deviation the sign is that of the paper's Property
 */
export const algorithm2Corrected = (influence: Influence, c: Vector): number => -algorithm2Printed(influence, c);

/**
 * Algorithm 3 as printed: −log cos and the sign of Algorithm 2.
 * @eq alg-3-self-score
 * @throws CosineError where a cosine of D' is not positive
 */
export const algorithm3Printed = async <T, B>(
  influence: Influence,
  model: Model<T, B>,
  theta: T,
  test: B,
): Promise<number> => algorithm2Printed(influence, await selfGradient(model, theta, test, '-log-cos'));

/**
 * Algorithm 3 as corrected: 1 − cos and the one sign contract.
 * @eq alg-3-self-score
 * @deviation 1 − cos is defined for every pair
 */
export const algorithm3Corrected = async <T, B>(
  influence: Influence,
  model: Model<T, B>,
  theta: T,
  test: B,
): Promise<number> => algorithm2Corrected(influence, await selfGradient(model, theta, test, '1-cos'));

/**
 * Algorithm 4 as printed: ‖Pg‖²/‖g‖ where the influences are not parallel, |C·negativeIF| over the norm of the other one
 * where they are.
 * @eq alg-4-relative-score
 */
export function algorithm4Printed({ positiveIF: p, negativeIF: n }: Influence, c: Vector, tolerance = 1e-12): number {
  const [pp, pn, nn] = [dot(p, p), dot(p, n), dot(n, n)];
  const determinant = pp * nn - pn * pn;
  if (determinant <= tolerance * pp * nn) return Math.abs(dot(c, n)) / norm(p);
  const [a, b] = [dot(c, p), dot(c, n)];
  return Math.abs((a * a * nn - 2 * a * b * pn + b * b * pp) / determinant) / norm(c);
}

/**
 * Algorithm 4 as corrected: ‖Pg‖ in both cases.
 * @eq alg-4-relative-score
 * @deviation one form, by the projector on span(positiveIF, negativeIF)
 */
export const algorithm4Corrected = ({ positiveIF, negativeIF }: Influence, c: Vector): number =>
  relativeScore(positiveIF, negativeIF, c);

/**
 * Algorithm 5 as printed: Algorithm 4 with the gradient of −log cos.
 * @eq alg-5-relative-self-score
 * @throws CosineError where a cosine of D' is not positive
 */
export const algorithm5Printed = async <T, B>(
  influence: Influence,
  model: Model<T, B>,
  theta: T,
  test: B,
): Promise<number> => algorithm4Printed(influence, await selfGradient(model, theta, test, '-log-cos'));

/**
 * Algorithm 5 as corrected: ‖Pg‖ with the gradient of 1 − cos.
 * @eq alg-5-relative-self-score
 * @deviation 1 − cos is defined for every pair, and ‖Pg‖ is the maximum in both cases
 */
export const algorithm5Corrected = async <T, B>(
  influence: Influence,
  model: Model<T, B>,
  theta: T,
  test: B,
): Promise<number> => algorithm4Corrected(influence, await selfGradient(model, theta, test, '1-cos'));
