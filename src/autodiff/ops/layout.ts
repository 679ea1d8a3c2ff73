// Ops that move elements: each is linear, and its transpose is another of them.

import { ShapeError } from '../../array/errors.ts';
import { broadcastAxes, broadcastShapes, broadcastStrides, checkShape, collapseAxes, formatShape, sameShape, type Shape, sizeOf, stridesOf } from '../../array/shape.ts'; // prettier-ignore
import type { WebGpuDevice } from '../../device/webgpu/device.ts';
import { grid } from '../../device/webgpu/device.ts';
import type { GpuStorage } from '../../device/webgpu/pool.ts';
import { copyStrided, fill } from '../../shaders/kernels.gen.ts';
import { bind } from '../bind.ts';
import { expectDtypes, type Op, type Primitive, type Tangent } from '../op.ts';
import type { Device } from '../../device/open.ts';
import { Concrete, own, type Tensor } from '../tensor.ts';
import { padAxes } from './elementwise-gpu.ts';
import { sumTo } from './reduce.ts';

/** A box of elements to copy: its shape, and start and strides in source and target. */
interface Copy {
  readonly shape: Shape;
  readonly from: { readonly start: number; readonly strides: readonly number[] };
  readonly to: { readonly start: number; readonly strides: readonly number[] };
}

