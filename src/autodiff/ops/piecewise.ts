// Comparisons and choices: maximum, minimum, where.

import { ShapeError } from '../../array/errors.ts';
import { broadcastShapes, formatShape, sameShape } from '../../array/shape.ts';
import { bind } from '../bind.ts';
import { type Constant, expectDtypes, type Primitive, type Sample } from '../op.ts';
import type { Tensor } from '../tensor.ts';
import { addTangents, mul, sub, type TensorLike } from './binary.ts';
import { applyBinary, type Binary, binary, broadcastRule, broadcastSamples, cpuBroadcast } from './broadcast.ts';
import { gpuBinary, gpuWhere } from './elementwise-gpu.ts';
import { broadcastTo } from './layout.ts';
import { affine, clamp } from './unary.ts';

/** Operands that never tie. */
const apart = (): Sample<null>[] => broadcastSamples({ draw: 'eighths' }, { draw: 'between' });

/** Operands that tie about half of the time. */
const tied = (): Sample<null>[] => broadcastSamples({ draw: 'mask' }, { draw: 'mask' });

function comparison(name: string, code: number, value: (a: number, b: number) => number): Constant<null> {
  return {
    name,
    shape: broadcastRule(name),
    cpu: cpuBroadcast(value),
    gpu: gpuBinary(code),
    derivative: 'zero',
    samples: [...apart(), ...tied()],
  };
}

const greaterEqualOp = comparison('greaterEqual', 6, (a, b) => (a >= b ? 1 : 0));
const equalOp = comparison('equal', 7, (a, b) => (a === b ? 1 : 0));

/** An op whose value is one of its operands; `first` is 1 where it is `a`. */
function choice(op: Pick<Binary, 'name' | 'code' | 'value'>, first: (a: Tensor, b: Tensor) => Tensor): Primitive<null> {
  return binary({
    ...op,
    jvp: ([a, b]) => {
      const m = first(a, b);
      return ([da, db]) => addTangents(da && mul(da, m), db && mul(db, affine(m, -1, 1)));
    },
    vjp: (ct, [a, b]) => {
      const part = mul(ct, first(a, b));
      return [part, sub(ct, part)];
    },
    keeps: 'inputs',
    samples: apart(),
  });
}

const maximumOp = choice({ name: 'maximum', code: 4, value: Math.max }, (a, b) => greaterEqual(a, b));
const minimumOp = choice({ name: 'minimum', code: 5, value: Math.min }, (a, b) => greaterEqual(b, a));

/** mask ≠ 0 ? a : b, all of one shape. */
const whereOp: Primitive<null> = {
  name: 'where',
  shape: ([mask, a, b]) => {
    expectDtypes('where', [mask, a, b]);
    if (!sameShape(mask.shape, a.shape) || !sameShape(a.shape, b.shape)) {
      const shapes = [mask, a, b].map((s) => formatShape(s.shape)).join(' ');
      throw new ShapeError(`where: shapes differ, ${shapes}; broadcastTo first`);
    }
    return a;
  },
  cpu: ({ x: [mask, a, b], y }) => {
    for (let i = 0; i < y.length; i++) y[i] = mask[i] !== 0 ? a[i] : b[i];
  },
  gpu: gpuWhere,
  jvp:
    ([mask]) =>
    ([, da, db]) => {
      const like = da ?? db;
      return like && bind(whereOp, [mask, da ?? affine(like, 0, 0), db ?? affine(like, 0, 0)], null);
    },
  vjp: (ct, [mask], _y, _params, needs) => [
    null,
    needs[1] ? bind(whereOp, [mask, ct, affine(ct, 0, 0)], null) : null,
    needs[2] ? bind(whereOp, [mask, affine(ct, 0, 0), ct], null) : null,
  ],
  keeps: 'inputs',
  samples: [
    {
      inputs: [
        { shape: [3, 5], draw: 'mask' },
        { shape: [3, 5], draw: 'normal' },
        { shape: [3, 5], draw: 'normal' },
      ],
      params: null,
    },
  ],
};

/** 1 where a ≥ b, else 0. */
export const greaterEqual = applyBinary(greaterEqualOp);
/** 1 where a = b, else 0. */
export const equal = applyBinary(equalOp);

/** The larger of a and b, with broadcasting; at ties the derivative of `a`, or of the tensor if one is a number. */
export function maximum(a: TensorLike, b: TensorLike): Tensor {
  if (typeof a === 'number') return clamp(b as Tensor, a, Infinity);
  return typeof b === 'number' ? clamp(a, b, Infinity) : bind(maximumOp, [a, b], null);
}

/** The smaller of a and b, with broadcasting; at ties the derivative of `a`, or of the tensor if one is a number. */
export function minimum(a: TensorLike, b: TensorLike): Tensor {
  if (typeof a === 'number') return clamp(b as Tensor, -Infinity, a);
  return typeof b === 'number' ? clamp(a, -Infinity, b) : bind(minimumOp, [a, b], null);
}

/** mask ≠ 0 ? a : b, with broadcasting; no derivative passes through the mask. */
export function where(mask: Tensor, a: Tensor, b: Tensor): Tensor {
  const shape = broadcastShapes('where', broadcastShapes('where', mask.shape, a.shape), b.shape);
  const full = [mask, a, b].map((t) => (sameShape(t.shape, shape) ? t : broadcastTo(t, shape)));
  return bind(whereOp, full, null);
}

export const piecewiseOps = [greaterEqualOp, equalOp, maximumOp, minimumOp, whereOp];
