// Solutions at many dampings from one decomposition, each with how far rounding lets it be trusted.

import { conditionAt, type Decomposition, type SolverRecord, type Spectrum } from './record.ts';

/** Digits of a solution that rounding may have taken. */
export interface ConditioningWarning {
  /** Largest over smallest eigenvalue, damping included. */
  readonly condition: number;
  /** Relative error that rounding may cause: condition times that of the device. */
  readonly error: number;
  /** Least damping at which the error would be as small as asked for. */
  readonly enough: number;
  readonly message: string;
}

/** Relative error of a solution beyond which it is not trusted, unless told. */
const TRUSTED = 1e-2;

/**
 * A warning where the condition number leaves too few digits, null where it does not.
 * @param trusted relative error to put up with; 0.01 unless told
 * @throws EcifError where an eigenvalue is not positive
 * @example const warning = conditioningAt(ekfac, 1e-3); if (warning !== null) console.warn(warning.message);
 */
export function conditioningAt(
  decomposition: Spectrum,
  damping: number,
  trusted = TRUSTED,
): ConditioningWarning | null {
  const { about, spectrum, epsilon } = decomposition;
  const condition = conditionAt(decomposition, damping);
  const error = condition * epsilon;
  if (error <= trusted) return null;
  // (most + d)/(least + d) = trusted/ε
  const [least, most] = [spectrum[0], spectrum[spectrum.length - 1]];
  const enough = (most - (trusted / epsilon) * least) / (trusted / epsilon - 1);
  const found = `condition number ${condition.toExponential(1)} at damping ${damping}`;
  const message = `${about.method}: ${found}, rounding may change the solution by ${error.toExponential(1)}; damp by ${enough.toExponential(1)} or more, or compute in float64`;
  return { condition, error, enough, message };
}

/** The solution at one damping. */
export interface DampedSolution<T> {
  readonly damping: number;
  /** It belongs to the caller. */
  readonly x: T;
  readonly condition: number;
  readonly warning: ConditioningWarning | null;
  readonly about: SolverRecord;
}

/**
 * Solves at every damping; the curvature is decomposed once, so that each costs no more than a change of basis.
 * @param b stays the caller's
 * @throws EcifError where an eigenvalue is not positive
 * @example for (const { damping, x, warning } of await dampingSweep(dense, gradVal, [0, 1e-3, 1e-2, 0.1])) { … }
 */
export async function dampingSweep<T>(
  decomposition: Decomposition<T>,
  b: T,
  dampings: readonly number[],
  trusted = TRUSTED,
): Promise<DampedSolution<T>[]> {
  const solvers = dampings.map((damping) => decomposition.solver(damping));
  const out: DampedSolution<T>[] = [];
  for (const solver of solvers) {
    const { about } = solver;
    const { damping } = about;
    const [condition, warning] = [conditionAt(decomposition, damping), conditioningAt(decomposition, damping, trusted)];
    out.push({ damping, x: await solver.solve(b), condition, warning, about });
  }
  return out;
}
