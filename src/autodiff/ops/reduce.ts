// Reductions over any axes, and the discrete argmax and top-k.

import { ShapeError } from '../../array/errors.ts';
import { formatShape, normalizeAxes, reducedShape, sameShape, type Shape } from '../../array/shape.ts';
import { grid } from '../../device/webgpu/device.ts';
import { topk as topkKernel } from '../../shaders/kernels.gen.ts';
import { bind } from '../bind.ts';
import { type Discrete, expectDtypes, expectRank, type Primitive, type Sample } from '../op.ts';
import type { Tensor } from '../tensor.ts';
import { div, mul, sub } from './binary.ts';
import { equal } from './piecewise.ts';
import { broadcastTo, reshape } from './layout.ts';
import { gpuReduce, type Reduction, runsOf } from './reduce-gpu.ts';
import { take } from './indexing.ts';
import { affine, exp } from './unary.ts';

type Fold = (x: Float64Array, first: number, length: number, step: number) => number;

function cpuReduce(x: Float64Array, y: Float64Array, shape: Shape, axes: readonly number[], fold: Fold): void {
  let from = x;
  for (const { outer, length, inner } of runsOf(shape, axes)) {
    const to = new Float64Array(outer * inner);
    for (let o = 0; o < outer; o++) {
      for (let i = 0; i < inner; i++) to[o * inner + i] = fold(from, o * length * inner + i, length, inner);
    }
    from = to;
  }
  y.set(from);
}

const SAMPLES: Sample<Reduction>[] = (
  [
    [[3, 4], [1]],
    [[3, 4], [0]],
    [
      [2, 3, 4],
      [0, 2],
    ],
    [
      [2, 3, 4],
      [0, 1, 2],
    ],
    [[2, 5000], [1]],
  ] as [number[], number[]][]
).map(([shape, axes]) => ({
  inputs: [{ shape, draw: 'normal' }],
  params: { axes, shape: reducedShape(shape, axes, false) },
}));

const shapeRule =
  (name: string): Primitive<Reduction>['shape'] =>
  ([x], { axes, shape }) => {
    expectDtypes(name, [x]);
    if (axes.length === 0)
      throw new ShapeError(`${name}: no axes of ${formatShape(x.shape)} to reduce; name at least one`);
    if (name !== 'sum' && axes.some((a) => x.shape[a] === 0)) {
      throw new ShapeError(`${name}: an axis of size 0 in ${formatShape(x.shape)}; only sum is defined there`);
    }
    return { shape, dtype: 'real' };
  };

/** A result of a reduction, back over the axes that were reduced. */
const spread = (y: Tensor, x: Tensor, axes: readonly number[]): Tensor =>
  broadcastTo(reshape(y, reducedShape(x.shape, axes, true)), x.shape);
const keepAxes = (y: Tensor, x: Tensor, axes: readonly number[]): Tensor =>
  reshape(y, reducedShape(x.shape, axes, true));

const foldSum: Fold = (x, first, length, step) => {
  let total = 0;
  for (let r = 0; r < length; r++) total += x[first + r * step];
  return total;
};
const foldMax: Fold = (x, first, length, step) => {
  let best = -Infinity;
  for (let r = 0; r < length; r++) best = Math.max(best, x[first + r * step]);
  return best;
};
const foldLogSumExp: Fold = (x, first, length, step) => {
  const peak = foldMax(x, first, length, step);
  if (peak === -Infinity) return peak;
  let total = 0;
  for (let r = 0; r < length; r++) total += Math.exp(x[first + r * step] - peak);
  return peak + Math.log(total);
};

const sumOp: Primitive<Reduction> = {
  name: 'sum',
  shape: shapeRule('sum'),
  cpu: ({ x, y, shapes, params }) => cpuReduce(x[0], y, shapes[0], params.axes, foldSum),
  gpu: gpuReduce(0),
  jvp:
    (_x, _y, params) =>
    ([dx]) =>
      dx === null ? null : bind(sumOp, [dx], params),
  vjp: (ct, [x], _y, { axes }) => [spread(ct, x, axes)],
  keeps: 'none',
  samples: SAMPLES,
};

const meanOp: Primitive<Reduction> = {
  name: 'mean',
  shape: shapeRule('mean'),
  cpu: ({ x, y, shapes, params }) => {
    cpuReduce(x[0], y, shapes[0], params.axes, foldSum);
    for (let i = 0; i < y.length; i++) y[i] *= y.length / x[0].length;
  },
  gpu: gpuReduce(0, true),
  jvp:
    (_x, _y, params) =>
    ([dx]) =>
      dx === null ? null : bind(meanOp, [dx], params),
  vjp: (ct, [x], y, { axes }) => [spread(affine(ct, y.size / x.size, 0), x, axes)],
  keeps: 'none',
  samples: SAMPLES,
};

