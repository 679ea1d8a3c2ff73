// Elementwise functions of one tensor.

import { bind } from '../bind.ts';
import { type Constant, expectDtypes, type InputDomain, type Keeps, type Op, type Primitive } from '../op.ts';
import type { Spec, Tensor } from '../tensor.ts';
import { add, div, mul } from './binary.ts';
import { gpuUnary } from './elementwise-gpu.ts';
import { equal } from './piecewise.ts';
import { geluGrad, quickGeluGrad, sigmoidGrad, tanhGrad } from './slopes.ts';
import { erf as erf64, logistic, normalCdf, normalPdf, QUICK } from './special.ts';

/** Two constants of a unary op: factor and summand, exponent, or bounds. */
interface Pair {
  readonly p: number;
  readonly q: number;
}

/** What differs from one unary op to the next. */
interface Unary {
  readonly name: string;
  /** Case of unary.part.wgsl. */
  readonly code: number;
  readonly value: (x: number, pair: Pair) => number;
  /** f′(x)·t. */
  readonly slope: (t: Tensor, x: Tensor, y: Tensor, pair: Pair) => Tensor;
  readonly keeps: Keeps;
  readonly domain: InputDomain;
  readonly params?: readonly Pair[];
}

const NO_PAIR: Pair = { p: 0, q: 0 };
const NORMAL: InputDomain = { shape: [3, 5], draw: 'normal' };
const POSITIVE: InputDomain = { shape: [2, 7], draw: 'positive' };
const awayFrom = (...from: number[]): InputDomain => ({ ...NORMAL, gap: { from, by: 0.05 } });

const shapeRule =
  (name: string) =>
  ([x]: readonly Spec[]): Spec => {
    expectDtypes(name, [x]);
    return x;
  };

const cpuMap =
  (value: Unary['value']): Primitive<Pair>['cpu'] =>
  ({ x: [x], y, params }) => {
    for (let i = 0; i < y.length; i++) y[i] = value(x[i], params);
  };

const unary = ({ name, code, value, slope, keeps, domain, params = [NO_PAIR] }: Unary): Primitive<Pair> => ({
  name,
  shape: shapeRule(name),
  cpu: cpuMap(value),
  gpu: gpuUnary(code),
  jvp:
    ([x], y, pair) =>
    ([dx]) =>
      dx === null ? null : slope(dx, x, y, pair),
  vjp: (ct, [x], y, pair) => [slope(ct, x, y, pair)],
  keeps,
  samples: params.map((pair) => ({ inputs: [domain], params: pair })),
});

/** p·x + q. */
const affineOp = unary({
  name: 'affine',
  code: 0,
  value: (x, { p, q }) => p * x + q,
  slope: (t, _x, _y, { p }) => affine(t, p, 0),
  keeps: 'none',
  domain: NORMAL,
  params: [{ p: -1.5, q: 0.5 }],
});

const negOp = unary({ name: 'neg', code: 1, value: (x) => -x, slope: (t) => neg(t), keeps: 'none', domain: NORMAL });

const expOp = unary({
  name: 'exp',
  code: 2,
  value: Math.exp,
  slope: (t, _x, y) => mul(t, y),
  keeps: 'output',
  domain: NORMAL,
});

const logOp = unary({
  name: 'log',
  code: 3,
  value: Math.log,
  slope: (t, x) => div(t, x),
  keeps: 'inputs',
  domain: POSITIVE,
});

const log1pOp = unary({
  name: 'log1p',
  code: 4,
  value: Math.log1p,
  slope: (t, x) => div(t, affine(x, 1, 1)),
  keeps: 'inputs',
  domain: POSITIVE,
});

const expm1Op = unary({
  name: 'expm1',
  code: 5,
  value: Math.expm1,
  slope: (t, _x, y) => mul(t, affine(y, 1, 1)),
  keeps: 'output',
  domain: NORMAL,
});

const sqrtOp = unary({
  name: 'sqrt',
  code: 6,
  value: Math.sqrt,
  slope: (t, _x, y) => div(t, affine(y, 2, 0)),
  keeps: 'output',
  domain: POSITIVE,
});

/** f′ = −½·y³. */
const rsqrtOp = unary({
  name: 'rsqrt',
  code: 7,
  value: (x) => 1 / Math.sqrt(x),
  slope: (t, _x, y) => mul(t, affine(mul(square(y), y), -0.5, 0)),
  keeps: 'output',
  domain: POSITIVE,
});

const squareOp = unary({
  name: 'square',
  code: 8,
  value: (x) => x * x,
  slope: (t, x) => mul(t, affine(x, 2, 0)),
  keeps: 'inputs',
  domain: NORMAL,
});

const absOp = unary({
  name: 'abs',
  code: 9,
  value: Math.abs,
  slope: (t, x) => mul(t, sign(x)),
  keeps: 'inputs',
  domain: awayFrom(0),
});

const tanhOp = unary({
  name: 'tanh',
  code: 10,
  value: Math.tanh,
  slope: (t, _x, y) => tanhGrad(y, t),
  keeps: 'output',
  domain: NORMAL,
});

const sigmoidOp = unary({
  name: 'sigmoid',
  code: 11,
  value: logistic,
  slope: (t, _x, y) => sigmoidGrad(y, t),
  keeps: 'output',
  domain: NORMAL,
});

/** f′ = 2/√π·e^{−x²}. */
const erfOp = unary({
  name: 'erf',
  code: 12,
  value: erf64,
  slope: (t, x) => mul(t, affine(exp(neg(square(x))), 2 / Math.sqrt(Math.PI), 0)),
  keeps: 'inputs',
  domain: NORMAL,
});

