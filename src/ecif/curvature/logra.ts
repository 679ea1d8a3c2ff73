// LoGra: the curvature on a Kronecker projection of the parameters, inverted there.

import { EcifError } from '../../array/errors.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import { Flat } from '../../autodiff/flat.ts';
import type { Operator } from '../../linalg/space.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { hostDecomposition } from './host-spectrum.ts';
import { type FactorOptions, kroneckerFactors } from './kronecker-factors.ts';
import { curvatureOperator } from './products.ts';
import { type Projection, projectionOf, type ProjectionOptions } from './projection.ts';
import type { CurvatureKind, Decomposition } from './record.ts';

/** Settings of {@link lograOf}. */
export interface LograOptions extends Omit<ProjectionOptions, 'factors'> {
  /** `gauss-newton` unless told. */
  readonly curvature?: CurvatureKind;
  /** How the factors of `pca` are drawn. */
  readonly factors?: FactorOptions;
  /** Dimensions that are refused beyond; no limit unless told. */
  readonly most?: number;
  onProduct?(done: number, of: number): void;
}

/** P·H·Pᵀ, one product for each of its columns. */
async function projected<T>(
  p: Projection<T>,
  product: Operator<T>,
  onProduct: LograOptions['onProduct'],
): Promise<Float64Array> {
  const matrix = new Float64Array(p.size ** 2);
  for (let i = 0; i < p.size; i++) {
    const unit = new Float64Array(p.size);
    unit[i] = 1;
    const v = p.lift(unit);
    const hv = await product(v);
    matrix.set(await p.project(hv), i * p.size);
    disposeTree([v, hv]);
    onProduct?.(i + 1, p.size);
  }
  return matrix;
}

/**
 * Pᵀ·(P·H·Pᵀ + damping)⁻¹·P in place of the inverse of H. With a square orthogonal P it is the inverse.
 * @eq eq-logra
 * @throws EcifError for a size that is none, or beyond `most` dimensions
 * @example const logra = await lograOf(loss, theta, { size: 8, init: 'pca' }); await logra.solver(0.1).solve(b);
 */
export async function lograOf<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: LograOptions,
): Promise<Decomposition<T>> {
  const { size, init = 'random', seed = 0, curvature = 'gauss-newton' } = options;
  const factors = init === 'pca' ? await kroneckerFactors(loss, theta, { seed, ...options.factors }) : undefined;
  const p = projectionOf(theta, { size, init, seed, ...(factors === undefined ? {} : { factors }) });
  if (p.size > (options.most ?? Infinity)) {
    p.dispose();
    throw new EcifError(`logra: ${p.size} dimensions at size ${size}, at most ${options.most}; give a smaller size`);
  }
  const matrix = await projected(p, curvatureOperator(loss, theta, curvature), options.onProduct);
  const about = {
    ...{ method: 'logra', curvature, l2: loss.l2 },
    settings: { size, init, seed, dimensions: p.size },
  };
  return hostDecomposition(about, matrix, p.size, new Flat(theta).device.epsilon, {
    toVector: (b) => p.project(b),
    toTree: (x) => p.lift(x),
    dispose: () => p.dispose(),
  });
}
