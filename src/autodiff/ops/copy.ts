// Strided copies and fills, on both devices.

import { collapseAxes, type Shape, sizeOf } from '../../array/shape.ts';
import { grid, type View, type WebGpuDevice } from '../../device/webgpu/device.ts';
import type { GpuStorage } from '../../device/webgpu/pool.ts';
import { copyStrided, fill } from '../../shaders/kernels.gen.ts';
import { padAxes } from './elementwise-gpu.ts';

/** A box of elements to copy: its shape, and start and strides in source and target. */
export interface Copy {
  readonly shape: Shape;
  readonly from: { readonly start: number; readonly strides: readonly number[] };
  readonly to: { readonly start: number; readonly strides: readonly number[] };
}

export function cpuCopy(x: Float64Array, y: Float64Array, { shape, from, to }: Copy): void {
  const flat = collapseAxes(shape, [from.strides, to.strides]);
  const [sx, sy] = flat.strides;
  const step = (axis: number, p: number, q: number): void => {
    if (axis === flat.shape.length) {
      y[q] = x[p];
      return;
    }
    for (let k = 0; k < flat.shape[axis]; k++) step(axis + 1, p + k * sx[axis], q + k * sy[axis]);
  };
  step(0, from.start, to.start);
}

/** Elements a strided box spans in memory, from its start. */
const spanOf = (shape: Shape, strides: readonly number[]): number =>
  1 + shape.reduce((n, d, i) => n + (d - 1) * strides[i], 0);

/** Neighbours of an axis that one invocation copies. */
export const runOf = (length: number): number => [8, 4, 2].find((run) => length % run === 0) ?? 1;

/** Copies a box; a box larger than one binding is cut along its outermost axis. */
export function gpuCopy(op: string, device: WebGpuDevice, x: GpuStorage, y: GpuStorage, copy: Copy): void {
  const { shape, from, to } = copy;
  const n = sizeOf(shape);
  if (n === 0) return;
  const limit = device.maxBindingBytes / 4;
  const window = (storage: GpuStorage, start: number, span: number): View => {
    if (storage.size <= limit) return { storage, offset: 0, size: storage.size };
    const offset = Math.floor(start / 64) * 64;
    return { storage, offset, size: start - offset + span };
  };
  const source = window(x, from.start, spanOf(shape, from.strides));
  const target = window(y, to.start, spanOf(shape, to.strides));
  const axis = shape.findIndex((d) => d > 1);
  if (axis >= 0 && (source.size > limit || target.size > limit)) {
    const half = Math.ceil(shape[axis] / 2);
    const part = (first: number, count: number): Copy => ({
      shape: shape.with(axis, count),
      from: { ...from, start: from.start + first * from.strides[axis] },
      to: { ...to, start: to.start + first * to.strides[axis] },
    });
    gpuCopy(op, device, x, y, part(0, half));
    gpuCopy(op, device, x, y, part(half, shape[axis] - half));
    return;
  }
  const flat = collapseAxes(shape, [from.strides, to.strides]);
  const [, d1, d2, d3, d4, last] = padAxes(op, flat.shape, 1);
  const run = runOf(last);
  const [runs, d5] = [n / run, last / run];
  const [x0, x1, x2, x3, x4, x5] = padAxes(op, flat.strides[0], 0);
  const [y0, y1, y2, y3, y4, y5] = padAxes(op, flat.strides[1], 0);
  const xStart = from.start - source.offset;
  const yStart = to.start - target.offset;
  device.dispatch(op, copyStrided, {
    buffers: { x: source, y: target },
    params: { n: runs, xStart, yStart, d1, d2, d3, d4, d5, x0, x1, x2, x3, x4, x5, y0, y1, y2, y3, y4, y5 },
    constants: { RUN: run },
    workgroups: grid(runs, 64),
  });
}

const floatBits = new DataView(new ArrayBuffer(4));

/** Fills a storage with one value. */
export function gpuFill(op: string, device: WebGpuDevice, y: GpuStorage, value: number): void {
  if (y.dtype === 'real') floatBits.setFloat32(0, value);
  else floatBits.setInt32(0, value);
  for (const w of device.windows(y.size)) {
    device.dispatch(op, fill, {
      buffers: { y: { storage: y, ...w } },
      params: { n: w.size, bits: floatBits.getUint32(0) },
      workgroups: grid(w.size, 64),
    });
  }
}

/** A place in memory: where a box starts and how it steps. */
export const at = (start: number, strides: readonly number[]): { start: number; strides: readonly number[] } => ({
  start,
  strides,
});
/** The element at an index. */
export const offsetOf = (index: readonly number[], strides: readonly number[]): number =>
  index.reduce((n, k, i) => n + k * strides[i], 0);
