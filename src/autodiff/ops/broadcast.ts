// What the elementwise ops of two tensors share.

import { broadcastShapes, broadcastStrides, collapseAxes, sameShape } from '../../array/shape.ts';
import { bind } from '../bind.ts';
import {
  type CpuCall,
  expectDtypes,
  type InputDomain,
  type Keeps,
  type Op,
  type Primitive,
  type Sample,
} from '../op.ts';
import type { Spec, Tensor } from '../tensor.ts';
import { gpuBinary } from './elementwise-gpu.ts';

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

/** Shapes that broadcast in every way the kernels know; `a` and `b` change how the operands are drawn. */
export function broadcastSamples(a: Partial<InputDomain> = {}, b: Partial<InputDomain> = {}): Sample<null>[] {
  const pairs: [number[], number[]][] = [
    [
      [3, 5],
      [3, 5],
    ],
    [[4, 8], [8]],
    [
      [2, 1, 3],
      [4, 1],
    ],
    [[], [3, 4]],
    [
      [5, 4],
      [5, 1],
    ],
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
export interface Binary extends Pick<Primitive<null>, 'name' | 'jvp' | 'vjp'> {
  /** Case of binary.part.wgsl. */
  readonly code: number;
  readonly value: (a: number, b: number) => number;
  readonly keeps: Keeps;
  readonly samples?: readonly Sample<null>[];
}

/** The record of a binary op. */
export function binary({ name, code, value, jvp, vjp, keeps, samples = broadcastSamples() }: Binary): Primitive<null> {
  const shape = broadcastRule(name);
  return { name, shape, cpu: cpuBroadcast(value), gpu: gpuBinary(code), jvp, vjp, keeps, samples };
}

/** A record as a function of two tensors. */
export function applyBinary(op: Op<null>): (a: Tensor, b: Tensor) => Tensor {
  return (a, b) => bind(op, [a, b], null);
}
