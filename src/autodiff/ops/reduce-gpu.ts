// Reductions on WebGPU: runs of adjacent axes one after the other, long ones in chunks, large ones in windows.

import { type Shape, sizeOf } from '../../array/shape.ts';
import { grid, type Operand, type WebGpuDevice, windowUnits } from '../../device/webgpu/device.ts';
import type { GpuStorage } from '../../device/webgpu/pool.ts';
import { reduce } from '../../shaders/kernels.gen.ts';
import type { GpuCall } from '../op.ts';
import { gpuFill } from './copy.ts';
import { rowLayout } from './rows-gpu.ts';

/** Which axes to reduce. */
export interface Reduction {
  /** Normalised, ascending. */
  readonly axes: readonly number[];
  /** Shape of the result: with or without the reduced axes, as the caller asked. */
  readonly shape: Shape;
}

/** Sizes around one run of adjacent reduced axes. */
export interface Run {
  readonly outer: number;
  readonly length: number;
  readonly inner: number;
}

/** Runs of adjacent reduced axes, as [outer, length, inner] sizes, last run first. */
export function runsOf(shape: Shape, axes: readonly number[]): Run[] {
  const runs: Run[] = [];
  const reduced = shape.map((_, i) => axes.includes(i));
  let inner = 1;
  for (let i = shape.length - 1; i >= 0;) {
    if (!reduced[i]) {
      inner *= shape[i--];
      continue;
    }
    let length = 1;
    while (i >= 0 && reduced[i]) length *= shape[i--];
    const outer = sizeOf(shape.slice(0, i + 1));
    runs.push({ outer, length, inner });
  }
  return runs;
}

const SPLIT = 4096;

/** Reduces every run of `x`; each run in `chunks` pieces with a result each, the last one shorter. */
function gpuPass(
  op: string,
  device: WebGpuDevice,
  code: number,
  x: GpuStorage,
  y: GpuStorage,
  run: Run & { chunk: number },
  scale: number,
): void {
  const { outer, length, inner, chunk } = run;
  const chunks = Math.ceil(length / chunk);
  // Whole runs stay together; a single run is cut between chunks.
  const single = outer === 1 && inner === 1;
  const aligned = Math.max(windowUnits(length * inner), windowUnits(chunks * inner));
  const { lanes, perGroup } = inner === 1 ? rowLayout(device, outer * chunks, chunk) : { lanes: 1, perGroup: 64 };
  for (const w of device.windows(outer * length * inner, single ? 64 * chunk : aligned * length * inner)) {
    const pieces = single ? Math.ceil(w.size / chunk) : chunks;
    const outputs = single ? pieces : (w.size / length) * chunks;
    device.dispatch(op, reduce, {
      buffers: {
        x: { storage: x, ...w },
        y: { storage: y, offset: single ? w.offset / chunk : (w.offset / length) * chunks, size: outputs },
      },
      params: { outputs, inner, length: single ? w.size : length, chunk, chunks: pieces, scale },
      constants: { OP: code, LANES: lanes, ROWS: perGroup },
      workgroups: grid(outputs, perGroup),
    });
  }
}

/** Column sums of a matrix larger than one binding: of windows of rows first, then of their results. */
function gpuTallColumns(
  op: string,
  device: WebGpuDevice,
  code: number,
  x: GpuStorage,
  y: GpuStorage,
  { length, inner }: Run,
  scale: number,
): void {
  const windows = device.windows(length * inner, windowUnits(inner) * inner);
  // Results are laid out on window boundaries; what lies between them also lies between the columns of y.
  const width = Math.ceil(inner / 64) * 64;
  const partial = device.alloc(windows.length * width, 'real', op);
  const emit = (from: Operand, to: Operand, columns: number, rows: number, k: number): void =>
    device.dispatch(op, reduce, {
      buffers: { x: from, y: to },
      params: { outputs: columns, inner: columns, length: rows, chunk: rows, chunks: 1, scale: k },
      constants: { OP: code, LANES: 1, ROWS: 64 },
      workgroups: grid(columns, 64),
    });
  windows.forEach((w, i) =>
    emit({ storage: x, ...w }, { storage: partial, offset: i * width, size: inner }, inner, w.size / inner, 1),
  );
  emit(partial, y, width, windows.length, scale);
  device.free(partial);
}

/** One reduction on the device; long runs with few results are first reduced in chunks. */
function gpuStep(
  op: string,
  device: WebGpuDevice,
  code: number,
  x: GpuStorage,
  y: GpuStorage,
  run: Run,
  scale: number,
): void {
  const { outer, length, inner } = run;
  if (outer * inner === 0) return;
  if (length === 0) return gpuFill(op, device, y, 0);
  if (outer === 1 && inner > 1 && length * inner * 4 > device.maxBindingBytes)
    return gpuTallColumns(op, device, code, x, y, run, scale);
  if (inner > 1 || outer >= 64 || length <= SPLIT)
    return gpuPass(op, device, code, x, y, { ...run, chunk: length }, scale);
  const pieces = Math.ceil(length / SPLIT);
  const partial = device.alloc(outer * pieces, 'real', op);
  gpuPass(op, device, code, x, partial, { ...run, chunk: SPLIT }, 1);
  gpuStep(op, device, code, partial, y, { outer, length: pieces, inner }, scale);
  device.free(partial);
}

/** The implementation of a reduction, by its case in reduce.wgsl. */
export const gpuReduce =
  (code: number, mean = false) =>
  ({ op, device, x, y, shapes, params }: GpuCall<Reduction>): void => {
    const runs = runsOf(shapes[0], params.axes);
    let from = x[0];
    runs.forEach((run, i) => {
      const last = i === runs.length - 1;
      const to = last ? y : device.alloc(run.outer * run.inner, 'real', op);
      gpuStep(op, device, code, from, to, run, last && mean ? y.size / x[0].size : 1);
      if (from !== x[0]) device.free(from);
      from = to;
    });
  };
