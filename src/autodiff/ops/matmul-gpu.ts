// Matrix products on WebGPU: the planned kernel, cut into windows where an operand exceeds one binding.

import { DeviceError } from '../../array/errors.ts';
import { type Shape, sizeOf } from '../../array/shape.ts';
import { type Operand, type View, type WebGpuDevice, windowUnits } from '../../device/webgpu/device.ts';
import { type MatmulShape, planMatmul } from '../../device/webgpu/matmul-plan.ts';
import type { GpuStorage } from '../../device/webgpu/pool.ts';
import { matmul, matmulSubgroup } from '../../shaders/kernels.gen.ts';
import type { GpuCall } from '../op.ts';
import { type MatmulParams, productSizes } from './matmul-params.ts';

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
  const { m } = productSizes(params.form, shapes[0], shapes[1]);
  const batch = sizeOf(shape.slice(0, -2));
  const limit = device.maxBindingBytes / 4;
  if ([...x, y].every((s) => s.size <= limit)) return run(call, { z: 0, batch, firstRow: 0, rows: m });
  if (batch === 1 && params.form === 'tn') return sumOverInner(call, limit);
  for (const part of partsOf(call, batch, m, limit)) run(call, part);
}

/** Cuts by batch, else by rows, which are contiguous in A, C and y. */
function partsOf(
  { op, shapes, shape, params }: GpuCall<MatmulParams>,
  batch: number,
  m: number,
  limit: number,
): Part[] {
  const n = shape[shape.length - 1];
  if (batch > 1) {
    const sizes = [...shapes.filter((s) => s.length > 2).map((s) => sizeOf(s.slice(-2))), m * n];
    return spans(op, batch, sizes, limit).map(([z, count]) => ({ z, batch: count, firstRow: 0, rows: m }));
  }
  const widths = [n, ...(params.alpha2 === null ? [0] : [0, 2]).map((i) => shapes[i][shapes[i].length - 1])];
  return spans(op, m, widths, limit).map(([firstRow, rows]) => ({ z: 0, batch: 1, firstRow, rows }));
}

/** Cuts `total` units into runs that fit a binding and start on window boundaries of operands with these unit sizes. */
function spans(op: string, total: number, unitSizes: readonly number[], limit: number): [number, number][] {
  const step = Math.max(...unitSizes.map(windowUnits)); // powers of two: the largest is a multiple of the others
  const count = Math.floor(limit / Math.max(...unitSizes) / step) * step;
  if (count === 0)
    throw new DeviceError(
      `${op}: one matrix or row exceeds a binding of ${limit * 4} bytes; split it into smaller ones`,
    );
  const out: [number, number][] = [];
  for (let first = 0; first < total; first += count) out.push([first, Math.min(count, total - first)]);
  return out;
}

/** Aᵀ·B with long A and B: partial products over runs of rows, each added to the one before. */
function sumOverInner(call: GpuCall<MatmulParams>, limit: number): void {
  const { op, device, x, y, shapes, params } = call;
  const terms = [{ at: 0, alpha: params.alpha }, ...(params.alpha2 === null ? [] : [{ at: 2, alpha: params.alpha2 }])];
  const parts = terms.flatMap(({ at, alpha }) => {
    const [a, b] = [shapes[at], shapes[at + 1]];
    return spans(op, a[0], [a[1], b[1]], limit).map(([first, count]) => ({ at, alpha, first, count }));
  });
  const spare = device.alloc(y.size, 'real', op);
  let total: { storage: GpuStorage; shape: Shape } | null = params.addend
    ? { storage: x[x.length - 1], shape: shapes[x.length - 1] }
    : null;
  parts.forEach(({ at, alpha, first, count }, i) => {
    const last = i === parts.length - 1;
    const target: GpuStorage = (parts.length - 1 - i) % 2 === 0 ? y : spare;
    const view = (k: number): View => ({ storage: x[k], offset: first * shapes[k][1], size: count * shapes[k][1] });
    const [m, n] = [shapes[at][1], shapes[at + 1][1]];
    dispatchPlan(
      op,
      device,
      {
        form: 'tn',
        batch: 1,
        m,
        n,
        k: count,
        k2: 0,
        aBatch: 0,
        bBatch: 0,
        a2Batch: 0,
        b2Batch: 0,
        alpha,
        addend: total === null ? null : { row: total.shape.length === 1 ? 0 : n, batch: 0 },
        act: last ? params.act : 'none',
      },
      { a: view(at), b: view(at + 1), a2: null, b2: null, c: total?.storage ?? null, out: target },
    );
    total = { storage: target, shape: [m, n] };
  });
  device.free(spare);
}

function dispatchPlan(
  op: string,
  device: WebGpuDevice,
  shape: MatmulShape,
  buffers: Record<'a' | 'b' | 'a2' | 'b2' | 'c' | 'out', Operand>,
): void {
  const { kernel, params, constants, workgroups } = planMatmul(shape, device);
  device.dispatch(op, KERNELS[kernel], { buffers, params, constants, workgroups });
}

function run(
  { op, device, x, y, shape, shapes, params }: GpuCall<MatmulParams>,
  { z, batch, firstRow, rows }: Part,
): void {
  const { form, alpha, alpha2, act } = params;
  const [m, n] = shape.slice(-2);
  const stride = (i: number): number => (shapes[i].length > 2 ? sizeOf(shapes[i].slice(-2)) : 0);
  const left = (i: number): View => {
    const width = shapes[i][shapes[i].length - 1];
    const size =
      batch > 1 && stride(i) > 0 ? batch * stride(i) : form === 'tn' ? sizeOf(shapes[i].slice(-2)) : rows * width;
    return { storage: x[i], offset: z * stride(i) + (form === 'tn' ? 0 : firstRow * width), size };
  };
  const right = (i: number): View => ({
    storage: x[i],
    offset: z * stride(i),
    size: stride(i) > 0 ? batch * stride(i) : x[i].size,
  });
  const k2 = alpha2 === null ? 0 : productSizes(form, shapes[2], shapes[3]).k;
  const at = x.length - 1;
  const c = params.addend ? { row: shapes[at].length === 1 ? 0 : n, batch: shapes[at].length > 2 ? m * n : 0 } : null;
  const bias = c !== null && c.row === 0;
  const result = { offset: z * m * n + firstRow * n, size: batch > 1 ? batch * m * n : rows * n };
  dispatchPlan(
    op,
    device,
    {
      form,
      batch,
      m: rows,
      n,
      k: productSizes(form, shapes[0], shapes[1]).k,
      k2,
      act,
      alpha,
      alpha2: alpha2 ?? 1,
      aBatch: stride(0),
      bBatch: stride(1),
      a2Batch: k2 > 0 ? stride(2) : 0,
      b2Batch: k2 > 0 ? stride(3) : 0,
      addend: c,
    },
    {
      a: left(0),
      b: right(1),
      a2: k2 > 0 ? left(2) : null,
      b2: k2 > 0 ? right(3) : null,
      c: c === null ? null : bias ? x[at] : { storage: x[at], ...result },
      out: { storage: y, ...result },
    },
  );
}
