// Curvature of an objective over many batches and ways to invert it, all behind one interface.
export type { CurvatureKind, Decomposition, RecordedSolver, SolverRecord, Spectrum } from './record.ts';
export type { DrawOptions } from './draws.ts';
export { type Factor, type FactorOptions, type KroneckerFactors, kroneckerFactors } from './kronecker-factors.ts';
export { diagonalOf, ekfacOf, identityOf, kfacOf } from './kronecker.ts';
export { jointOf, type JointOptions } from './joint.ts';
export { type DenseOptions, denseOf } from './dense.ts';
export { lanczosOf, type LowRankOptions } from './low-rank.ts';
export {
  cgSolver,
  type CgSolverOptions,
  type CgSolverState,
  type Reserve,
  type IterativeOptions,
  type IterativeSolver,
  lissaSolver,
  type LissaSolverOptions,
  minresSolver,
  type MinresSolverOptions,
  type SolveRecord,
} from './iterative.ts';
export type { ProductOptions } from './linearized.ts';
export { type Projection, type ProjectionInit, projectionOf, type ProjectionOptions } from './projection.ts';
export { lograOf, type LograOptions } from './logra.ts';
export { conditioningAt, type ConditioningWarning, type DampedSolution, dampingSweep } from './damping-sweep.ts';
