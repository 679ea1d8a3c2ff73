// Adam over parameter trees, with its state as trees of tensors on the same device.

import { treeFrom, treeLeaves, treeMap } from '../array/tree.ts';
import { add, combine, div, sub } from '../autodiff/ops/binary.ts';
import { zeros } from '../autodiff/ops/layout.ts';
import { affine, sqrt, square } from '../autodiff/ops/unary.ts';
import { disposeTree, keep, scope, type Tensor } from '../autodiff/tensor.ts';

/** Settings of {@link Adam}. */
export interface AdamOptions {
  /** Step size. */
  rate?: number;
  beta1?: number;
  beta2?: number;
  epsilon?: number;
  /** Fraction of a parameter taken away per unit of step size, apart from the gradient (AdamW). */
  decay?: number;
}

/** What Adam remembers between steps. */
export interface AdamState<T> {
  /** Steps taken. */
  readonly count: number;
  readonly first: T;
  readonly second: T;
}

/**
 * Adam with decoupled weight decay. It owns its moments and the parameters it made: {@link Adam.step} gives back the
 * memory of the parameters it replaces.
 * @example const adam = new Adam(theta, { rate: 1e-3 }); theta = adam.step(theta, gradient);
 */
export class Adam<T> {
  readonly #options: Required<AdamOptions>;
  readonly #centre: Tensor[];
  #first: T;
  #second: T;
  #count: number;

  /**
   * @param like parameters, for their shapes; not kept
   * @param state from {@link Adam.state}, taken over, to go on where another left off
   * @param centre what the decay pulls to; 0 unless given; stays the caller's
   */
  constructor(like: T, options: AdamOptions = {}, state?: AdamState<T>, centre?: T) {
    this.#options = { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0, ...options };
    const empty = (): T => keep(treeMap<Tensor, T>(like, (x) => zeros(x.device, x.shape)));
    this.#centre = centre === undefined ? [] : treeLeaves<Tensor>(centre);
    this.#first = state?.first ?? empty();
    this.#second = state?.second ?? empty();
    this.#count = state?.count ?? 0;
  }

  /** What it remembers; the tensors stay its own, until the next step. */
  get state(): AdamState<T> {
    return { count: this.#count, first: this.#first, second: this.#second };
  }

  /**
   * One step: m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − η·decay·(θ − centre) − η·m̂/(√v̂ + ε),
   * with m̂ = m/(1−β₁ᵗ) and v̂ = v/(1−β₂ᵗ).
   * @param theta disposed when the step is recorded
   * @param gradient a tree like θ; stays the caller's
   * @param rate step size of this step, where it follows a schedule
   * @returns the new parameters, outside of every scope
   */
  step(theta: T, gradient: T, rate = this.#options.rate): T {
    const { beta1, beta2, epsilon, decay } = this.#options;
    this.#count++;
    const unbias1 = rate / (1 - beta1 ** this.#count);
    const unbias2 = 1 / (1 - beta2 ** this.#count);
    const [gs, ms, vs] = [gradient, this.#first, this.#second].map((tree) => treeLeaves<Tensor>(tree));
    const next = scope(() =>
      treeLeaves<Tensor>(theta).map((x, i) => {
        const m = add(affine(ms[i], beta1, 0), affine(gs[i], 1 - beta1, 0));
        const v = add(affine(vs[i], beta2, 0), affine(square(gs[i]), 1 - beta2, 0));
        const move = div(affine(m, unbias1, 0), affine(sqrt(affine(v, unbias2, 0)), 1, epsilon));
        return { x: sub(this.#decayed(x, i, rate * decay), move), m, v };
      }),
    );
    disposeTree([theta, this.#first, this.#second]);
    keep(next);
    this.#first = treeFrom(
      theta,
      next.map(({ m }) => m),
    );
    this.#second = treeFrom(
      theta,
      next.map(({ v }) => v),
    );
    return treeFrom(
      theta,
      next.map(({ x }) => x),
    );
  }

  /** x − share·(x − centre). */
  #decayed(x: Tensor, leaf: number, share: number): Tensor {
    if (share === 0) return x;
    return leaf < this.#centre.length ? combine(1 - share, x, share, this.#centre[leaf]) : affine(x, 1 - share, 0);
  }

  /** Gives back the memory of the moments. */
  dispose(): void {
    disposeTree([this.#first, this.#second]);
  }
}
