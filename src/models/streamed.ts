// An objective over many batches, one of them in memory at a time: value, gradient, Hessian and Gauss-Newton products.

import { treeLeaves } from '../array/tree.ts';
import { ggnvp, hvp, linearizeGgn, linearizeGrad } from '../autodiff/curvature.ts';
import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import { grad, valueAndGrad } from '../autodiff/transforms.ts';
import type { Evaluation, Objective } from '../linalg/space.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import type { Curvature, CurvatureKind } from '../linalg/trust-region.ts';
import { lossOn, type Model, similarities } from './model.ts';

/** The mean over partitions of Σ L_Batch, or of another function of S, plus δ/2·‖θ − θ₀‖². */
export interface StreamedLoss<T, B> {
  readonly model: Model<T, B>;
  /** Rows of the batches of every partition. */
  readonly partitions: readonly (readonly Uint32Array[])[];
  /**
   * Pairs of any rows on the device; given back after use. Rows are asked for as they lie in a batch, and where batches are
   * laid together those of several batches, one after the other: what is made must follow from the rows alone.
   */
  batch(rows: Uint32Array): Promise<B>;
  /** What the pairs of these rows contribute, of their S; L_Batch unless given. */
  readonly on?: ((s: Tensor, rows: Uint32Array) => Tensor) | undefined;
  /** δ ≥ 0 */
  readonly l2: number;
  /** θ₀; 0 unless given. */
  readonly centre?: T | undefined;
}

/** Σ over batches of trees that `f` makes, each divided by the number of partitions, and the sum of its numbers. */
async function overBatches<T, B>(
  { partitions, batch }: StreamedLoss<T, B>,
  zero: T,
  f: (batch: B, rows: Uint32Array) => { value: Tensor | null; tree: T },
): Promise<{ value: number; tree: T }> {
  const space = treeSpace<T>();
  let [value, tree] = [0, space.zeros(zero)];
  try {
    for (const rows of partitions.flat()) {
      const pairs = await batch(rows);
      const made = scope(() => f(pairs, rows));
      const next = space.combine([1, 1 / partitions.length], [tree, made.tree]);
      disposeTree([made.tree, pairs, tree]);
      tree = next;
      if (made.value !== null) value += (await made.value.item()) / partitions.length;
      disposeTree(made.value);
    }
    return { value, tree };
  } catch (error) {
    disposeTree(tree);
    throw error;
  }
}

/** The mean over partitions of the sum over batches of trees that `f` makes; a new tree. */
const sumOverBatches = async <T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  f: (batch: B, rows: Uint32Array) => T,
): Promise<T> =>
  (await overBatches(loss, theta, (batch, rows) => ({ value: null, tree: f(batch, rows) }))).tree;

/** θ − θ₀, a new tree. */
function offset<T>(theta: T, centre: T | undefined): T {
  const space = treeSpace<T>();
  return centre === undefined ? space.combine([1], [theta]) : space.combine([1, -1], [theta, centre]);
}

/** What a batch contributes, of its S and of θ. */
function partOf<T, B>({ model, on = lossOn }: StreamedLoss<T, B>, batch: B, rows: Uint32Array) {
  const onSimilarities = (s: Tensor): Tensor => on(s, rows);
  const similarity = (t: T): Tensor => similarities(model, t, batch);
  return { onSimilarities, similarity, whole: (t: T): Tensor => onSimilarities(similarity(t)) };
}

/** Value and gradient of the objective. */
export const objectiveOf =
  <T, B>(loss: StreamedLoss<T, B>): Objective<T> =>
  async (theta): Promise<Evaluation<T>> => {
    const space = treeSpace<T>();
    const data = await overBatches(loss, theta, (batch, rows) => {
      const { value, grad: tree } = valueAndGrad(partOf(loss, batch, rows).whole)(theta);
      return { value, tree };
    });
    const pull = offset(theta, loss.centre);
    const [length] = await space.dots([[pull, pull]]);
    const gradient = space.combine([1, loss.l2], [data.tree, pull]);
    space.release(data.tree, pull);
    return { value: data.value + (loss.l2 / 2) * length, gradient };
  };

/** The gradient of the objective without its L2, a new tree; nothing is waited for but the batches. */
export const batchGradient = <T, B>(loss: StreamedLoss<T, B>, theta: T): Promise<T> =>
  sumOverBatches(loss, theta, (batch, rows) => grad(partOf(loss, batch, rows).whole)(theta));

/** A product of the objective's curvature at θ with v. */
export type CurvatureProduct<T> = (theta: T, v: T) => Promise<T>;

/** Σ over batches of what `f` makes, plus δ·v. */
const curvature =
  <T, B>(
    loss: StreamedLoss<T, B>,
    f: (part: ReturnType<typeof partOf<T, B>>, theta: T, v: T) => T,
  ): CurvatureProduct<T> =>
  async (theta, v) => {
    const space = treeSpace<T>();
    const tree = await sumOverBatches(loss, theta, (batch, rows) => f(partOf(loss, batch, rows), theta, v));
    const product = space.combine([1, loss.l2], [tree, v]);
    space.release(tree);
    return product;
  };

