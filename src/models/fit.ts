// Training a model of pairs with Adam, in constant device memory.

import { treeLeaves, treeMap } from '../array/tree.ts';
import { add, combine, div, mul } from '../autodiff/ops/binary.ts';
import { sum } from '../autodiff/ops/reduce.ts';
import { affine, clamp, sqrt, square } from '../autodiff/ops/unary.ts';
import { disposeTree, scope, type Tensor, tensor } from '../autodiff/tensor.ts';
import { valueAndGrad } from '../autodiff/transforms.ts';
import { Adam, type AdamState } from './optimizer.ts';
import { batchLoss, type Model } from './model.ts';

/** Settings of {@link Trainer}. */
export interface TrainerOptions<T> {
  /** AdamW's decay, apart from the gradient. */
  readonly decay?: number;
  /** Factor of θ − centre in the gradient; 0 unless told. */
  readonly l2?: number;
  /** What decay and L2 pull to; 0 unless given; stays the caller's. */
  readonly centre?: T | undefined;
  /** Longest gradient; a longer one is shortened to it. */
  readonly clip?: number | undefined;
  /** Taken over, to go on where another trainer left off. */
  readonly optimizer?: AdamState<T> | undefined;
}

/** Loss per pair and direction, and the length of the gradient before it was clipped; the caller disposes them. */
export interface StepResult {
  readonly loss: Tensor;
  readonly norm: Tensor;
}

/** √Σ‖gᵢ‖² over the leaves of a tree, on the device. */
export const treeNorm = (tree: unknown): Tensor =>
  sqrt(
    treeLeaves<Tensor>(tree)
      .map((g) => sum(square(g)))
      .reduce(add),
  );

/** The tree times min(1, limit/norm), on the device. */
export function clipTree<T>(tree: T, norm: Tensor, limit: number): T {
  const factor = div(tensor(norm.device, Float64Array.of(limit), []), clamp(norm, limit, 3e38));
  return treeMap<Tensor, T>(tree, (g) => mul(g, factor));
}

/**
 * Parameters on their way: every step takes the gradient of one batch's mean loss, L2 added, clipped, through Adam.
 * @example const trainer = new Trainer(theta, { clip: 1 }); trainer.step(model, batch, 64, 1e-3); trainer.theta;
 */
export class Trainer<T> {
  readonly #options: TrainerOptions<T>;
  readonly #adam: Adam<T>;
  #theta: T;

  /** @param theta where to start; taken over */
  constructor(theta: T, options: TrainerOptions<T> = {}) {
    this.#options = options;
    this.#adam = new Adam(theta, { decay: options.decay ?? 0 }, options.optimizer, options.centre);
    this.#theta = theta;
  }

  /** The parameters, until the next step. */
  get theta(): T {
    return this.#theta;
  }

  /** What the optimizer remembers, until the next step. */
  get optimizer(): AdamState<T> {
    return this.#adam.state;
  }

  /**
   * One step on L_Batch/(2·pairs).
   * @param rate step size
   */
  step<B>(model: Model<T, B>, batch: B, pairs: number, rate: number): StepResult {
    const { loss, norm, gradient } = scope(() => {
      const mean = (theta: T): Tensor => affine(batchLoss(model, theta, batch), 1 / (2 * pairs), 0);
      const { value, grad } = valueAndGrad(mean)(this.#theta);
      const whole = this.#withL2(grad);
      const length = treeNorm(whole);
      const { clip } = this.#options;
      return { loss: value, norm: length, gradient: clip === undefined ? whole : clipTree(whole, length, clip) };
    });
    this.#theta = this.#adam.step(this.#theta, gradient, rate);
    disposeTree(gradient);
    return { loss, norm };
  }

  /** g + l2·(θ − centre). */
  #withL2(gradient: T): T {
    const { l2 = 0, centre } = this.#options;
    if (l2 === 0) return gradient;
    const [at, centres] = [treeLeaves<Tensor>(this.#theta), centre === undefined ? [] : treeLeaves<Tensor>(centre)];
    return treeMap<Tensor, T>(gradient, (g, i) => {
      const pulled = combine(1, g, l2, at[i]);
      return i < centres.length ? combine(1, pulled, -l2, centres[i]) : pulled;
    });
  }

  /** Gives back the optimizer's memory; the parameters stay. */
  dispose(): void {
    this.#adam.dispose();
  }
}
