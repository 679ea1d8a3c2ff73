// Curvature of an objective over many batches and ways to invert it, all behind one interface.
export type { CurvatureKind, Decomposition, RecordedSolver, SolverRecord } from './record.ts';
export type { DrawOptions } from './draws.ts';
export { type Factor, type FactorOptions, type KroneckerFactors, kroneckerFactors } from './kronecker-factors.ts';
export { diagonalOf, ekfacOf, identityOf, kfacOf } from './kronecker.ts';
