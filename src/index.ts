// The public API.

export * from './array/errors.ts';
export { createRng, type Rng } from './array/rng.ts';
export type { Shape } from './array/shape.ts';
export type { Dtype, HostArray, MemoryUse } from './device/device.ts';
export { type Device, type DeviceOptions, openDevice } from './device/open.ts';
export { checkGrads, type CheckOptions, type CheckReport } from './autodiff/check.ts';
export { attention, patchEmbed, patches } from './autodiff/ops/attention.ts';
export { add, combine, div, equal, greaterEqual, maximum, minimum, mul, sub, type TensorLike, where } from './autodiff/ops/binary.ts';
export { contrastive, contrastiveGrad, contrastiveHvp } from './autodiff/ops/contrastive.ts';
export { gather, scatterAdd, take } from './autodiff/ops/indexing.ts';
export { broadcastTo, concat, full, pad, permute, reshape, slice, stack, stopGradient, zeros } from './autodiff/ops/layout.ts';
export { linear, type LowRank, matmul, type MatmulOptions } from './autodiff/ops/matmul.ts';
export { argmax, logSumExp, max, mean, sum, topk } from './autodiff/ops/reduce.ts';
export { l2Normalize, layerNorm, logSoftmax, softmax } from './autodiff/ops/rows.ts';
export * from './autodiff/ops/unary.ts';
export { disposeTree, keep, readAll, scope, type Spec, Tensor, tensor } from './autodiff/tensor.ts';
export * from './autodiff/transforms.ts';
export * from './linalg/index.ts';