/** Tangents of the entries that attain the maximum, shared equally among ties. */
const maxOp: Primitive<Reduction> = {
  name: 'max',
  shape: shapeRule('max'),
  cpu: ({ x, y, shapes, params }) => cpuReduce(x[0], y, shapes[0], params.axes, foldMax),
  gpu: gpuReduce(1),
  jvp: ([x], y, params) => {
    const share = argmaxShare(x, y, params);
    return ([dx]) => (dx === null ? null : bind(sumOp, [mul(share, dx)], params));
  },
  vjp: (ct, [x], y, params) => [mul(argmaxShare(x, y, params), keepAxes(ct, x, params.axes))],
  samples: SAMPLES,
};

function argmaxShare(x: Tensor, y: Tensor, params: Reduction): Tensor {
  const hits = equal(x, keepAxes(y, x, params.axes));
  const ties = keepAxes(bind(sumOp, [hits], params), x, params.axes);
  return div(hits, ties);
}

/** log Σ exp; its derivative is the softmax over the reduced axes. */
const logSumExpOp: Primitive<Reduction> = {
  name: 'logSumExp',
  shape: shapeRule('logSumExp'),
  cpu: ({ x, y, shapes, params }) => cpuReduce(x[0], y, shapes[0], params.axes, foldLogSumExp),
  gpu: gpuReduce(2),
  jvp: ([x], y, params) => {
    const p = exp(sub(x, keepAxes(y, x, params.axes)));
    return ([dx]) => (dx === null ? null : bind(sumOp, [mul(p, dx)], params));
  },
  vjp: (ct, [x], y, { axes }) => [mul(exp(sub(x, keepAxes(y, x, axes))), keepAxes(ct, x, axes))],
  samples: SAMPLES,
};

/** A record that picks indices of the k largest of each row. */
const picker = (name: string, rowShape: (k: number) => Shape, ks: readonly number[]): Discrete<number> => ({
  name,
  shape: ([x], k) => {
    expectDtypes(name, [x]);
    expectRank(name, x, 1, 'reshape a scalar first');
    const n = x.shape[x.shape.length - 1];
    if (!(Number.isInteger(k) && k >= 1 && k <= n)) throw new ShapeError(`${name}: ${k} of ${n} columns; take 1…${n}`);
    return { shape: [...x.shape.slice(0, -1), ...rowShape(k)], dtype: 'int' };
  },
  cpu: ({ x: [x], y, shapes: [shape], params: k }) => {
    const n = shape[shape.length - 1];
    for (let row = 0; row * n < x.length; row++) {
      const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => x[row * n + b] - x[row * n + a] || a - b);
      for (let j = 0; j < k; j++) y[row * k + j] = order[j];
    }
  },
  gpu: ({ op, device, x, y, params: k }) => {
    const rows = y.size / k;
    device.dispatch(op, topkKernel, {
      buffers: { x: x[0], y },
      params: { rows, columns: x[0].size / rows, k },
      workgroups: grid(rows, 64),
    });
  },
  derivative: 'none',
  why: 'an index does not change smoothly',
  samples: ks.map((k) => ({ inputs: [{ shape: [3, 7], draw: 'normal' }], params: k })),
});

const topkOp = picker('topk', (k) => [k], [1, 3, 7]);
const argmaxOp = picker('argmax', () => [], [1]);

const reduceWith =
  (op: Primitive<Reduction>) =>
  (x: Tensor, axes?: number | readonly number[], { keepDims = false } = {}): Tensor => {
    const list = normalizeAxes(op.name, axes, x.shape.length);
    return list.length === 0
      ? reshape(x, x.shape)
      : bind(op, [x], { axes: list, shape: reducedShape(x.shape, list, keepDims) });
  };

/** Sum over axes (all unless told). */
export const sum = reduceWith(sumOp);
/** Mean over axes (all unless told). */
export const mean = reduceWith(meanOp);
/** Largest value over axes (all unless told). */
export const max = reduceWith(maxOp);
/** log Σ exp over axes (all unless told), without overflow. */
export const logSumExp = reduceWith(logSumExpOp);

/** Sum over `axes`, as the given shape. */
export const sumTo = (x: Tensor, axes: readonly number[], shape: Shape): Tensor =>
  axes.length === 0 ? (sameShape(x.shape, shape) ? x : reshape(x, shape)) : bind(sumOp, [x], { axes, shape });

/**
 * The k largest along the last axis: indices and values, the lower index first among equals. Not differentiable; for
 * values with a derivative, `take(x, topk(stopGradient(x), k).indices)`.
 */
export function topk(x: Tensor, k: number): { indices: Tensor; values: Tensor } {
  const indices = bind(topkOp, [x], k);
  return { indices, values: take(x, indices) };
}

/** Index of the largest along the last axis, the first among equals. Not differentiable. */
export const argmax = (x: Tensor): Tensor => bind(argmaxOp, [x], 1);

export const reduceOps = [sumOp, meanOp, maxOp, logSumExpOp, topkOp, argmaxOp];
