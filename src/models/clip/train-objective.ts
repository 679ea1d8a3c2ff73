// The whole objective of a run, batch by batch in constant memory, and training on until its gradient vanishes.

import { hvp } from '../../autodiff/curvature.ts';
import { disposeTree, scope, type Tensor } from '../../autodiff/tensor.ts';
import { valueAndGrad } from '../../autodiff/transforms.ts';
import { lbfgs } from '../../linalg/lbfgs.ts';
import type { MinimizeOptions, MinimizeResult } from '../../linalg/minimize.ts';
import { cgDirection, newton } from '../../linalg/newton.ts';
import type { Evaluation, Objective } from '../../linalg/space.ts';
import { treeSpace } from '../../linalg/tree-space.ts';
import { batchLoss, type Model } from '../model.ts';

/** The mean over partitions of Σ L_Batch, plus δ/2·‖θ − θ₀‖². */
export interface PartitionedLoss<T, B> {
  readonly model: Model<T, B>;
  /** Rows of the batches of every partition. */
  readonly partitions: readonly (readonly Uint32Array[])[];
  /** Pairs on the device; given back after use. */
  batch(rows: Uint32Array): Promise<B>;
  /** δ ≥ 0 */
  readonly l2: number;
  /** θ₀; 0 unless given. */
  readonly centre?: T | undefined;
}

/** Σ over batches of trees that `f` makes, each divided by the number of partitions, and the sum of its numbers. */
async function overBatches<T, B>(
  { partitions, batch }: PartitionedLoss<T, B>,
  zero: T,
  f: (batch: B) => { value: Tensor | null; tree: T },
): Promise<{ value: number; tree: T }> {
  const space = treeSpace<T>();
  let [value, tree] = [0, space.zeros(zero)];
  for (const rows of partitions.flat()) {
    const pairs = await batch(rows);
    const made = scope(() => f(pairs));
    const next = space.combine([1, 1 / partitions.length], [tree, made.tree]);
    if (made.value !== null) value += (await made.value.item()) / partitions.length;
    disposeTree([made.value, made.tree, pairs, tree]);
    tree = next;
  }
  return { value, tree };
}

/** θ − θ₀, a new tree. */
function offset<T>(theta: T, centre: T | undefined): T {
  const space = treeSpace<T>();
  return centre === undefined ? space.combine([1], [theta]) : space.combine([1, -1], [theta, centre]);
}

/** Value and gradient of the objective. */
export const objectiveOf =
  <T, B>(loss: PartitionedLoss<T, B>): Objective<T> =>
  async (theta): Promise<Evaluation<T>> => {
    const space = treeSpace<T>();
    const data = await overBatches(loss, theta, (batch) => {
      const { value, grad } = valueAndGrad((t: T) => batchLoss(loss.model, t, batch))(theta);
      return { value, tree: grad };
    });
    const pull = offset(theta, loss.centre);
    const [length] = await space.dots([[pull, pull]]);
    const gradient = space.combine([1, loss.l2], [data.tree, pull]);
    space.release(data.tree, pull);
    return { value: data.value + (loss.l2 / 2) * length, gradient };
  };

/** H·v of the objective. */
export const productOf =
  <T, B>(loss: PartitionedLoss<T, B>) =>
  async (theta: T, v: T): Promise<T> => {
    const space = treeSpace<T>();
    const { tree } = await overBatches(loss, theta, (batch) => ({
      value: null,
      tree: hvp((t: T) => batchLoss(loss.model, t, batch), theta, v),
    }));
    const product = space.combine([1, loss.l2], [tree, v]);
    space.release(tree);
    return product;
  };

/** ‖∇F(θ)‖ and F(θ). */
export async function gradientNorm<T, B>(
  loss: PartitionedLoss<T, B>,
  theta: T,
): Promise<{ value: number; norm: number }> {
  const space = treeSpace<T>();
  const { value, gradient } = await objectiveOf(loss)(theta);
  const [square] = await space.dots([[gradient, gradient]]);
  space.release(gradient);
  return { value, norm: Math.sqrt(square) };
}

/** Where {@link settle} came to. */
export interface Settled<T> extends Pick<MinimizeResult<T>, 'value' | 'gradientNorm' | 'converged' | 'status'> {
  readonly theta: T;
  readonly iterations: { readonly lbfgs: number; readonly newton: number };
}

/** Settings of {@link settle}. */
export interface SettleOptions {
  /** ‖∇F‖ to reach. */
  readonly tolerance: number;
  /** Iterations of L-BFGS at most. */
  readonly iterations: number;
  /** Newton steps at most, where L-BFGS did not get there. */
  readonly newtonSteps: number;
  /** Relative rounding error of the loss. */
  readonly noise: number;
  onIteration?(method: 'lbfgs' | 'newton', iteration: number, value: number, norm: number): void;
}

/**
 * Minimises the objective until ‖∇F‖ ≤ tolerance: L-BFGS, and Newton by conjugate gradients where it does not get there.
 * @param start stays the caller's
 */
export async function settle<T, B>(loss: PartitionedLoss<T, B>, start: T, options: SettleOptions): Promise<Settled<T>> {
  const { tolerance, iterations, newtonSteps, noise, onIteration } = options;
  const space = treeSpace<T>();
  const told = (method: 'lbfgs' | 'newton', maxIterations: number): MinimizeOptions<T> => ({
    gradientTolerance: tolerance,
    maxIterations,
    valueNoise: noise,
    onIteration: ({ iteration, value, gradientNorm: norm }) => onIteration?.(method, iteration, value, norm),
  });
  const first = await lbfgs(space, objectiveOf(loss), start, told('lbfgs', iterations));
  const { value, gradientNorm: norm, converged, status } = first;
  const counts = { lbfgs: first.iterations, newton: 0 };
  if (converged || newtonSteps === 0)
    return { theta: first.x, value, gradientNorm: norm, converged, status, iterations: counts };
  const direction = cgDirection(space, productOf(loss));
  const second = await newton(space, objectiveOf(loss), first.x, direction, told('newton', newtonSteps));
  space.release(first.x);
  return {
    theta: second.x,
    value: second.value,
    gradientNorm: second.gradientNorm,
    converged: second.converged,
    status: second.status,
    iterations: { ...counts, newton: second.iterations },
  };
}
