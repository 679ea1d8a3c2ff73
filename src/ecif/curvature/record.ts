// What a solver is, for run records, and curvature decomposed once for many dampings.

import { EcifError } from '../../array/errors.ts';
import type { CurvatureKind } from '../../linalg/trust-region.ts';
import type { CurvatureSolver } from '../solver.ts';

/** Which curvature: of the loss itself, or without the second derivatives of the similarities. */
export type { CurvatureKind };

/** A solver in words and numbers. */
export interface SolverRecord {
  /** `dense`, `cg`, `minres`, `lissa`, `lanczos`, `ekfac`, `kfac`, `diagonal`, `identity`, `logra` or `joint`. */
  readonly method: string;
  readonly curvature: CurvatureKind;
  /** δ of the objective, part of the curvature. */
  readonly l2: number;
  /** Added to the curvature beyond δ. */
  readonly damping: number;
  /** Settings of the method. */
  readonly settings: Readonly<Record<string, number | string | boolean | null>>;
}

/** A solver that says what it is. */
export interface RecordedSolver<T> extends CurvatureSolver<T> {
  readonly about: SolverRecord;
}

/** The eigenvalues of a curvature, or of what stands in for it. */
export interface Spectrum {
  readonly about: Omit<SolverRecord, 'damping'>;
  /** Ascending, δ among them. */
  readonly spectrum: Float64Array;
  /** Relative rounding error of the device. */
  readonly epsilon: number;
}

/** Curvature decomposed once, to be inverted at any damping. */
export interface Decomposition<T> extends Spectrum {
  /**
   * Inverts with `damping` more on every eigenvalue, 0 unless told. What it needs stays the decomposition's.
   * @throws EcifError where an eigenvalue is not positive then
   */
  solver(damping?: number): RecordedSolver<T>;
  dispose(): void;
}

/**
 * Condition number at a damping.
 * @throws EcifError where an eigenvalue is not positive
 */
export function conditionAt({ about: { method }, spectrum }: Spectrum, damping: number): number {
  const [least, most] = [spectrum[0] + damping, spectrum[spectrum.length - 1] + damping];
  if (!(least > 0)) {
    throw new EcifError(
      `${method}: smallest eigenvalue ${spectrum[0]} with damping ${damping}; raise the damping above ${-spectrum[0]}, or take the Gauss-Newton curvature`,
    );
  }
  return most / least;
}

/**
 * A decomposition from what inverts it.
 * @param solve (curvature + damping)⁻¹·b; a new tree
 */
export function decompositionOf<T>(
  of: Spectrum,
  solve: (b: T, damping: number) => Promise<T>,
  dispose: () => void,
): Decomposition<T> {
  return {
    ...of,
    solver: (damping = 0) => ({
      about: { ...of.about, damping },
      accuracy: of.epsilon * conditionAt(of, damping),
      solve: (b) => solve(b, damping),
      dispose: () => undefined,
    }),
    dispose,
  };
}
