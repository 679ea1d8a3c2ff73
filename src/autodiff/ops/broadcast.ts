// What the elementwise ops of two tensors share. Only function declarations: op modules import each other in circles,
// and a declaration can be called before its module has run.

import { broadcastAxes, broadcastShapes, broadcastStrides, collapseAxes, sameShape } from '../../array/shape.ts';
import { bind } from '../bind.ts';
import {
  type CpuCall,
  expectDtypes,
  type InputDomain,
  type Keeps,
  type Op,
  type Primitive,
  type Sample,
  type Tangent,
} from '../op.ts';
import type { Spec, Tensor } from '../tensor.ts';
import { gpuBinary } from './elementwise-gpu.ts';
import { broadcastTo } from './layout.ts';
import { sumTo } from './reduce.ts';

/** f(a, b) over broadcast operands. */
export function cpuBroadcast(f: (a: number, b: number) => number): (call: CpuCall<null>) => void {
  return ({ x: [a, b], y, shapes, shape }) => {
    if (sameShape(shapes[0], shapes[1])) {
      for (let i = 0; i < y.length; i++) y[i] = f(a[i], b[i]);
      return;
    }
    const steps = shapes.map((s) => broadcastStrides(s, shape));
    const flat = collapseAxes(shape, steps);
    walk(flat.shape, flat.strides, (i, p, q) => (y[i] = f(a[p], b[q])));
  };
}

/** Visits every element of `shape` in order with the offsets of two operands. */
function walk(
  shape: readonly number[],
  [sa, sb]: readonly (readonly number[])[],
  visit: (i: number, a: number, b: number) => void,
): void {
  let i = 0;
  const step = (axis: number, p: number, q: number): void => {
    if (axis === shape.length) return visit(i++, p, q);
    for (let k = 0; k < shape[axis]; k++) step(axis + 1, p + k * sa[axis], q + k * sb[axis]);
  };
  step(0, 0, 0);
}

/** The shape rule of a binary op. */
export function broadcastRule(name: string): (inputs: readonly Spec[]) => Spec {
  return (inputs) => {
    expectDtypes(name, inputs);
    return { shape: broadcastShapes(name, inputs[0].shape, inputs[1].shape), dtype: 'real' };
  };
}

/** Sums a cotangent back to the shape its operand had before broadcasting. */
function unbroadcast(ct: Tensor, like: Tensor): Tensor {
  return sameShape(ct.shape, like.shape) ? ct : sumTo(ct, broadcastAxes(like.shape, ct.shape), like.shape);
}

/** Shapes that broadcast in every way the kernels know; `a` and `b` change how the operands are drawn. */
export function broadcastSamples(a: Partial<InputDomain> = {}, b: Partial<InputDomain> = {}): Sample<null>[] {
  // prettier-ignore
  const pairs: [number[], number[]][] = [
    [[3, 5], [3, 5]],
    [[4, 8], [8]],
    [[2, 1, 3], [4, 1]],
    [[], [3, 4]],
    [[5, 4], [5, 1]],
  ];
  return pairs.map(([p, q]) => ({
    inputs: [
      { shape: p, draw: 'normal', ...a },
      { shape: q, draw: 'normal', ...b },
    ],
    params: null,
  }));
}

/** What differs from one binary op to the next. */
export interface Binary {
  readonly name: string;
  /** Case of binary.part.wgsl. */
  readonly code: number;
  readonly value: (a: number, b: number) => number;
  /** As in {@link Primitive}; a tangent may have the shape of its operand. */
  readonly jvp: Primitive<null>['jvp'];
  /** Cotangents in the shape of the output. */
  readonly vjp: (ct: Tensor, a: Tensor, b: Tensor, y: Tensor, needs: readonly boolean[]) => readonly Tangent[];
  readonly keeps: Keeps;
  readonly samples?: readonly Sample<null>[];
}

/** The record of a binary op. */
export function binary({ name, code, value, jvp, vjp, keeps, samples = broadcastSamples() }: Binary): Primitive<null> {
  return {
    name,
    shape: broadcastRule(name),
    cpu: cpuBroadcast(value),
    gpu: gpuBinary(code),
    jvp: (x, y, params) => {
      const push = jvp(x, y, params);
      return (dx) => {
        const t = push(dx);
        return t === null || sameShape(t.shape, y.shape) ? t : broadcastTo(t, y.shape);
      };
    },
    vjp: (ct, x, y, _params, needs) =>
      vjp(ct, x[0], x[1], y, needs).map((part, i) => (part === null || !needs[i] ? null : unbroadcast(part, x[i]))),
    keeps,
    samples,
  };
}

/** A record as a function of two tensors. */
export function applyBinary(op: Op<null>): (a: Tensor, b: Tensor) => Tensor {
  return (a, b) => bind(op, [a, b], null);
}
