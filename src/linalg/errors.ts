// Named errors of the linear algebra, each with the numbers a caller needs to react.
import { EcifError } from '../array/errors.ts';

/** A Cholesky pivot that is not positive: the matrix is indefinite, singular, or not finite. */
export class NotPositiveDefiniteError extends EcifError {
  override name = 'NotPositiveDefiniteError';
  /** Index of the first failing pivot. */
  readonly pivot: number;
  /** Value of that pivot before its square root. */
  readonly value: number;

  constructor(message: string, pivot: number, value: number) {
    super(message);
    this.pivot = pivot;
    this.value = value;
  }
}

/** An LU pivot that is zero: the matrix has no inverse. */
export class SingularMatrixError extends EcifError {
  override name = 'SingularMatrixError';
  /** Index of the first zero pivot. */
  readonly pivot: number;

  constructor(message: string, pivot: number) {
    super(message);
    this.pivot = pivot;
  }
}

/** Conjugate gradients met a direction p with pᵀAp ≤ 0 and was told to throw. */
export class NegativeCurvatureError extends EcifError {
  override name = 'NegativeCurvatureError';
  /** Iteration (from 0) whose direction failed. */
  readonly iteration: number;
  /** pᵀAp / pᵀp of the (damped) operator. */
  readonly curvature: number;

  constructor(message: string, iteration: number, curvature: number) {
    super(message);
    this.iteration = iteration;
    this.curvature = curvature;
  }
}

/** An iteration whose error grows instead of shrinking, told to throw. */
export class DivergenceError extends EcifError {
  override name = 'DivergenceError';
  /** Iteration at which growth was certain. */
  readonly iteration: number;
  /** Relative residual there. */
  readonly residual: number;

  constructor(message: string, iteration: number, residual: number) {
    super(message);
    this.iteration = iteration;
    this.residual = residual;
  }
}