function cpuCopy(x: Float64Array, y: Float64Array, { shape, from, to }: Copy): void {
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
const spanOf = (shape: Shape, strides: readonly number[]): number => 1 + shape.reduce((n, d, i) => n + (d - 1) * strides[i], 0);

/** Copies a box; a box larger than one binding is cut along its outermost axis. */
function gpuCopy(op: string, device: WebGpuDevice, x: GpuStorage, y: GpuStorage, copy: Copy): void {
  const { shape, from, to } = copy;
  const n = sizeOf(shape);
  if (n === 0) return;
  const limit = device.maxBindingBytes / 4;
  const window = (storage: GpuStorage, start: number, span: number): { storage: GpuStorage; offset: number; size: number } => {
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
  const [, d1, d2, d3, d4, d5] = padAxes(op, flat.shape, 1);
  const [x0, x1, x2, x3, x4, x5] = padAxes(op, flat.strides[0], 0);
  const [y0, y1, y2, y3, y4, y5] = padAxes(op, flat.strides[1], 0);
  const xStart = from.start - source.offset;
  const yStart = to.start - target.offset;
  device.dispatch(op, copyStrided, {
    buffers: { x: source, y: target },
    params: { n, xStart, yStart, d1, d2, d3, d4, d5, x0, x1, x2, x3, x4, x5, y0, y1, y2, y3, y4, y5 },
    workgroups: grid(n, 64),
  });
}

const floatBits = new DataView(new ArrayBuffer(4));

/** Fills a storage with one value. */
export function gpuFill(op: string, device: WebGpuDevice, y: GpuStorage, value: number): void {
  if (y.dtype === 'real') floatBits.setFloat32(0, value);
  else floatBits.setInt32(0, value);
  for (const w of device.windows(y.size)) {
    device.dispatch(op, fill, { buffers: { y: { storage: y, ...w } }, params: { n: w.size, bits: floatBits.getUint32(0) }, workgroups: grid(w.size, 64) });
  }
}

/** A linear op on one tensor made of one copy; `transpose` maps the cotangent back. */
function mover<P>(
  name: string,
  shapeOf: (shape: Shape, params: P) => Shape,
  copy: (from: Shape, to: Shape, params: P) => Copy,
  transpose: (ct: Tensor, from: Shape, params: P) => Tensor,
  samples: Primitive<P>['samples'],
): Primitive<P> {
  const op: Primitive<P> = {
    name,
    shape: ([x], params) => ({ shape: shapeOf(x.shape, params), dtype: x.dtype }),
    cpu: ({ x, y, shapes, shape, params }) => cpuCopy(x[0], y, copy(shapes[0], shape, params)),
    gpu: ({ device, x, y, shapes, shape, params }) => {
      const box = copy(shapes[0], shape, params);
      if (sizeOf(box.shape) < y.size) gpuFill(name, device, y, 0);
      gpuCopy(name, device, x[0], y, box);
    },
    jvp: (_x, _y, params) => ([dx]) => (dx === null ? null : bind(op, [dx], params)),
    vjp: (ct, [x], _y, params) => [transpose(ct, x.shape, params)],
    keeps: 'none',
    samples,
  };
  return op;
}

const at = (start: number, strides: readonly number[]): { start: number; strides: readonly number[] } => ({ start, strides });
const offsetOf = (index: readonly number[], strides: readonly number[]): number => index.reduce((n, k, i) => n + k * strides[i], 0);

const reshapeOp: Primitive<Shape> = {
  name: 'reshape',
  alias: true,
  shape: ([x], target) => {
    if (sizeOf(x.shape) !== sizeOf(target)) {
      throw new ShapeError(`reshape: ${formatShape(x.shape)} has ${sizeOf(x.shape)} elements, ${formatShape(target)} has ${sizeOf(target)}; sizes must agree`);
    }
    return { shape: target, dtype: x.dtype };
  },
  cpu: ({ x, y }) => y.set(x[0]),
  gpu: ({ device, x, y }) => gpuCopy('reshape', device, x[0], y, { shape: [y.size], from: at(0, [1]), to: at(0, [1]) }),
  jvp: (_x, _y, target) => ([dx]) => (dx === null ? null : reshape(dx, target)),
  vjp: (ct, [x]) => [reshape(ct, x.shape)],
  keeps: 'none',
  samples: [{ inputs: [{ shape: [2, 6], draw: 'normal' }], params: [3, 4] }],
};

const permuteOp = mover<readonly number[]>(
  'permute',
  (shape, order) => {
    if (order.length !== shape.length || ![...order].sort((a, b) => a - b).every((a, i) => a === i)) {
      throw new ShapeError(`permute: order [${order.join(',')}] for shape ${formatShape(shape)}; list every axis once`);
    }
    return order.map((a) => shape[a]);
  },
  (from, to, order) => ({ shape: to, from: at(0, order.map((a) => stridesOf(from)[a])), to: at(0, stridesOf(to)) }),
  (ct, _from, order) => permute(ct, order.map((_, i) => order.indexOf(i))),
  [
    { inputs: [{ shape: [2, 3, 4], draw: 'normal' }], params: [2, 0, 1] },
    { inputs: [{ shape: [2, 2, 2, 3, 2, 3], draw: 'normal' }], params: [0, 2, 4, 1, 3, 5] },
  ],
);

const broadcastToOp = mover<Shape>(
  'broadcastTo',
  (shape, target) => {
    if (!sameShape(broadcastShapes('broadcastTo', shape, target), target)) {
      throw new ShapeError(`broadcastTo: ${formatShape(shape)} does not broadcast to ${formatShape(target)}; axes must be equal or 1`);
    }
    return target;
  },
  (from, to) => ({ shape: to, from: at(0, broadcastStrides(from, to)), to: at(0, stridesOf(to)) }),
  (ct, from) => sumTo(ct, broadcastAxes(from, ct.shape), from),
  [{ inputs: [{ shape: [3, 1], draw: 'normal' }], params: [2, 3, 4] }],
);

/** A box of a tensor: first index and size per axis. */
interface Box {
  readonly begin: readonly number[];
  readonly size: readonly number[];
}

const sliceOp = mover<Box>(
  'slice',
  (shape, { begin, size }) => {
    const fits = begin.length === shape.length && size.length === shape.length && shape.every((d, i) => begin[i] >= 0 && size[i] >= 0 && begin[i] + size[i] <= d);
    if (!fits) throw new ShapeError(`slice: begin [${begin.join(',')}] size [${size.join(',')}] leaves ${formatShape(shape)}; stay inside`);
    return size;
  },
  (from, to, { begin }) => ({ shape: to, from: at(offsetOf(begin, stridesOf(from)), stridesOf(from)), to: at(0, stridesOf(to)) }),
  (ct, from, { begin }) => pad(ct, begin, from),
  [{ inputs: [{ shape: [4, 5], draw: 'normal' }], params: { begin: [1, 2], size: [2, 3] } }],
);

/** Where a padded tensor lies in its frame. */
interface Frame {
  readonly begin: readonly number[];
  readonly shape: Shape;
}

const padOp = mover<Frame>(
  'pad',
  (inner, { begin, shape }) => {
    const fits = begin.length === inner.length && shape.length === inner.length && inner.every((d, i) => begin[i] >= 0 && begin[i] + d <= shape[i]);
    if (!fits) throw new ShapeError(`pad: ${formatShape(inner)} at [${begin.join(',')}] leaves ${formatShape(shape)}; enlarge the frame`);
    return shape;
  },
  (from, to, { begin }) => ({ shape: from, from: at(0, stridesOf(from)), to: at(offsetOf(begin, stridesOf(to)), stridesOf(to)) }),
  (ct, from, { begin }) => slice(ct, begin, from),
  [{ inputs: [{ shape: [2, 3], draw: 'normal' }], params: { begin: [1, 0], shape: [4, 5] } }],
);

/** The copies that lay tensors one after another along an axis. */
function concatCopies(shapes: readonly Shape[], target: Shape, axis: number): Copy[] {
  const strides = stridesOf(target);
  let first = 0;
  return shapes.map((shape) => {
    const start = first * strides[axis];
    first += shape[axis];
    return { shape, from: at(0, stridesOf(shape)), to: at(start, strides) };
  });
}

const concatOp: Primitive<number> = {
  name: 'concat',
  shape: (inputs, axis) => {
    const [{ shape, dtype }] = inputs;
    expectDtypes('concat', inputs, ...inputs.map(() => dtype));
    const fits = axis >= 0 && axis < shape.length && inputs.every((x) => x.shape.length === shape.length && x.shape.every((d, i) => i === axis || d === shape[i]));
    if (!fits) throw new ShapeError(`concat: axis ${axis} of shapes ${inputs.map((x) => formatShape(x.shape)).join(' ')}; only that axis may differ`);
    return { shape: shape.with(axis, inputs.reduce((n, x) => n + x.shape[axis], 0)), dtype };
  },
  cpu: ({ x, y, shapes, shape, params }) => concatCopies(shapes, shape, params).forEach((copy, i) => cpuCopy(x[i], y, copy)),
  gpu: ({ op, device, x, y, shapes, shape, params }) =>
    concatCopies(shapes, shape, params).forEach((copy, i) => gpuCopy(op, device, x[i], y, copy)),
  jvp: (x, _y, axis) => (dx) => concat(dx.map((t, i) => t ?? zeros(x[i].device, x[i].shape)), axis),
  vjp: (ct, x, _y, axis, needs) => {
    let first = 0;
    return x.map(({ shape }, i): Tangent => {
      const begin = shape.map((_, a) => (a === axis ? first : 0));
      first += shape[axis];
      return needs[i] ? slice(ct, begin, shape) : null;
    });
  },
  keeps: 'none',
  samples: [
    { inputs: [{ shape: [2, 3], draw: 'normal' }, { shape: [2, 1], draw: 'normal' }, { shape: [2, 2], draw: 'normal' }], params: 1 },
    { inputs: [{ shape: [1, 3], draw: 'normal' }, { shape: [2, 3], draw: 'normal' }], params: 0 },
  ],
};

/** The identity with derivative zero. */
const stopGradientOp: Op<null> = {
  name: 'stopGradient',
  alias: true,
  shape: ([x]) => x,
  cpu: ({ x, y }) => y.set(x[0]),
  gpu: ({ device, x, y }) => gpuCopy('stopGradient', device, x[0], y, { shape: [y.size], from: at(0, [1]), to: at(0, [1]) }),
  derivative: 'zero',
  samples: [{ inputs: [{ shape: [3], draw: 'normal' }], params: null }],
};

/** The same elements under another shape; one axis may be −1. Costs nothing. */
export function reshape(x: Tensor, shape: Shape): Tensor {
  const known = shape.reduce((n, d) => (d === -1 ? n : n * d), 1);
  const target = shape.map((d) => (d === -1 ? x.size / known : d));
  checkShape('reshape', target);
  return bind(reshapeOp, [x], target);
}

/** Axes in another order; reversed unless told. */
export const permute = (x: Tensor, order: readonly number[] = x.shape.map((_, i) => x.shape.length - 1 - i)): Tensor => bind(permuteOp, [x], order);

/** Repeats along axes of size one and new leading axes. */
export const broadcastTo = (x: Tensor, shape: Shape): Tensor => bind(broadcastToOp, [x], shape);

/** The box of the given size that starts at `begin`. */
export const slice = (x: Tensor, begin: readonly number[], size: readonly number[]): Tensor => bind(sliceOp, [x], { begin, size });

/** Zeros of the given shape with `x` at `begin`. */
export const pad = (x: Tensor, begin: readonly number[], shape: Shape): Tensor => bind(padOp, [x], { begin, shape });

/** Tensors one after another along an existing axis. */
export function concat(parts: readonly Tensor[], axis = 0): Tensor {
  if (parts.length === 0) throw new ShapeError('concat: no tensors; give at least one');
  return parts.length === 1 ? parts[0] : bind(concatOp, parts, axis < 0 ? axis + parts[0].shape.length : axis);
}

/** Tensors of one shape along a new axis. */
export function stack(parts: readonly Tensor[], axis = 0): Tensor {
  return concat(parts.map((t) => reshape(t, t.shape.toSpliced(axis, 0, 1))), axis);
}

/** `x` as a constant for differentiation. */
export const stopGradient = (x: Tensor): Tensor => bind(stopGradientOp, [x], null);

/** A tensor with one value everywhere. */
export function full(device: Device, shape: Shape, value: number): Tensor {
  if (device.kind === 'cpu') return own(new Concrete(device, device.upload(new Float64Array(sizeOf(shape)).fill(value), 'real'), shape));
  const storage = device.alloc(sizeOf(shape), 'real', 'full');
  gpuFill('full', device, storage, value);
  return own(new Concrete(device, storage, shape));
}

/** A tensor of zeros. */
export const zeros = (device: Device, shape: Shape): Tensor => full(device, shape, 0);

export const layoutOps = [reshapeOp, permuteOp, broadcastToOp, sliceOp, padOp, concatOp, stopGradientOp];
