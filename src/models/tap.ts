// Looking at the linear maps of trained matrices while a model runs: their inputs, and the cotangents of their outputs.

import { add } from '../autodiff/ops/binary.ts';
import { reshape, zeros } from '../autodiff/ops/layout.ts';
import { scope, type Tensor } from '../autodiff/tensor.ts';
import { type Pullback, vjp } from '../autodiff/transforms.ts';
import { type Model, similarities } from './model.ts';

/** How a matrix is stored: `out-in` where the map is x·Wᵀ, `in-out` where it is x·W. */
export type Stored = 'out-in' | 'in-out';

/** Where the input of a linear map comes from: it is `scale` times the output of the map of another matrix. */
export interface After {
  /** Path of that matrix. */
  readonly parameter: string;
  readonly scale: number;
}

/**
 * Called at every linear map of a trained matrix, with the path of the matrix among the parameters, the input x (…, in)
 * and the output y (…, out); what it returns goes on in place of y. A map that takes in the output
 * of another names that one in `after`; its call has come before.
 */
export type Tap = (parameter: string, x: Tensor, y: Tensor, stored: Stored, after?: After) => Tensor;

/** One linear map of a pass. */
export interface TapCall {
  readonly parameter: string;
  readonly stored: Stored;
  readonly after: After | null;
  /** Input of every token, (N, in). */
  readonly x: Tensor;
  /** Zeros of the shape of the output. */
  readonly zero: Tensor;
}

/** Parameters, and one summand for the output of every linear map. */
export interface TapVariables<T> {
  readonly theta: T;
  readonly outputs: readonly Tensor[];
}

/**
 * Runs a batch and keeps what its linear maps took in.
 * @returns the similarities and the calls, in order; they belong to the caller
 */
export const tapCalls = <T, B>(model: Model<T, B>, theta: T, batch: B): { s: Tensor; calls: TapCall[] } =>
  scope(() => {
    const calls: TapCall[] = [];
    const s = similarities(model, theta, batch, (parameter, x, y, stored, after) => {
      calls.push({ parameter, stored, after: after ?? null, x: tokens(x), zero: zeros(y.device, y.shape) });
      return y;
    });
    return { s, calls };
  });

/** (…, d) → (N, d) */
export const tokens = (x: Tensor): Tensor => reshape(x, [-1, x.shape[x.shape.length - 1]]);

/**
 * The similarities with their pullback to the parameters and to the output y of every linear map: if g is the cotangent
 * of y, that of the matrix is Σ over tokens of g·xᵀ.
 * @example const { calls } = tapCalls(model, theta, batch); const { pull } = pullTapped(model, theta, batch, calls);
 */
export const pullTapped = <T, B>(
  model: Model<T, B>,
  theta: T,
  batch: B,
  calls: readonly TapCall[],
): Pullback<TapVariables<T>, Tensor> =>
  vjp(
    (variables: TapVariables<T>) => {
      let next = 0;
      return similarities(model, variables.theta, batch, (_parameter, _x, y) => add(y, variables.outputs[next++]));
    },
    { theta, outputs: calls.map(({ zero }) => zero) },
  );
