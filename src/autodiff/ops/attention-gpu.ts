// Attention on WebGPU: one kernel where the scores fit workgroup memory, else scores, softmax and sums.

import { sizeOf } from '../../array/shape.ts';
import { grid } from '../../device/webgpu/device.ts';
import { attention } from '../../shaders/kernels.gen.ts';
import type { GpuCall } from '../op.ts';
import type { AttentionParams } from './attention.ts';
import { gpuMatmul } from './matmul-gpu.ts';
import { gpuSoftmax } from './softmax.ts';

/** Keys whose scores for four queries fit 16 KiB, the least workgroup memory a device has. */
const MOST_KEYS = 960;

export function gpuAttention(call: GpuCall<AttentionParams>): void {
  const { op, device, x, y, shapes, params } = call;
  const [queries, d] = shapes[0].slice(-2);
  const [keys, e] = shapes[2].slice(-2);
  const fits = [...x, y].every((s) => s.size * 4 <= device.maxBindingBytes);
  if (keys > MOST_KEYS || d % 4 !== 0 || !fits || device.subgroupSize === 8) return composed(call);
  const batch = sizeOf(shapes[0].slice(0, -2));
  device.dispatch(op, attention, {
    buffers: { q: x[0], k: x[1], v: x[2], y },
    params: { batch, queries, keys, d4: d / 4, e, causal: Number(params.causal), scale: params.scale },
    constants: { KEYS: keys <= 256 ? 256 : MOST_KEYS },
    workgroups: grid(batch * Math.ceil(queries / 4), 1),
  });
}

function composed({ op, device, x, y, shapes, shape, params }: GpuCall<AttentionParams>): void {
  const [q, k, v] = shapes;
  const scoreShape = [...q.slice(0, -1), k[k.length - 2]];
  const size = sizeOf(scoreShape);
  const scores = device.alloc(size, 'real', op);
  const weights = device.alloc(size, 'real', op);
  const plain = { alpha2: null, addend: false, act: 'none' } as const;
  gpuMatmul({
    op,
    device,
    x: [x[0], x[1]],
    y: scores,
    shapes: [q, k],
    shape: scoreShape,
    params: { ...plain, form: 'nt', alpha: params.scale },
  });
  gpuSoftmax(0)({ op, device, x: [scores], y: weights, shapes: [scoreShape], shape: scoreShape, params });
  gpuMatmul({
    op,
    device,
    x: [weights, x[2]],
    y,
    shapes: [scoreShape, v],
    shape,
    params: { ...plain, form: 'nn', alpha: 1 },
  });
  device.free(scores);
  device.free(weights);
}
