// The public API.

export * from './array/errors.ts';
export { createRng, type Rng } from './array/rng.ts';
export type { Shape } from './array/shape.ts';
export type { Dtype, HostArray, MemoryUse } from './device/device.ts';
export { type Device, type DeviceOptions, openDevice } from './device/open.ts';
export { checkGrads, type CheckOptions, type CheckReport, gradErrors } from './autodiff/check.ts';
export { attention, patchEmbed, patches } from './autodiff/ops/attention.ts';
export { add, combine, div, mul, sub, type TensorLike } from './autodiff/ops/binary.ts';
export { equal, greaterEqual, maximum, minimum, where } from './autodiff/ops/piecewise.ts';
export { contrastive, contrastiveGrad, contrastiveHvp } from './autodiff/ops/contrastive.ts';
export { gather, scatterAdd, take } from './autodiff/ops/indexing.ts';
export {
  broadcastTo,
  concat,
  full,
  pad,
  permute,
  reshape,
  slice,
  stack,
  stopGradient,
  zeros,
} from './autodiff/ops/layout.ts';
export { linear, type LowRank, matmul, type MatmulOptions } from './autodiff/ops/matmul.ts';
export { argmax, logSumExp, max, mean, sum, topk } from './autodiff/ops/reduce.ts';
export { l2Normalize, layerNorm } from './autodiff/ops/normalize.ts';
export { logSoftmax, softmax } from './autodiff/ops/softmax.ts';
export {
  abs,
  affine,
  clamp,
  erf,
  exp,
  expm1,
  gelu,
  log,
  log1p,
  neg,
  pow,
  quickGelu,
  relu,
  rsqrt,
  sigmoid,
  sign,
  sqrt,
  square,
  tanh,
} from './autodiff/ops/unary.ts';
export { disposeTree, itemOf, keep, readAll, scope, type Spec, Tensor, tensor } from './autodiff/tensor.ts';
export {
  ggnvp,
  hessian,
  hvp,
  type LinearizedGgn,
  type LinearizedGrad,
  type LinearizedGrads,
  linearizeGgn,
  linearizeGrad,
  linearizeGrads,
} from './autodiff/curvature.ts';
export {
  grad,
  jvp,
  jvpMany,
  type Linearized,
  linearize,
  type Pullback,
  valueAndGrad,
  vjp,
} from './autodiff/transforms.ts';
export { captionOf, type Dataset, type DatasetRow, type DecodedPicture, type StoredPicture } from './data/dataset.ts';
export { parseDataset } from './data/lists.ts';
export { parseQuery, type Query, type QueryColumn } from './data/query.ts';
export { drawPartition, type Partition } from './data/partitions.ts';
export * from './linalg/index.ts';
export { type Bilinear, bilinear } from './models/bilinear.ts';
export * from './models/clip/index.ts';
export { Trainer, type StepResult, type TrainerOptions } from './models/fit.ts';
export { initLinearTwoTower, type LinearTwoTower, linearTwoTower } from './models/linear-two-tower.ts';
export { batchLoss, type Embeddings, type Model, type PairBatch, similarities } from './models/model.ts';
export { type AdamState } from './models/optimizer.ts';
export { captionRecall, type Recall, type Retrieval, retrieval } from './models/retrieval.ts';
export { rateAt, type Schedule } from './models/schedule.ts';
export { settle, type Settled, type SettleOptions } from './models/settle.ts';
export {
  type CurvatureProduct,
  gaussNewtonProduct,
  hessianProduct,
  objectiveOf,
  type StreamedLoss,
} from './models/streamed.ts';
export {
  type After,
  pullTapped,
  type Stored,
  type Tap,
  type TapCall,
  tapCalls,
  type TapVariables,
} from './models/tap.ts';
export { logScale, trainedTemperature, type WithTemperature } from './models/temperature.ts';
export { type ClassResult, zeroShot, type ZeroShot } from './models/zero-shot.ts';
export * from './ecif/algorithms.ts';
export {
  type Checkpoint,
  type Judged,
  judgeMethods,
  type JudgeOptions,
  lemonOf,
  type LemonOptions,
  type Method,
  METHODS,
  type Need,
  type Negatives,
  type Quality,
  type ScoringTask,
  trakOf,
  type TrakOptions,
} from './ecif/baselines/index.ts';
export {
  type Certificates,
  certificates,
  certificatesFrom,
  type LossAt,
  type PriorBounds,
  priorBounds,
  priorBoundsFrom,
} from './ecif/bounds.ts';
export * from './ecif/curvature/index.ts';
export * from './ecif/detect/index.ts';
export { type Curvature, curvaturesOf } from './ecif/curvatures.ts';
export { flagPairs, type PairFlag, type Stationarity, stationarityOf } from './ecif/diagnostics.ts';
export { lossOf, negativeIF, negOf, positiveIF, posOf } from './ecif/influence.ts';
export { anchorLosses, decayTerm, overPartitions, type Problem, totalLoss } from './ecif/objective.ts';
export { type PairRow, pairTable } from './ecif/pair-table.ts';
export {
  type PrintedTheorem,
  printedTheorem,
  surrogateLoss,
  type TheoremConstants,
  theoremConstants,
} from './ecif/printed-theorem.ts';
export { type PairEstimate, type ProbeOptions, relativeScore, relativeScores } from './ecif/relative.ts';
export {
  type LostForm,
  lossWithout,
  type ModelRemoval,
  type Removal,
  removalOf,
  removeByInfluence,
  removeByNewton,
  removeKrylov,
  removeLinear,
  removeNeumann,
  removeRescaled,
  type Rescaled,
} from './ecif/removal.ts';
export {
  type Answer,
  type AnswerGradient,
  answersOf,
  type Question,
  questionGradients,
  type Questions,
} from './ecif/questions.ts';
export { minimise, type MinimiseOptions, type Minimum } from './ecif/retrain.ts';
export {
  batchesLeft,
  type EditedModel,
  type LeftBatches,
  removeByRung,
  type Rung,
  type RungOptions,
  RUNGS,
} from './ecif/rungs.ts';
export { type PairScore, pairScores, type ScoreParts, taskScore } from './ecif/scores.ts';
export { type Seg, type Segment, segOf } from './ecif/seg.ts';
export { cosines, type SelfForm, selfLosses, type SelfOptions, selfScores } from './ecif/self.ts';
export { curvatureAt, type CurvatureSolver, type SolverOptions } from './ecif/solver.ts';
export {
  removalScores,
  type StreamedRemoval,
  streamedRemoval,
  type TouchedBatches,
  touchedBatches,
  withoutRows,
} from './ecif/streamed-removal.ts';
export { type StreamedBatch, type StreamedPair, streamScores, type SweepPlan } from './ecif/streamed-scores.ts';
export { type Target, type TargetGradient, targetGradients } from './ecif/targets.ts';
export {
  rankSources,
  type RankedSources,
  type Source,
  sourcesOf,
  type TracedAnswer,
  traceQueries,
} from './ecif/trace.ts';
export { type PairPlace, type PairTangents, pairGradients, sweepPairs } from './ecif/sweep.ts';
export {
  type Directions,
  neg as negTerm,
  type NegForm,
  pairTerms,
  pos as posTerm,
  removedLoss,
  zetaLoss,
} from './ecif/terms.ts';
export { type BatchSolves, prepareBatches, removeWoodbury, type WoodburyRemoval } from './ecif/woodbury.ts';
export { type Brittleness, brittleness, type BrittlenessStep } from './ecif/metrics/brittleness.ts';
export {
  type Compared,
  compareMethods,
  type Metric,
  permuted,
  permutedControl,
  type PermutedControl,
} from './ecif/metrics/controls.ts';
export { linearDatamodelling } from './ecif/metrics/datamodel.ts';
export {
  auroc,
  averagePrecision,
  chancePrecision,
  detectionCurve,
  type DetectionPoint,
  inspect,
  type Inspection,
  type Labels,
} from './ecif/metrics/detection.ts';
export type { Amount, End, Numbers } from './ecif/metrics/input.ts';
export {
  bootstrapInterval,
  type BootstrapInterval,
  type BootstrapOptions,
  type Interval,
  studentFactor,
  studentInterval,
  summarise,
  type Summary,
} from './ecif/metrics/interval.ts';
export { leaveOneOut, type LeaveOutCorrelation, leaveOutCorrelation } from './ecif/metrics/leave-out.ts';
export { kendall, midranks, orderBy, pearson, spearman } from './ecif/metrics/ranks.ts';
export {
  areaBelow,
  removalCurve,
  type RemovalCurve,
  removalCurves,
  type RemovalCurves,
  type RemovalPoint,
} from './ecif/metrics/removal-curve.ts';
export { createTopK, mergeTopK, type Scored, type TopK } from './ecif/metrics/selection.ts';
export {
  correlateOutcomes,
  drawSubsets,
  type Outcome,
  outcomesOf,
  predictedChanges,
  type Subset,
  subsetWithout,
  type TargetCorrelations,
} from './ecif/metrics/subsets.ts';
