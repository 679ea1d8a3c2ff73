// Reading by index and its transpose, adding by index.

import { ShapeError } from '../../array/errors.ts';
import { formatShape, sameShape, type Shape, sizeOf } from '../../array/shape.ts';
import { grid, windowUnits } from '../../device/webgpu/device.ts';
import {
  gather as gatherKernel,
  scatterAdd as scatterAddKernel,
  take as takeKernel,
} from '../../shaders/kernels.gen.ts';
import { bind } from '../bind.ts';
import { expectDtypes, expectRank, type GpuCall, type Primitive } from '../op.ts';
import type { Tensor } from '../tensor.ts';
import { gpuFill, runOf } from './copy.ts';
import { NAN_BITS } from './elementwise-gpu.ts';

/** An index as the CPU reference uses it; on WebGPU one out of range reads a NaN and adds nothing. */
function checkIndex(op: string, index: number, below: number): number {
  if (!(index >= 0 && index < below)) throw new ShapeError(`${op}: index ${index} of ${below}; use 0…${below - 1}`);
  return index;
}

/** Calls `run` for windows of whole table rows. */
function rowWindows(
  call: GpuCall<unknown>,
  table: number,
  width: number,
  run: (first: number, rows: number) => void,
): void {
  const { device } = call;
  const size = call.x[table]?.size ?? call.y.size;
  for (const w of device.windows(size, width * windowUnits(width))) run(w.offset / width, w.size / width);
}

/** y[i…, ·] = table[index[i…], ·]. */
const gatherOp: Primitive<null> = {
  name: 'gather',
  shape: ([table, index]) => {
    expectDtypes('gather', [table, index], 'real', 'int');
    expectRank('gather', table, 1, 'give a table of rows');
    return { shape: [...index.shape, ...table.shape.slice(1)], dtype: 'real' };
  },
  cpu: ({ x: [table, index], y, shapes: [shape] }) => {
    const width = sizeOf(shape.slice(1));
    for (let i = 0; i < index.length; i++) {
      const row = checkIndex('gather', index[i], shape[0]);
      y.set(table.subarray(row * width, (row + 1) * width), i * width);
    }
  },
  gpu: (call) => {
    const { op, device, x, y, shapes } = call;
    const width = sizeOf(shapes[0].slice(1));
    const run = runOf(width);
    rowWindows(call, 0, width, (first, rows) => {
      const whole = rows === shapes[0][0];
      if (first === 0 && !whole) gpuFill(op, device, y, NaN);
      device.dispatch(op, gatherKernel, {
        buffers: { source: { storage: x[0], offset: first * width, size: rows * width }, index: x[1], y },
        params: { n: y.size / run, width, first, rows, missing: NAN_BITS },
        constants: { RUN: run, WHOLE: Number(whole) },
        workgroups: grid(y.size / run, 64),
      });
    });
  },
  jvp:
    ([, index]) =>
    ([dTable]) =>
      dTable === null ? null : gather(dTable, index),
  vjp: (ct, [table, index]) => [scatterAdd(ct, index, table.shape[0]), null],
  keeps: 'inputs',
  samples: [
    {
      inputs: [
        { shape: [5, 3], draw: 'normal' },
        { shape: [2, 4], draw: { below: 5 } },
      ],
      params: null,
    },
  ],
};

/** y[r, ·] = Σ over i with index[i] = r of x[i, ·]; the transpose of gather. */
const scatterAddOp: Primitive<number> = {
  name: 'scatterAdd',
  shape: ([x, index], rows) => {
    expectDtypes('scatterAdd', [x, index], 'real', 'int');
    if (!sameShape(x.shape.slice(0, index.shape.length), index.shape)) {
      throw new ShapeError(
        `scatterAdd: values ${formatShape(x.shape)} for indices ${formatShape(index.shape)}; the leading axes must agree`,
      );
    }
    return { shape: [rows, ...x.shape.slice(index.shape.length)], dtype: 'real' };
  },
  cpu: ({ x: [x, index], y, shape }) => {
    const width = sizeOf(shape.slice(1));
    for (let i = 0; i < index.length; i++) {
      const row = checkIndex('scatterAdd', index[i], shape[0]);
      for (let j = 0; j < width; j++) y[row * width + j] += x[i * width + j];
    }
  },
  gpu: (call) => {
    const { op, device, x, y, shape } = call;
    const width = sizeOf(shape.slice(1));
    gpuFill(op, device, y, 0);
    rowWindows(call, -1, width, (first, rows) =>
      device.dispatch(op, scatterAddKernel, {
        buffers: { x: x[0], index: x[1], y: { storage: y, offset: first * width, size: rows * width } },
        params: { n: x[1].size, width, first, rows },
        workgroups: grid(x[0].size, 64),
      }),
    );
  },
  jvp:
    ([, index], _y, rows) =>
    ([dx]) =>
      dx === null ? null : scatterAdd(dx, index, rows),
  vjp: (ct, [, index]) => [gather(ct, index), null],
  keeps: 'inputs',
  samples: [
    {
      inputs: [
        { shape: [6, 3], draw: 'normal' },
        { shape: [6], draw: { below: 4 } },
      ],
      params: 4,
    },
  ],
};

