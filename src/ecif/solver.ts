// Solving with the curvature at one point: dense and exact for few parameters, conjugate gradients for many.

import { EcifError } from '../array/errors.ts';
import { hessian, linearizeGrad } from '../autodiff/curvature.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import { cg } from '../linalg/cg.ts';
import { cholesky, choleskySolve } from '../linalg/cholesky.ts';
import { symmetrized } from '../linalg/dense.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import type { OnRows } from '../models/streamed.ts';

/** A symmetric positive definite operator that can be inverted. */
export interface CurvatureSolver<T> {
  /** The vector x with H·x = b; it belongs to the caller. */
  solve(b: T): Promise<T>;
  /**
   * H⁻¹·∇F where the passes that H is made of give ∇F as well.
   * @param on F as a function of the similarities, without L2; it must not mind pairs that fill batches up and meet none but themselves. The
   * objective whose curvature H is unless told
   */
  solveGradient?(on?: OnRows): Promise<T>;
  /** Relative error of a solution; rounding unless given. */
  readonly accuracy?: number;
  /** Gives back what was kept. */
  dispose(): void;
}

/** H⁻¹ of the vector that `make` makes; that vector is given back. */
export async function solveFor<T>(h: CurvatureSolver<T>, make: () => T): Promise<T> {
  const b = scope(make);
  const x = await h.solve(b);
  disposeTree(b);
  return x;
}

/** Parameters up to which a dense Hessian is formed unless told. */
export const DENSE_UP_TO = 100;

/** Settings of {@link curvatureAt}. */
export interface SolverOptions {
  /** Parameters up to which the dense Hessian is formed; 100 unless told. It pays beyond where many solves follow. */
  denseUpTo?: number;
  /** Relative residual of conjugate gradients; 1e-10 in float64 and 1e-6 in float32 unless told. */
  tolerance?: number;
}

/**
 * The Hessian of a scalar function at θ, ready to be inverted.
 * @throws NotPositiveDefiniteError, NegativeCurvatureError where it is not positive definite
 * @example const h = await curvatureAt(totalLoss(problem), theta); const x = await h.solve(g); h.dispose();
 */
export async function curvatureAt<T>(
  f: (theta: T) => Tensor,
  theta: T,
  options: SolverOptions = {},
): Promise<CurvatureSolver<T>> {
  const flat = new Flat(theta);
  if (flat.size <= (options.denseUpTo ?? DENSE_UP_TO)) {
    const { size, matrix } = await hessian(f, theta);
    const factor = cholesky(symmetrized(matrix, size), size);
    const pivots = Array.from({ length: size }, (_, i) => factor.lower[i * (size + 1)] ** 2);
    return {
      solve: async (b) => flat.toTree(choleskySolve(factor, await flat.toVector(b))),
      accuracy: (flat.device.epsilon * Math.max(...pivots)) / Math.min(...pivots),
      dispose: () => undefined,
    };
  }
  const lin = linearizeGrad(f, theta);
  const tolerance = options.tolerance ?? Math.max(1e-10, 16 * lin.value.device.epsilon);
  return {
    solve: async (b) => {
      const { x, converged, residuals } = await cg(treeSpace<T>(), (v) => lin.hvp(v), b, {
        tolerance,
        onNegativeCurvature: 'throw',
      });
      if (!converged)
        throw new EcifError(
          `solve: conjugate gradients stopped at residual ${residuals.at(-1)}; raise the decay or the tolerance`,
        );
      return x;
    },
    accuracy: tolerance,
    dispose: () => {
      lin.dispose();
      disposeTree([lin.value, lin.grad]);
    },
  };
}
