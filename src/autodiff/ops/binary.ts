// Elementwise functions of two or three tensors, with broadcasting.

import { ShapeError } from '../../array/errors.ts';
import { broadcastAxes, broadcastShapes, broadcastStrides, collapseAxes, formatShape, sameShape } from '../../array/shape.ts';
import { bind } from '../bind.ts';
import { type CpuCall, expectDtypes, type InputDomain, type Keeps, type Op, type Primitive, type Tangent } from '../op.ts';
import type { Spec, Tensor } from '../tensor.ts';
import { gpuBinary, gpuWhere } from './elementwise-gpu.ts';
import { broadcastTo } from './layout.ts';
import { sumTo } from './reduce.ts';
import { logistic, normalCdf, normalPdf } from './special.ts';
import { affine, clamp, geluCurvature, neg, pow, quickGeluCurvature } from './unary.ts';

/** A tensor, or a number that stands for a constant tensor. */
export type TensorLike = Tensor | number;

const QUICK = 1.702;
const NORMAL: InputDomain = { shape: [3, 5], draw: 'normal' };

/** The sum of tangents of which some may be zero. */
export function addTangents(...parts: readonly Tangent[]): Tangent {
  return parts.reduce((a, b) => (a === null ? b : b === null ? a : add(a, b)), null);
}

