// An objective over many batches, one of them in memory at a time: value, gradient, Hessian and Gauss-Newton products.

import { treeLeaves } from '../array/tree.ts';
import {
  ggnvp,
  hvp,
  type LinearizedGrad,
  linearizeGgn,
  linearizeGrad,
  linearizeGrads,
} from '../autodiff/curvature.ts';
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
  /** What the pairs of these rows contribute; L_Batch unless given. */
  readonly on?: OnRows | undefined;
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
      const made = disposingAfter(pairs, () => scope(() => f(pairs, rows)));
      const next = space.combine([1, 1 / partitions.length], [tree, made.tree]);
      disposeTree([made.tree, tree]);
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

/** A function of the similarities of some rows: S (B, B), or (G, B, B) of batches that are laid together, their rows one after the other. */
export type OnRows = (s: Tensor, rows: Uint32Array) => Tensor;

/** A product at a fixed θ, the gradient there, and what both keep. */
interface Linear<T> {
  apply(v: T): T;
  /** A new tree. */
  gradient(): T;
  /** The gradient of another function of S, where one was asked for. */
  readonly other?: T;
  dispose(): void;
}

/** One batch linearised at θ. */
function linearizeBatch<T, B>(
  loss: StreamedLoss<T, B>,
  kind: CurvatureKind,
  theta: T,
  batch: B,
  rows: Uint32Array,
  on?: OnRows,
): Linear<T> {
  const { similarity, onSimilarities, whole } = partOf(loss, batch, rows);
  const otherOn = on && ((s: Tensor): Tensor => on(s, rows));
  if (kind === 'hessian') {
    const made: LinearizedGrad<T> & { readonly other?: T } =
      otherOn === undefined
        ? linearizeGrad(whole, theta)
        : linearizeGrads(similarity, onSimilarities, otherOn, theta);
    const { value, grad: here, hvp: apply, dispose, ...other } = made;
    disposeTree(value);
    return {
      ...other,
      apply,
      gradient: () => treeSpace<T>().combine([1], [here]),
      dispose: () => {
        disposeTree(here);
        dispose();
      },
    };
  }
  const { ggnvp: apply, gradient, dispose } = linearizeGgn(similarity, onSimilarities, theta);
  return { apply, gradient: () => gradient(), dispose, ...(otherOn && { other: gradient(otherOn) }) };
}

/** Curvature of an objective at a fixed θ, and the gradient that comes with it. */
export interface CurvatureHere<T> extends Curvature<T> {
  /** ∇F(θ), of the forward passes that are kept where they are; a new tree. */
  gradient(): Promise<T>;
  /** The gradient of another function of S, without L2, where one was asked for; released with the rest. */
  readonly other?: T;
}

/** Bytes that are kept of forward passes unless told. */
export const KEPT_BYTES = 2 ** 29;

/** by·pull + share·Σ of trees that are added, each given back. */
function summed<T>(share: number, { pull, by }: { readonly pull: T; readonly by: number }) {
  const space = treeSpace<T>();
  let sum: T | null = null;
  return {
    add(x: T): void {
      const next = sum === null ? space.combine([by, share], [pull, x]) : space.combine([1, share], [sum, x]);
      space.release(x, ...(sum === null ? [] : [sum]));
      sum = next;
    },
    /** The sum, which is the caller's then. */
    give(): T {
      const given = sum ?? space.combine([by], [pull]);
      sum = null;
      return given;
    },
    /** Gives back what was not given. */
    end: () => void (sum !== null && space.release(sum)),
  };
}

/** What is kept of the first batches of an objective, and the others. */
interface KeptBatches<T, B> {
  readonly kept: readonly Linear<T>[];
  /** The objective of the batches that are not kept, without its L2; null where all are. */
  readonly rest: StreamedLoss<T, B> | null;
  /** The gradient of another function of S over all batches, where one was asked for. */
  readonly other?: T;
}

/** What `f` makes; the pairs are given back, also where it throws. */
function disposingAfter<R>(pairs: unknown, f: () => R): R {
  try {
    return f();
  } finally {
    disposeTree(pairs);
  }
}

/** Linearises as many batches as fit. */
async function keepBatches<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  kind: CurvatureKind,
  memory: number,
  on: OnRows | undefined,
): Promise<KeptBatches<T, B>> {
  const { device } = treeLeaves<Tensor>(theta)[0];
  const batches = loss.partitions.flat();
  const kept: Linear<T>[] = [];
  const other = summed(1 / loss.partitions.length, { pull: theta, by: 0 });
  const before = device.memory().live;
  try {
    for (const rows of batches) {
      const pairs = await loss.batch(rows);
      const { other: aside, ...linear } = disposingAfter(pairs, () =>
        linearizeBatch(loss, kind, theta, pairs, rows, on),
      );
      if (device.memory().live - before > memory) {
        linear.dispose();
        disposeTree(aside ?? null);
        break;
      }
      kept.push(linear);
      if (aside !== undefined) other.add(aside);
      await device.tick();
    }
    const others = batches.slice(kept.length);
    const rest = others.length === 0 ? null : { ...loss, partitions: [others], l2: 0 };
    if (on === undefined) return { kept, rest };
    if (rest !== null) other.add(await batchGradient({ ...rest, on }, theta));
    return { kept, rest, other: other.give() };
  } catch (error) {
    kept.forEach((linear) => linear.dispose());
    throw error;
  } finally {
    other.end();
  }
}

/**
 * Curvature of the objective at a fixed θ for many products: the forward passes of as many batches as fit are kept, the
 * others are made again for every product.
 * @param memory bytes that may be kept
 * @param on a function of S whose gradient is wanted too
 */
export async function curvatureAt<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  kind: CurvatureKind,
  memory: number,
  on?: OnRows,
): Promise<CurvatureHere<T>> {
  const space = treeSpace<T>();
  const { device } = treeLeaves<Tensor>(theta)[0];
  const { kept, rest, ...aside } = await keepBatches(loss, theta, kind, memory, on);
  const share = 1 / loss.partitions.length;
  /** δ·pull + the mean over partitions of a part of each batch. */
  const total = async (pull: T, part: (linear: Linear<T>) => T, others: (of: StreamedLoss<T, B>) => Promise<T>) => {
    const sum = summed(share, { pull, by: loss.l2 });
    try {
      for (const linear of kept) {
        sum.add(part(linear));
        await device.tick();
      }
      if (rest !== null) sum.add(await others(rest));
      return sum.give();
    } finally {
      sum.end();
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
    ...aside,
    release: () => {
      kept.forEach((linear) => linear.dispose());
      disposeTree(aside);
    },
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
