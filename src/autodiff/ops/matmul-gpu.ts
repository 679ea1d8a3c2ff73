// Matrix products on WebGPU: the planned kernel, cut into windows where an operand exceeds one binding.

import { sizeOf } from '../../array/shape.ts';
import { planMatmul } from '../../device/webgpu/matmul-plan.ts';
import type { View } from '../../device/webgpu/device.ts';
import { matmul, matmulSubgroup } from '../../shaders/kernels.gen.ts';
import type { GpuCall } from '../op.ts';
import { type MatmulParams, productSizes } from './matmul.ts';

/** Part of a product: `batch` matrices from number `z` on, of each the `rows` rows from `firstRow` on. */
interface Part {
  readonly z: number;
  readonly batch: number;
  readonly firstRow: number;
  readonly rows: number;
}

const KERNELS = { matmul, matmulSubgroup };

export function gpuMatmul(call: GpuCall<MatmulParams>): void {
  const { device, shape, shapes, x, y, params } = call;
  const { m, k } = productSizes(params.form, shapes[0], shapes[1]);
  const batch = sizeOf(shape.slice(0, -2));
  const whole: Part = { z: 0, batch, firstRow: 0, rows: m };
  const limit = device.maxBindingBytes / 4;
  if ([...x, y].every((s) => s.size <= limit)) run(call, whole);
  else for (const part of partsOf(call, whole, k, limit)) run(call, part);
}

/** Cuts by batch, then by rows (nn, nt), which are contiguous in A, C and y. */
function partsOf({ shapes, shape, params }: GpuCall<MatmulParams>, whole: Part, k: number, limit: number): Part[] {
  const [m, n] = shape.slice(-2);
  if (whole.batch > 1) {
    const largest = Math.max(...shapes.filter((s) => s.length > 2).map((s) => sizeOf(s.slice(-2))), m * n);
    const count = Math.max(1, Math.floor(limit / largest / 64) * 64);
    return span(whole.batch, count).map(([z, batch]) => ({ ...whole, z, batch }));
  }
  if (params.form === 'tn') return [whole];
  const widest = Math.max(n, k, params.alpha2 === null ? 0 : shapes[2][shapes[2].length - 1]);
  return span(m, Math.floor(limit / widest / 64) * 64).map(([firstRow, rows]) => ({ ...whole, firstRow, rows }));
}

function span(total: number, step: number): [number, number][] {
  const out: [number, number][] = [];
  for (let first = 0; first < total; first += Math.max(1, step)) out.push([first, Math.min(step, total - first)]);
  return out;
}

function run({ op, device, x, y, shape, shapes, params }: GpuCall<MatmulParams>, { z, batch, firstRow, rows }: Part): void {
  const { form, alpha, alpha2, act } = params;
  const [m, n] = shape.slice(-2);
  const stride = (i: number): number => (shapes[i].length > 2 ? sizeOf(shapes[i].slice(-2)) : 0);
  const left = (i: number): View => {
    const width = shapes[i][shapes[i].length - 1];
    const size = batch > 1 && stride(i) > 0 ? batch * stride(i) : form === 'tn' ? sizeOf(shapes[i].slice(-2)) : rows * width;
    return { storage: x[i], offset: z * stride(i) + (form === 'tn' ? 0 : firstRow * width), size };
  };
  const right = (i: number): View => ({ storage: x[i], offset: z * stride(i), size: stride(i) > 0 ? batch * stride(i) : x[i].size });
  const k2 = alpha2 === null ? 0 : productSizes(form, shapes[2], shapes[3]).k;
  const at = x.length - 1;
  const c = params.addend ? { row: shapes[at].length === 1 ? 0 : n, batch: shapes[at].length > 2 ? m * n : 0 } : null;
  const bias = c !== null && c.row === 0;
  const result = { offset: z * m * n + firstRow * n, size: batch > 1 ? batch * m * n : rows * n };
  const plan = planMatmul(
    {
      form, batch, m: rows, n, k: productSizes(form, shapes[0], shapes[1]).k, k2, act, alpha, alpha2: alpha2 ?? 1,
      aBatch: stride(0), bBatch: stride(1), a2Batch: k2 > 0 ? stride(2) : 0, b2Batch: k2 > 0 ? stride(3) : 0, addend: c,
    },
    device,
  ); // prettier-ignore
  device.dispatch(op, KERNELS[plan.kernel], {
    buffers: {
      a: left(0),
      b: right(1),
      a2: k2 > 0 ? left(2) : null,
      b2: k2 > 0 ? right(3) : null,
      c: c === null ? null : bias ? x[at] : { storage: x[at], ...result },
      out: { storage: y, ...result },
    },
    params: plan.params,
    constants: plan.constants,
    workgroups: plan.workgroups,
  });
}
