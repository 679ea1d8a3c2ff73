// Ops that move elements: each is linear, and its transpose is another of them.

import { ShapeError } from '../../array/errors.ts';
import {
  broadcastAxes,
  broadcastShapes,
  broadcastStrides,
  checkShape,
  formatShape,
  sameShape,
  type Shape,
  sizeOf,
  stridesOf,
} from '../../array/shape.ts';
import type { Device } from '../../device/open.ts';
import { bind } from '../bind.ts';
import { expectDtypes, type Op, type Primitive, type Tangent } from '../op.ts';
import { Concrete, own, type Tensor } from '../tensor.ts';
import { at, type Copy, cpuCopy, gpuCopy, gpuFill, offsetOf } from './copy.ts';
import { sumTo } from './reduce.ts';

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
    jvp:
      (_x, _y, params) =>
      ([dx]) =>
        dx === null ? null : bind(op, [dx], params),
    vjp: (ct, [x], _y, params) => [transpose(ct, x.shape, params)],
    keeps: 'none',
    samples,
  };
  return op;
}

const reshapeOp: Primitive<Shape> = {
  name: 'reshape',
  alias: true,
  shape: ([x], target) => {
    if (sizeOf(x.shape) !== sizeOf(target)) {
      throw new ShapeError(
        `reshape: ${formatShape(x.shape)} has ${sizeOf(x.shape)} elements, ${formatShape(target)} has ${sizeOf(target)}; sizes must agree`,
      );
    }
    return { shape: target, dtype: x.dtype };
  },
  cpu: ({ x, y }) => y.set(x[0]),
  gpu: ({ device, x, y }) => gpuCopy('reshape', device, x[0], y, { shape: [y.size], from: at(0, [1]), to: at(0, [1]) }),
  jvp:
    (_x, _y, target) =>
    ([dx]) =>
      dx === null ? null : reshape(dx, target),
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
  (from, to, order) => ({
    shape: to,
    from: at(
      0,
      order.map((a) => stridesOf(from)[a]),
    ),
    to: at(0, stridesOf(to)),
  }),
  (ct, _from, order) =>
    permute(
      ct,
      order.map((_, i) => order.indexOf(i)),
    ),
  [
    { inputs: [{ shape: [2, 3, 4], draw: 'normal' }], params: [2, 0, 1] },
    { inputs: [{ shape: [2, 2, 2, 3, 2, 3], draw: 'normal' }], params: [0, 2, 4, 1, 3, 5] },
  ],
);

const broadcastToOp = mover<Shape>(
  'broadcastTo',
  (shape, target) => {
    if (!sameShape(broadcastShapes('broadcastTo', shape, target), target)) {
      throw new ShapeError(
        `broadcastTo: ${formatShape(shape)} does not broadcast to ${formatShape(target)}; axes must be equal or 1`,
      );
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
    const fits =
      begin.length === shape.length &&
      size.length === shape.length &&
      shape.every((d, i) => begin[i] >= 0 && size[i] >= 0 && begin[i] + size[i] <= d);
    if (!fits)
      throw new ShapeError(
        `slice: begin [${begin.join(',')}] size [${size.join(',')}] leaves ${formatShape(shape)}; stay inside`,
      );
    return size;
  },
  (from, to, { begin }) => ({
    shape: to,
    from: at(offsetOf(begin, stridesOf(from)), stridesOf(from)),
    to: at(0, stridesOf(to)),
  }),
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
    const fits =
      begin.length === inner.length &&
      shape.length === inner.length &&
      inner.every((d, i) => begin[i] >= 0 && begin[i] + d <= shape[i]);
    if (!fits)
      throw new ShapeError(
        `pad: ${formatShape(inner)} at [${begin.join(',')}] leaves ${formatShape(shape)}; enlarge the frame`,
      );
    return shape;
  },
  (from, to, { begin }) => ({
    shape: from,
    from: at(0, stridesOf(from)),
    to: at(offsetOf(begin, stridesOf(to)), stridesOf(to)),
  }),
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
    const fits =
      Number.isInteger(axis) &&
      axis >= 0 &&
      axis < shape.length &&
      inputs.every((x) => x.shape.length === shape.length && x.shape.every((d, i) => i === axis || d === shape[i]));
    if (!fits)
      throw new ShapeError(
        `concat: axis ${axis} of shapes ${inputs.map((x) => formatShape(x.shape)).join(' ')}; only that axis may differ`,
      );
    return {
      shape: shape.with(
        axis,
        inputs.reduce((n, x) => n + x.shape[axis], 0),
      ),
      dtype,
    };
  },
  cpu: ({ x, y, shapes, shape, params }) =>
    concatCopies(shapes, shape, params).forEach((copy, i) => cpuCopy(x[i], y, copy)),
  gpu: ({ op, device, x, y, shapes, shape, params }) =>
    concatCopies(shapes, shape, params).forEach((copy, i) => gpuCopy(op, device, x[i], y, copy)),
  jvp: (x, _y, axis) => (dx) =>
    concat(
      dx.map((t, i) => t ?? zeros(x[i].device, x[i].shape)),
      axis,
    ),
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
    {
      inputs: [
        { shape: [2, 3], draw: 'normal' },
        { shape: [2, 1], draw: 'normal' },
        { shape: [2, 2], draw: 'normal' },
      ],
      params: 1,
    },
    {
      inputs: [
        { shape: [1, 3], draw: 'normal' },
        { shape: [2, 3], draw: 'normal' },
      ],
      params: 0,
    },
  ],
};

