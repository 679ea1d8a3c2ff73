// WebGPU implementations of the elementwise families.

import { ShapeError } from '../../array/errors.ts';
import { broadcastStrides, collapseAxes, type Shape, sizeOf } from '../../array/shape.ts';
import { grid, WINDOW_STEP } from '../../device/webgpu/device.ts';
import type { GpuStorage } from '../../device/webgpu/pool.ts';
import { binary, binaryStrided, unary, where } from '../../shaders/kernels.gen.ts';
import type { GpuCall } from '../op.ts';

/** A quiet NaN as float32; WGSL cannot write one down. */
export const NAN_BITS = 0x7fc00000;

/** Axes a strided kernel can walk. */
export const STRIDED_AXES = 6;

/** Sizes or strides padded in front to the axes of a strided kernel. */
export function padAxes(op: string, values: readonly number[], fill: number): number[] {
  if (values.length > STRIDED_AXES) {
    throw new ShapeError(`${op}: ${values.length} axes that cannot be merged, at most ${STRIDED_AXES}; reshape first`);
  }
  return [...new Array<number>(STRIDED_AXES - values.length).fill(fill), ...values];
}

export const gpuUnary =
  (code: number) =>
  ({ op, device, x: [x], y, params: { p, q } }: GpuCall<{ p: number; q: number }>): void => {
    for (const w of device.windows(y.size)) {
      const n = Math.ceil(w.size / 4);
      device.dispatch(op, unary, {
        buffers: { x: { storage: x, ...w }, y: { storage: y, ...w } },
        params: { n, p, q, missing: NAN_BITS },
        constants: { OP: code },
        workgroups: grid(n, 64),
      });
    }
  };

/** How binary.wgsl can read an operand: whole 0, scalar 1, repeated row 2, column 3; null if it cannot. */
function readMode(shape: Shape, out: Shape): { mode: number; row: number } | null {
  const size = sizeOf(shape);
  if (size === sizeOf(out)) return { mode: 0, row: 0 };
  if (size === 1) return { mode: 1, row: 0 };
  const { shape: dims, strides } = collapseAxes(out, [broadcastStrides(shape, out)]);
  if (dims.length !== 2 || dims[1] % 4 !== 0) return null;
  const [outer, inner] = strides[0];
  if (outer === 0 && inner === 1) return { mode: 2, row: dims[1] };
  return outer === 1 && inner === 0 ? { mode: 3, row: dims[1] } : null;
}

export const gpuBinary =
  (code: number) =>
  (call: GpuCall<{ p: number; q: number } | null>): void => {
    const [a, b] = call.shapes.map((s) => readMode(s, call.shape));
    const row = Math.max(a?.row ?? 0, b?.row ?? 0);
    if (a === null || b === null || (a.row > 0 && b.row > 0 && a.row !== b.row)) return binaryByStrides(code, call);
    const { op, device, x, y } = call;
    const together = row === 0 ? WINDOW_STEP : row * WINDOW_STEP;
    const windows =
      y.size * 4 <= device.maxBindingBytes ? [{ offset: 0, size: y.size }] : device.windows(y.size, together);
    for (const w of windows) {
      const view = (storage: GpuStorage, mode: number): { storage: GpuStorage; offset: number; size: number } => {
        if (mode === 0) return { storage, ...w };
        if (mode === 3) return { storage, offset: w.offset / row, size: Math.ceil(w.size / row) };
        return { storage, offset: 0, size: storage.size };
      };
      const n = Math.ceil(w.size / 4);
      device.dispatch(op, binary, {
        buffers: { a: view(x[0], a.mode), b: view(x[1], b.mode), y: { storage: y, ...w } },
        params: { n, row: Math.max(1, row / 4), p: call.params?.p ?? 0, q: call.params?.q ?? 0 },
        constants: { OP: code, A_MODE: a.mode, B_MODE: b.mode },
        workgroups: grid(n, 64),
      });
    }
  };

function binaryByStrides(
  code: number,
  { op, device, x, y, shapes, shape, params }: GpuCall<{ p: number; q: number } | null>,
): void {
  const flat = collapseAxes(
    shape,
    shapes.map((s) => broadcastStrides(s, shape)),
  );
  const [, d1, d2, d3, d4, d5] = padAxes(op, flat.shape, 1);
  const [a0, a1, a2, a3, a4, a5] = padAxes(op, flat.strides[0], 0);
  const [b0, b1, b2, b3, b4, b5] = padAxes(op, flat.strides[1], 0);
  device.dispatch(op, binaryStrided, {
    buffers: { a: x[0], b: x[1], y },
    params: {
      p: params?.p ?? 0,
      q: params?.q ?? 0,
      n: y.size,
      d1,
      d2,
      d3,
      d4,
      d5,
      a0,
      a1,
      a2,
      a3,
      a4,
      a5,
      b0,
      b1,
      b2,
      b3,
      b4,
      b5,
    },
    constants: { OP: code },
    workgroups: grid(y.size, 64),
  });
}

export function gpuWhere({ op, device, x: [mask, a, b], y }: GpuCall<null>): void {
  for (const w of device.windows(y.size)) {
    const n = Math.ceil(w.size / 4);
    device.dispatch(op, where, {
      buffers: {
        mask: { storage: mask, ...w },
        a: { storage: a, ...w },
        b: { storage: b, ...w },
        y: { storage: y, ...w },
      },
      params: { n },
      workgroups: grid(n, 64),
    });
  }
}
