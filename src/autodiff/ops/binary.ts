// Arithmetic of two tensors, with broadcasting; a number stands for a constant tensor.

import { ShapeError } from '../../array/errors.ts';
import { formatShape, sameShape } from '../../array/shape.ts';
import { bind } from '../bind.ts';
import { expectDtypes, type Primitive, type Tangent } from '../op.ts';
import type { Tensor } from '../tensor.ts';
import { binary, broadcastSamples } from './broadcast.ts';
import { gpuBinary } from './elementwise-gpu.ts';
import { affine, neg, pow } from './unary.ts';

/** A tensor, or a number that stands for a constant tensor. */
export type TensorLike = Tensor | number;

/** The sum of tangents of which some may be zero. */
export function addTangents(...parts: readonly Tangent[]): Tangent {
  return parts.reduce((a, b) => (a === null ? b : b === null ? a : add(a, b)), null);
}

const addOp = binary({
  name: 'add',
  code: 0,
  value: (a, b) => a + b,
  jvp:
    () =>
    ([da, db]) =>
      addTangents(da, db),
  vjp: (ct) => [ct, ct],
  keeps: 'none',
});

const subOp = binary({
  name: 'sub',
  code: 1,
  value: (a, b) => a - b,
  jvp:
    () =>
    ([da, db]) =>
      da && db ? sub(da, db) : (da ?? (db && neg(db))),
  vjp: (ct, _x, _y, _params, needs) => [ct, needs[1] ? neg(ct) : null],
  keeps: 'none',
});

const mulOp = binary({
  name: 'mul',
  code: 2,
  value: (a, b) => a * b,
  jvp:
    ([a, b]) =>
    ([da, db]) =>
      addTangents(da && mul(da, b), db && mul(db, a)),
  vjp: (ct, [a, b], _y, _params, needs) => [needs[0] ? mul(ct, b) : null, needs[1] ? mul(ct, a) : null],
  keeps: 'inputs',
});

/** d(a/b) = da/b − y·db/b. */
const divOp = binary({
  name: 'div',
  code: 3,
  value: (a, b) => a / b,
  jvp:
    ([, b], y) =>
    ([da, db]) =>
      addTangents(da && div(da, b), db && neg(div(mul(db, y), b))),
  vjp: (ct, [, b], y, _params, needs) => [needs[0] ? div(ct, b) : null, needs[1] ? neg(div(mul(ct, y), b)) : null],
  keeps: 'both',
  samples: broadcastSamples({}, { draw: 'positive' }),
});

/** p·a + q·b for constants p and q, in one pass over tensors of one shape. */
const combineOp: Primitive<{ p: number; q: number }> = {
  name: 'combine',
  shape: (inputs) => {
    expectDtypes('combine', inputs);
    const [a, b] = inputs.map((x) => x.shape);
    if (!sameShape(a, b)) {
      throw new ShapeError(`combine: shapes differ, ${formatShape(a)} and ${formatShape(b)}; use add for broadcasting`);
    }
    return inputs[0];
  },
  cpu: ({ x: [a, b], y, params: { p, q } }) => {
    for (let i = 0; i < y.length; i++) y[i] = p * a[i] + q * b[i];
  },
  gpu: gpuBinary(12),
  jvp:
    (_x, _y, { p, q }) =>
    ([da, db]) =>
      da && db ? combine(p, da, q, db) : da ? affine(da, p, 0) : db && affine(db, q, 0),
  vjp: (ct, _x, _y, { p, q }, needs) => [needs[0] ? affine(ct, p, 0) : null, needs[1] ? affine(ct, q, 0) : null],
  keeps: 'none',
  samples: [
    {
      inputs: [
        { shape: [3, 5], draw: 'normal' },
        { shape: [3, 5], draw: 'normal' },
      ],
      params: { p: 0.75, q: -1.5 },
    },
  ],
};

/** a + b, with broadcasting. */
export function add(a: TensorLike, b: TensorLike): Tensor {
  if (typeof a === 'number') return affine(b as Tensor, 1, a);
  return typeof b === 'number' ? affine(a, 1, b) : bind(addOp, [a, b], null);
}

/** a − b, with broadcasting. */
export function sub(a: TensorLike, b: TensorLike): Tensor {
  if (typeof a === 'number') return affine(b as Tensor, -1, a);
  return typeof b === 'number' ? affine(a, 1, -b) : bind(subOp, [a, b], null);
}

/** a·b, with broadcasting. */
export function mul(a: TensorLike, b: TensorLike): Tensor {
  if (typeof a === 'number') return affine(b as Tensor, a, 0);
  return typeof b === 'number' ? affine(a, b, 0) : bind(mulOp, [a, b], null);
}

/** a/b, with broadcasting. */
export function div(a: TensorLike, b: TensorLike): Tensor {
  if (typeof a === 'number') return affine(pow(b as Tensor, -1), a, 0);
  return typeof b === 'number' ? affine(a, 1 / b, 0) : bind(divOp, [a, b], null);
}

/** p·a + q·b for tensors of one shape and constants p and q. */
export const combine = (p: number, a: Tensor, q: number, b: Tensor): Tensor => bind(combineOp, [a, b], { p, q });

export const binaryOps = [addOp, subOp, mulOp, divOp, combineOp];