function cpuBroadcast(f: (a: number, b: number) => number): (call: CpuCall<null>) => void {
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
function walk(shape: readonly number[], [sa, sb]: readonly (readonly number[])[], visit: (i: number, a: number, b: number) => void): void {
  let i = 0;
  const step = (axis: number, p: number, q: number): void => {
    if (axis === shape.length) return visit(i++, p, q);
    for (let k = 0; k < shape[axis]; k++) step(axis + 1, p + k * sa[axis], q + k * sb[axis]);
  };
  step(0, 0, 0);
}

const broadcastSpec = (name: string) => (inputs: readonly Spec[]): Spec => {
  expectDtypes(name, inputs);
  return { shape: broadcastShapes(name, inputs[0].shape, inputs[1].shape), dtype: 'real' };
};

/** Sums a cotangent back to the shape its operand had before broadcasting. */
function unbroadcast(ct: Tensor, like: Tensor): Tensor {
  return sameShape(ct.shape, like.shape) ? ct : sumTo(ct, broadcastAxes(like.shape, ct.shape), like.shape);
}

/** A tangent as the output sees it. */
const spread = (t: Tensor, y: Tensor): Tensor => (sameShape(t.shape, y.shape) ? t : broadcastTo(t, y.shape));

const BROADCASTS: { inputs: InputDomain[]; params: null }[] = [
  { inputs: [NORMAL, NORMAL], params: null },
  { inputs: [{ ...NORMAL, shape: [4, 8] }, { ...NORMAL, shape: [8] }], params: null },
  { inputs: [{ ...NORMAL, shape: [2, 1, 3] }, { ...NORMAL, shape: [4, 1] }], params: null },
  { inputs: [{ ...NORMAL, shape: [] }, { ...NORMAL, shape: [3, 4] }], params: null },
  { inputs: [{ ...NORMAL, shape: [5, 4] }, { ...NORMAL, shape: [5, 1] }], params: null },
];
const onPairs = (second: Partial<InputDomain>): { inputs: InputDomain[]; params: null }[] =>
  BROADCASTS.map(({ inputs: [a, b] }) => ({ inputs: [a, { ...b, ...second }], params: null }));

interface BinaryRules {
  readonly jvp: Primitive<null>['jvp'];
  readonly vjp: (ct: Tensor, a: Tensor, b: Tensor, y: Tensor, needs: readonly boolean[]) => readonly Tangent[];
  readonly keeps?: Keeps;
}

/** A binary record: `value` on the CPU, case `code` of binary.part.wgsl, and rules before un-broadcasting. */
function binary(
  name: string,
  code: number,
  value: (a: number, b: number) => number,
  rules: BinaryRules,
  samples: Primitive<null>['samples'] = BROADCASTS,
): Primitive<null> {
  return {
    name,
    shape: broadcastSpec(name),
    cpu: cpuBroadcast(value),
    gpu: gpuBinary(code),
    jvp: (x, y, params) => {
      const push = rules.jvp(x, y, params);
      return (dx) => {
        const t = push(dx);
        return t && spread(t, y);
      };
    },
    vjp: (ct, x, y, _params, needs) =>
      rules.vjp(ct, x[0], x[1], y, needs).map((part, i) => (part === null || !needs[i] ? null : unbroadcast(part, x[i]))),
    keeps: rules.keeps ?? 'both',
    samples,
  };
}

const times = (t: Tangent | undefined, k: Tensor): Tangent => (t == null ? null : mul(t, k));

const addOp = binary('add', 0, (a, b) => a + b, {
  jvp: (_x, y) => ([da, db]) => (da && db ? add(da, db) : spread((da ?? db) as Tensor, y)),
  vjp: (ct) => [ct, ct],
  keeps: 'none',
});
const subOp = binary('sub', 1, (a, b) => a - b, {
  jvp: () => ([da, db]) => (da && db ? sub(da, db) : (da ?? neg(db as Tensor))),
  vjp: (ct, _a, _b, _y, needs) => [ct, needs[1] ? neg(ct) : null],
  keeps: 'none',
});
const mulOp = binary('mul', 2, (a, b) => a * b, {
  jvp: ([a, b]) => ([da, db]) => addTangents(times(da, b), times(db, a)),
  vjp: (ct, a, b, _y, needs) => [needs[0] ? mul(ct, b) : null, needs[1] ? mul(ct, a) : null],
  keeps: 'inputs',
});
/** d(a/b) = da/b − y·db/b. */
const divOp = binary('div', 3, (a, b) => a / b, {
  jvp: ([, b], y) => ([da, db]) => addTangents(da && div(da, b), db && neg(div(mul(db, y), b))),
  vjp: (ct, _a, b, y, needs) => [needs[0] ? div(ct, b) : null, needs[1] ? neg(div(mul(ct, y), b)) : null],
}, onPairs({ draw: 'positive' })); // prettier-ignore

/** Picks the tangent of whichever operand is chosen; `mask` is 1 where it is the first. */
const choose = (mask: (a: Tensor, b: Tensor) => Tensor): BinaryRules => ({
  jvp: ([a, b]) => {
    const m = mask(a, b);
    return ([da, db]) => addTangents(times(da, m), db && mul(db, affine(m, -1, 1)));
  },
  vjp: (ct, a, b) => {
    const first = mul(ct, mask(a, b));
    return [first, sub(ct, first)];
  },
  keeps: 'inputs',
});
const APART = BROADCASTS.map(({ inputs: [a, b] }) => ({
  inputs: [{ ...a, draw: 'eighths' as const }, { ...b, draw: 'between' as const }], params: null,
})); // prettier-ignore
const maximumOp = binary('maximum', 4, Math.max, choose((a, b) => greaterEqual(a, b)), APART);
const minimumOp = binary('minimum', 5, Math.min, choose((a, b) => greaterEqual(b, a)), APART);

const comparison = (name: string, code: number, value: (a: number, b: number) => number): Op<null> => ({
  name,
  shape: broadcastSpec(name),
  cpu: cpuBroadcast(value),
  gpu: gpuBinary(code),
  derivative: 'zero',
  samples: APART,
});
const greaterEqualOp = comparison('greaterEqual', 6, (a, b) => (a >= b ? 1 : 0));
const equalOp = comparison('equal', 7, (a, b) => (a === b ? 1 : 0));

/** A derivative applied to a tangent in one pass, k(x)·t: linear in t, with `curvature` giving the slope in x. */
const slopeTimes = (
  name: string,
  code: number,
  value: (x: number, t: number) => number,
  apply: (x: Tensor, t: Tensor) => Tensor,
  curvature: (x: Tensor, t: Tensor) => Tensor,
): Primitive<null> =>
  binary(name, code, value, {
    jvp: ([x, t]) => ([dx, dt]) => addTangents(dt && apply(x, dt), dx && mul(curvature(x, t), dx)),
    vjp: (ct, x, t, _y, needs) => [needs[0] ? mul(curvature(x, t), ct) : null, needs[1] ? apply(x, ct) : null],
    keeps: 'inputs',
  }, [{ inputs: [NORMAL, NORMAL], params: null }]); // prettier-ignore

/** (1 − y²)·t. */
const tanhGradOp = slopeTimes('tanhGrad', 8, (y, t) => (1 - y * y) * t, (y, t) => tanhGrad(y, t), (y, t) => affine(mul(y, t), -2, 0));
/** y(1 − y)·t. */
const sigmoidGradOp = slopeTimes('sigmoidGrad', 9, (y, t) => y * (1 - y) * t, (y, t) => sigmoidGrad(y, t), (y, t) => mul(affine(y, -2, 1), t));
/** (Φ(x) + x·φ(x))·t. */
const geluGradOp = slopeTimes(
  'geluGrad', 10, (x, t) => (normalCdf(x) + x * normalPdf(x)) * t, (x, t) => geluGrad(x, t), (x, t) => mul(geluCurvature(x), t),
); // prettier-ignore
/** (σ + a·x·σ(1 − σ))·t with σ = σ(a·x), a = 1.702. */
const quickGeluGradOp = slopeTimes(
  'quickGeluGrad', 11, (x, t) => {
    const s = logistic(QUICK * x);
    return (s + QUICK * x * s * (1 - s)) * t;
  }, (x, t) => quickGeluGrad(x, t), (x, t) => mul(quickGeluCurvature(x), t),
); // prettier-ignore

/** p·a + q·b for constants p and q, in one pass over tensors of one shape. */
const combineOp: Primitive<{ p: number; q: number }> = {
  name: 'combine',
  shape: (inputs) => {
    expectDtypes('combine', inputs);
    const [a, b] = inputs.map((x) => x.shape);
    if (!sameShape(a, b)) throw new ShapeError(`combine: shapes differ, ${formatShape(a)} and ${formatShape(b)}; use add for broadcasting`);
    return inputs[0];
  },
  cpu: ({ x: [a, b], y, params: { p, q } }) => {
    for (let i = 0; i < y.length; i++) y[i] = p * a[i] + q * b[i];
  },
  gpu: gpuBinary(12),
  jvp: (_x, _y, { p, q }) => ([da, db]) => (da && db ? combine(p, da, q, db) : da ? affine(da, p, 0) : db && affine(db, q, 0)),
  vjp: (ct, _x, _y, { p, q }, needs) => [needs[0] ? affine(ct, p, 0) : null, needs[1] ? affine(ct, q, 0) : null],
  keeps: 'none',
  samples: [{ inputs: [NORMAL, NORMAL], params: { p: 0.75, q: -1.5 } }],
};

/** mask ≠ 0 ? a : b, all of one shape. */
const whereOp: Primitive<null> = {
  name: 'where',
  shape: ([mask, a, b]) => {
    expectDtypes('where', [mask, a, b]);
    if (!sameShape(mask.shape, a.shape) || !sameShape(a.shape, b.shape)) {
      throw new ShapeError(`where: shapes differ, ${[mask, a, b].map((s) => formatShape(s.shape)).join(' ')}; broadcastTo first`);
    }
    return a;
  },
  cpu: ({ x: [mask, a, b], y }) => {
    for (let i = 0; i < y.length; i++) y[i] = mask[i] !== 0 ? a[i] : b[i];
  },
  gpu: gpuWhere,
  jvp: ([mask]) => ([, da, db]) => {
    const zero = (like: Tensor): Tensor => affine(like, 0, 0);
    if (da == null && db == null) return null;
    return bind(whereOp, [mask, da ?? zero(db as Tensor), db ?? zero(da as Tensor)], null);
  },
  vjp: (ct, [mask], _y, _params, needs) => [
    null,
    needs[1] ? bind(whereOp, [mask, ct, affine(ct, 0, 0)], null) : null,
    needs[2] ? bind(whereOp, [mask, affine(ct, 0, 0), ct], null) : null,
  ],
  samples: [{ inputs: [{ ...NORMAL, draw: 'mask' }, NORMAL, NORMAL], params: null }],
};

const apply2 = (op: Op<null>) => (a: Tensor, b: Tensor): Tensor => bind(op, [a, b], null);

export const greaterEqual = apply2(greaterEqualOp);
export const equal = apply2(equalOp);
export const tanhGrad = apply2(tanhGradOp);
export const sigmoidGrad = apply2(sigmoidGradOp);
export const geluGrad = apply2(geluGradOp);
export const quickGeluGrad = apply2(quickGeluGradOp);

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

/** The larger of a and b, with broadcasting; at ties the derivative of `a`. */
export function maximum(a: TensorLike, b: TensorLike): Tensor {
  if (typeof a === 'number') return clamp(b as Tensor, a, Infinity);
  return typeof b === 'number' ? clamp(a, b, Infinity) : bind(maximumOp, [a, b], null);
}

/** The smaller of a and b, with broadcasting; at ties the derivative of `a`. */
export function minimum(a: TensorLike, b: TensorLike): Tensor {
  if (typeof a === 'number') return clamp(b as Tensor, -Infinity, a);
  return typeof b === 'number' ? clamp(a, -Infinity, b) : bind(minimumOp, [a, b], null);
}

/** p·a + q·b for tensors of one shape and constants p and q. */
export const combine = (p: number, a: Tensor, q: number, b: Tensor): Tensor => bind(combineOp, [a, b], { p, q });

/** mask ≠ 0 ? a : b, with broadcasting; no derivative passes through the mask. */
export function where(mask: Tensor, a: Tensor, b: Tensor): Tensor {
  const shape = broadcastShapes('where', broadcastShapes('where', mask.shape, a.shape), b.shape);
  const full = [mask, a, b].map((t) => (sameShape(t.shape, shape) ? t : broadcastTo(t, shape)));
  return bind(whereOp, full, null);
}

export const binaryOps = [
  addOp, subOp, mulOp, divOp, maximumOp, minimumOp, greaterEqualOp, equalOp, tanhGradOp, sigmoidGradOp, geluGradOp,
  quickGeluGradOp, combineOp, whereOp,
]; // prettier-ignore