const rowsAgree = (op: string, x: Shape, index: Shape): void => {
  if (x.length === 0 || !sameShape(x.slice(0, -1), index.slice(0, -1)) || x.length !== index.length) {
    throw new ShapeError(
      `${op}: values ${formatShape(x)} for indices ${formatShape(index)}; all axes but the last must agree`,
    );
  }
};

/** y[…, j] = x[…, index[…, j]]. */
const takeOp: Primitive<null> = {
  name: 'take',
  shape: ([x, index]) => {
    expectDtypes('take', [x, index], 'real', 'int');
    rowsAgree('take', x.shape, index.shape);
    return { shape: index.shape, dtype: 'real' };
  },
  cpu: ({ x: [x, index], y, shapes: [shape, picked] }) => {
    const [n, k] = [shape[shape.length - 1], picked[picked.length - 1]];
    for (let i = 0; i < y.length; i++) y[i] = x[Math.floor(i / k) * n + checkIndex('take', index[i], n)];
  },
  gpu: ({ op, device, x, y, shapes: [shape, picked] }) => {
    const [inputs, outputs] = [shape[shape.length - 1], picked[picked.length - 1]];
    device.dispatch(op, takeKernel, {
      buffers: { x: x[0], index: x[1], y },
      params: { n: y.size, inputs, outputs, k: outputs, missing: NAN_BITS },
      constants: { PUT: 0 },
      workgroups: grid(y.size, 64),
    });
  },
  jvp:
    ([, index]) =>
    ([dx]) =>
      dx === null ? null : take(dx, index),
  vjp: (ct, [x, index]) => [bind(putOp, [ct, index], x.shape[x.shape.length - 1]), null],
  keeps: 'inputs',
  samples: [
    {
      inputs: [
        { shape: [3, 5], draw: 'normal' },
        { shape: [3, 2], draw: { below: 5 } },
      ],
      params: null,
    },
  ],
};

/** y[…, c] = Σ over j with index[…, j] = c of x[…, j]; the transpose of take. */
const putOp: Primitive<number> = {
  name: 'put',
  shape: ([x, index], n) => {
    expectDtypes('put', [x, index], 'real', 'int');
    rowsAgree('put', x.shape, index.shape);
    return { shape: x.shape.with(-1, n), dtype: 'real' };
  },
  cpu: ({ x: [x, index], y, shapes: [shape], params: n }) => {
    const k = shape[shape.length - 1];
    for (let i = 0; i < x.length; i++) y[Math.floor(i / k) * n + checkIndex('put', index[i], n)] += x[i];
  },
  gpu: ({ op, device, x, y, shapes: [shape], params: n }) => {
    const k = shape[shape.length - 1];
    device.dispatch(op, takeKernel, {
      buffers: { x: x[0], index: x[1], y },
      params: { n: y.size, inputs: k, outputs: n, k, missing: NAN_BITS },
      constants: { PUT: 1 },
      workgroups: grid(y.size, 64),
    });
  },
  jvp:
    ([, index], _y, n) =>
    ([dx]) =>
      dx === null ? null : bind(putOp, [dx, index], n),
  vjp: (ct, [, index]) => [take(ct, index), null],
  keeps: 'inputs',
  samples: [
    {
      inputs: [
        { shape: [3, 4], draw: 'normal' },
        { shape: [3, 4], draw: { below: 3 } },
      ],
      params: 3,
    },
  ],
};

/** Rows of a table by index (an embedding). An index out of range throws on the CPU and gives NaN on WebGPU. */
export const gather = (table: Tensor, index: Tensor): Tensor => bind(gatherOp, [table, index], null);

/** Adds rows into a table of `rows` rows by index. */
export const scatterAdd = (x: Tensor, index: Tensor, rows: number): Tensor => bind(scatterAddOp, [x, index], rows);

/** Entries along the last axis by index, row by row. An index out of range throws on the CPU and gives NaN on WebGPU. */
export const take = (x: Tensor, index: Tensor): Tensor => bind(takeOp, [x, index], null);

export const indexingOps = [gatherOp, scatterAddOp, takeOp, putOp];