/** H·v of the objective. */
export const hessianProduct = <T, B>(loss: StreamedLoss<T, B>): CurvatureProduct<T> =>
  curvature(loss, ({ whole }, theta, v) => hvp(whole, theta, v));

/** (Σ Jᵀ·∇²L_Batch(S)·J + δ)·v, J being the derivative of the similarities: positive definite for every δ > 0. */
export const gaussNewtonProduct = <T, B>(loss: StreamedLoss<T, B>): CurvatureProduct<T> =>
  curvature(loss, ({ similarity, onSimilarities }, theta, v) => ggnvp(similarity, onSimilarities, theta, v));

/** A product at a fixed θ, the gradient there, and what both keep. */
interface Linear<T> {
  apply(v: T): T;
  /** A new tree. */
  gradient(): T;
  dispose(): void;
}

/** One batch linearised at θ. */
function linearizeBatch<T, B>(
  loss: StreamedLoss<T, B>,
  kind: CurvatureKind,
  theta: T,
  batch: B,
  rows: Uint32Array,
): Linear<T> {
  const { similarity, onSimilarities, whole } = partOf(loss, batch, rows);
  if (kind === 'hessian') {
    const { value, grad: here, hvp: apply, dispose } = linearizeGrad(whole, theta);
    disposeTree(value);
    return {
      apply,
      gradient: () => treeSpace<T>().combine([1], [here]),
      dispose: () => {
        disposeTree(here);
        dispose();
      },
    };
  }
  const { ggnvp: apply, gradient, dispose } = linearizeGgn(similarity, onSimilarities, theta);
  return { apply, gradient, dispose };
}

/** Curvature of an objective at a fixed θ, and the gradient that comes with it. */
export interface CurvatureHere<T> extends Curvature<T> {
  /** ∇F(θ), of the forward passes that are kept where they are; a new tree. */
  gradient(): Promise<T>;
}

/** Bytes that are kept of forward passes unless told. */
export const KEPT_BYTES = 2 ** 29;

/** What is kept of the first batches of an objective, and the others. */
interface KeptBatches<T, B> {
  readonly kept: readonly Linear<T>[];
  /** The objective of the batches that are not kept, without its L2; null where all are. */
  readonly rest: StreamedLoss<T, B> | null;
}

/** Linearises as many batches as fit. */
async function keepBatches<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  kind: CurvatureKind,
  memory: number,
): Promise<KeptBatches<T, B>> {
  const { device } = treeLeaves<Tensor>(theta)[0];
  const batches = loss.partitions.flat();
  const kept: Linear<T>[] = [];
  const before = device.memory().live;
  for (const rows of batches) {
    const pairs = await loss.batch(rows);
    const linear = linearizeBatch(loss, kind, theta, pairs, rows);
    disposeTree(pairs);
    if (device.memory().live - before > memory) {
      linear.dispose();
      break;
    }
    kept.push(linear);
    await device.tick();
  }
  const others = batches.slice(kept.length);
  return { kept, rest: others.length === 0 ? null : { ...loss, partitions: [others], l2: 0 } };
}

/**
 * Curvature of the objective at a fixed θ for many products: the forward passes of as many batches as fit are kept, the
 * others are made again for every product.
 * @param memory bytes that may be kept
 */
export async function curvatureAt<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  kind: CurvatureKind,
  memory: number,
): Promise<CurvatureHere<T>> {
  const space = treeSpace<T>();
  const { device } = treeLeaves<Tensor>(theta)[0];
  const { kept, rest } = await keepBatches(loss, theta, kind, memory);
  const share = 1 / loss.partitions.length;
  /** δ·pull + the mean over partitions of a part of each batch. */
  const total = async (pull: T, part: (linear: Linear<T>) => T, others: (of: StreamedLoss<T, B>) => Promise<T>) => {
    let sum = space.combine([loss.l2], [pull]);
    const add = (x: T): void => {
      const next = space.combine([1, share], [sum, x]);
      space.release(sum, x);
      sum = next;
    };
    try {
      for (const linear of kept) {
        add(part(linear));
        await device.tick();
      }
      if (rest !== null) add(await others(rest));
      return sum;
    } catch (error) {
      space.release(sum);
      throw error;
    }
  };
  const streamed = kind === 'hessian' ? hessianProduct<T, B> : gaussNewtonProduct<T, B>;
  return {
    product: (v) =>
      total(
        v,
        (linear) => linear.apply(v),
        (of) => streamed(of)(theta, v),
      ),
    async gradient() {
      const pull = offset(theta, loss.centre);
      try {
        return await total(
          pull,
          (linear) => linear.gradient(),
          async (of) => (await objectiveOf(of)(theta)).gradient,
        );
      } finally {
        space.release(pull);
      }
    },
    release: () => kept.forEach((linear) => linear.dispose()),
  };
}

/** ‖∇F(θ)‖ and F(θ). */
export async function gradientNorm<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
): Promise<{ value: number; norm: number }> {
  const space = treeSpace<T>();
  const { value, gradient } = await objectiveOf(loss)(theta);
  const [square] = await space.dots([[gradient, gradient]]);
  space.release(gradient);
  return { value, norm: Math.sqrt(square) };
}
