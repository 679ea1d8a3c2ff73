// Kronecker factors of the Gauss-Newton block of every matrix that takes part in a linear map.

import { add } from '../../autodiff/ops/binary.ts';
import { full } from '../../autodiff/ops/layout.ts';
import { matmul } from '../../autodiff/ops/matmul.ts';
import { sum } from '../../autodiff/ops/reduce.ts';
import { square } from '../../autodiff/ops/unary.ts';
import { disposeTree, readAll, type Tensor } from '../../autodiff/tensor.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import type { Stored } from '../../models/tap.ts';
import { type DrawOptions, overGradients } from './draws.ts';

/** A symmetric matrix of one side, or its diagonal where the side is too long. */
export type Factor = { readonly size: number } & (
  { readonly matrix: Float64Array } | { readonly diagonal: Float64Array }
);

/** rows ⊗ columns ≈ the Gauss-Newton block of a matrix as it is stored, without δ. */
export interface KroneckerFactors {
  readonly rows: Factor;
  readonly columns: Factor;
}

/** Settings of {@link kroneckerFactors}. */
export interface FactorOptions extends DrawOptions {
  /** Sides longer than this keep the standard basis; 1024 unless told. */
  readonly longestSide?: number;
}

/** Streams of draws: for the factors, and for what is measured in their eigenbasis. */
export const FACTOR_PASS = 0;
export const SPECTRUM_PASS = 1;

type Sums = Readonly<Record<string, Tensor>>;

/** Adds to the sum of that name. */
function gather(sums: Record<string, Tensor>, name: string, made: Tensor): void {
  sums[name] = name in sums ? add(sums[name], made) : made;
}

/** Σ over tokens of x·xᵀ, or of x². */
const moment = (x: Tensor, longest: number): Tensor =>
  x.shape[1] <= longest ? matmul(x, x, { form: 'tn' }) : sum(square(x), 0);

function factorOf(values: ArrayLike<number>, size: number, longest: number, scale: number): Factor {
  const scaled = Float64Array.from(values, (v) => v * scale);
  return size <= longest ? { size, matrix: scaled } : { size, diagonal: scaled };
}

/**
 * Factors by path of the matrix.
 *
 * The gradient of a matrix is Σ_t g_t·x_tᵀ over the tokens t of all pairs of a batch, so its block is
 * Σ_batches E[Σ_t Σ_t′ (g_t ⊗ x_t)(g_t′ ⊗ x_t′)ᵀ]/partitions. Without the terms t ≠ t′, and with g and x taken as
 * independent over the tokens, that is G ⊗ A with G = Σ_batches Σ_t E[g_t·g_tᵀ]/partitions, a sum, and A the mean of
 * x_t·x_tᵀ over all tokens.
 */
export async function kroneckerFactors<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: FactorOptions,
): Promise<ReadonlyMap<string, KroneckerFactors>> {
  const { longestSide: longest = 1024 } = options;
  const sides = new Map<string, { stored: Stored; into: number; out: number }>();
  const measured = await overGradients(loss, theta, options, FACTOR_PASS, {
    draw: ({ maps }): Sums => {
      const sums: Record<string, Tensor> = {};
      for (const { parameter, g } of maps) gather(sums, parameter, moment(g, longest));
      return sums;
    },
    inputs: (calls): { moments: Sums; counts: Sums } => {
      const [moments, counts]: Record<string, Tensor>[] = [{}, {}];
      for (const { parameter, stored, x, zero } of calls) {
        sides.set(parameter, { stored, into: x.shape[1], out: zero.shape[zero.shape.length - 1] });
        gather(moments, parameter, moment(x, longest));
        gather(counts, parameter, full(x.device, [], x.shape[0]));
      }
      return { moments, counts };
    },
  });
  const { draws, inputs } = measured;
  const factors = new Map<string, KroneckerFactors>();
  for (const [parameter, { stored, into, out }] of sides) {
    const parts = [draws[parameter], inputs.moments[parameter], inputs.counts[parameter]];
    const [g, x, [count]] = await readAll(parts);
    const [gradients, values] = [factorOf(g, out, longest, 1), factorOf(x, into, longest, 1 / count)];
    factors.set(
      parameter,
      stored === 'out-in' ? { rows: gradients, columns: values } : { rows: values, columns: gradients },
    );
  }
  disposeTree(measured);
  return factors;
}
