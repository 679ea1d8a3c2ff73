// Linear algebra: dense float64 factorisations, and iterative solvers and minimisers over any vector space.
export { asymmetry, identity, matMul, matVec, symmetrized, transpose } from './dense.ts';
export { cholesky, choleskyInverse, choleskyLogDet, choleskySolve, type Cholesky } from './cholesky.ts';
export { lu, luLogDet, luSolve, type Lu } from './lu.ts';
export { symmetricEigen, type SymmetricEigen } from './symmetric-eigen.ts';
export { DivergenceError, NegativeCurvatureError, NotPositiveDefiniteError, SingularMatrixError } from './errors.ts';
export { float64Space, type Evaluation, type Objective, type Operator, type Space } from './space.ts';
export { treeCg, type TreeCgOptions } from './tree-cg.ts';
export { treeSpace } from './tree-space.ts';
export { cg, type CgOptions, type CgResult, type CgState, type CgStatus, type NegativeCurvature } from './cg.ts';
export { minres, type MinresOptions, type MinresResult, type MinresStatus } from './minres.ts';
export { lissa, type LissaOptions, type LissaPosition, type LissaResult, type LissaStatus } from './lissa.ts';
export { extremeEigenvalues, type ExtremeOptions, type ExtremeResult, type RitzValue } from './power.ts';
export { krylovDots, lanczos, type LanczosOptions, type LanczosResult } from './lanczos.ts';
export { type MinimizeOptions, type MinimizeResult, type MinimizeStatus } from './minimize.ts';
export { lbfgs, type LbfgsOptions } from './lbfgs.ts';
export {
  cgDirection,
  denseDirection,
  newton,
  type CgDirectionOptions,
  type NewtonDirection,
  type NewtonResult,
} from './newton.ts';