/** The identity with derivative zero. */
const stopGradientOp: Op<null> = {
  name: 'stopGradient',
  alias: true,
  shape: ([x]) => x,
  cpu: ({ x, y }) => y.set(x[0]),
  gpu: ({ device, x, y }) =>
    gpuCopy('stopGradient', device, x[0], y, { shape: [y.size], from: at(0, [1]), to: at(0, [1]) }),
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
export const permute = (x: Tensor, order: readonly number[] = x.shape.map((_, i) => x.shape.length - 1 - i)): Tensor =>
  bind(permuteOp, [x], order);

/** Repeats along axes of size one and new leading axes. */
export function broadcastTo(x: Tensor, shape: Shape): Tensor {
  checkShape('broadcastTo', shape);
  return bind(broadcastToOp, [x], shape);
}

/** The box of the given size that starts at `begin`. */
export function slice(x: Tensor, begin: readonly number[], size: readonly number[]): Tensor {
  checkShape('slice', [...begin, ...size]);
  return bind(sliceOp, [x], { begin, size });
}

/** Zeros of the given shape with `x` at `begin`. */
export function pad(x: Tensor, begin: readonly number[], shape: Shape): Tensor {
  checkShape('pad', [...begin, ...shape]);
  return bind(padOp, [x], { begin, shape });
}

/** Tensors one after another along an existing axis. */
export function concat(parts: readonly Tensor[], axis = 0): Tensor {
  if (parts.length === 0) throw new ShapeError('concat: no tensors; give at least one');
  return parts.length === 1
    ? reshape(parts[0], parts[0].shape)
    : bind(concatOp, parts, axis < 0 ? axis + parts[0].shape.length : axis);
}

/** Tensors of one shape along a new axis; −1 is the last. */
export function stack(parts: readonly Tensor[], axis = 0): Tensor {
  const at = axis < 0 ? axis + (parts[0]?.shape.length ?? 0) + 1 : axis;
  const raised = parts.map((t) => reshape(t, t.shape.toSpliced(at, 0, 1)));
  return concat(raised, at);
}

/** `x` as a constant for differentiation. */
export const stopGradient = (x: Tensor): Tensor => bind(stopGradientOp, [x], null);

/** A tensor with one value everywhere. */
export function full(device: Device, shape: Shape, value: number): Tensor {
  checkShape('full', shape);
  if (device.kind === 'cpu')
    return own(new Concrete(device, device.upload(new Float64Array(sizeOf(shape)).fill(value), 'real'), shape));
  const storage = device.alloc(sizeOf(shape), 'real', 'full');
  gpuFill('full', device, storage, value);
  return own(new Concrete(device, storage, shape));
}

/** A tensor of zeros. */
export const zeros = (device: Device, shape: Shape): Tensor => full(device, shape, 0);

export const layoutOps = [reshapeOp, permuteOp, broadcastToOp, sliceOp, padOp, concatOp, stopGradientOp];