/** x·Φ(x). */
const geluOp = unary({
  name: 'gelu',
  code: 13,
  value: (x) => x * normalCdf(x),
  slope: (t, x) => geluGrad(x, t),
  keeps: 'inputs',
  domain: NORMAL,
});

/** x·σ(1.702·x). */
const quickGeluOp = unary({
  name: 'quickGelu',
  code: 14,
  value: (x) => x * logistic(QUICK * x),
  slope: (t, x) => quickGeluGrad(x, t),
  keeps: 'inputs',
  domain: NORMAL,
});

const reluOp = unary({
  name: 'relu',
  code: 15,
  value: (x) => Math.max(x, 0),
  slope: (t, _x, y) => mul(t, sign(y)),
  keeps: 'output',
  domain: awayFrom(0),
});

/** x^p for a constant p; x > 0 unless p is whole. */
const powOp = unary({
  name: 'pow',
  code: 16,
  value: (x, { p }) => x ** p,
  // p = 0 and p = 1 apart: 0·x⁻¹ has no value at x = 0.
  slope: (t, x, _y, { p }) => (p === 0 || p === 1 ? affine(t, p, 0) : mul(t, affine(pow(x, p - 1), p, 0))),
  keeps: 'inputs',
  domain: POSITIVE,
  params: [
    { p: 2.5, q: 0 },
    { p: 3, q: 0 },
    { p: -1, q: 0 },
  ],
});

const clampOp = unary({
  name: 'clamp',
  code: 17,
  value: (x, { p, q }) => Math.min(Math.max(x, p), q),
  slope: (t, x, y) => mul(t, equal(x, y)),
  keeps: 'both',
  domain: awayFrom(-0.5, 0.75),
  params: [{ p: -0.5, q: 0.75 }],
});

/** gelu″ = φ(x)(2 − x²); its slope is φ(x)·x·(x² − 4). */
const geluCurvatureOp = unary({
  name: 'geluCurvature',
  code: 18,
  value: (x) => normalPdf(x) * (2 - x * x),
  slope: (t, x) => mul(mul(t, pdf(x)), mul(x, affine(square(x), 1, -4))),
  keeps: 'inputs',
  domain: NORMAL,
});

/** quickGelu″ = a·s(2 + a·x·(1 − 2σ)) with s = σ(1 − σ); its slope is a²·s·(3(1 − 2σ) + a·x·(1 − 6s)). */
const quickGeluCurvatureOp = unary({
  name: 'quickGeluCurvature',
  code: 19,
  value: (x) => {
    const s = logistic(QUICK * x);
    return QUICK * s * (1 - s) * (2 + QUICK * x * (1 - 2 * s));
  },
  slope: (t, x) => {
    const y = sigmoid(affine(x, QUICK, 0));
    const s = mul(y, affine(y, -1, 1));
    const bracket = add(affine(y, -6, 3), mul(affine(x, QUICK, 0), affine(s, -6, 1)));
    return mul(affine(t, QUICK * QUICK, 0), mul(s, bracket));
  },
  keeps: 'inputs',
  domain: NORMAL,
});

/** −1, 0 or 1. */
const signOp: Constant<Pair> = {
  name: 'sign',
  shape: shapeRule('sign'),
  cpu: cpuMap(Math.sign),
  gpu: gpuUnary(20),
  derivative: 'zero',
  samples: [{ inputs: [awayFrom(0)], params: NO_PAIR }],
};

const pdf = (x: Tensor): Tensor => affine(exp(affine(square(x), -0.5, 0)), 1 / Math.sqrt(2 * Math.PI), 0);

const apply =
  (op: Op<Pair>) =>
  (x: Tensor): Tensor =>
    bind(op, [x], NO_PAIR);

/** p·x + q for constants p and q. */
export const affine = (x: Tensor, p: number, q: number): Tensor => bind(affineOp, [x], { p, q });
/** x^p for a constant p. */
export const pow = (x: Tensor, p: number): Tensor => bind(powOp, [x], { p, q: 0 });
/** x limited to [low, high]. */
export const clamp = (x: Tensor, low: number, high: number): Tensor => bind(clampOp, [x], { p: low, q: high });
export const neg = apply(negOp);
export const exp = apply(expOp);
export const log = apply(logOp);
/** log(1 + x), accurate near 0. */
export const log1p = apply(log1pOp);
/** eˣ − 1, accurate near 0. */
export const expm1 = apply(expm1Op);
export const sqrt = apply(sqrtOp);
/** 1/√x. */
export const rsqrt = apply(rsqrtOp);
export const square = apply(squareOp);
export const abs = apply(absOp);
export const tanh = apply(tanhOp);
export const sigmoid = apply(sigmoidOp);
export const erf = apply(erfOp);
/** x·Φ(x), the exact form. */
export const gelu = apply(geluOp);
/** x·σ(1.702·x), as in OpenAI's CLIP. */
export const quickGelu = apply(quickGeluOp);
export const relu = apply(reluOp);
/** −1, 0 or 1; its derivative is zero. */
export const sign = apply(signOp);
export const geluCurvature = apply(geluCurvatureOp);
export const quickGeluCurvature = apply(quickGeluCurvatureOp);

export const unaryOps = [
  ...[affineOp, negOp, expOp, logOp, log1pOp, expm1Op, sqrtOp, rsqrtOp, squareOp, absOp, tanhOp, sigmoidOp, erfOp],
  ...[geluOp, quickGeluOp, reluOp, powOp, clampOp, geluCurvatureOp, quickGeluCurvatureOp, signOp],
];
