// Elementwise functions of one tensor.

import { bind } from '../bind.ts';
import { expectDtypes, type InputDomain, type Keeps, type Op, type Primitive } from '../op.ts';
import type { Tensor } from '../tensor.ts';
import { add, div, equal, geluGrad, mul, quickGeluGrad, sigmoidGrad, tanhGrad } from './binary.ts';
import { gpuUnary } from './elementwise-gpu.ts';
import { erf as erf64, logistic, normalCdf, normalPdf } from './special.ts';

/** Two constants of a unary op: factor and summand, exponent, or bounds. */
interface Pair {
  readonly p: number;
  readonly q: number;
}

const QUICK = 1.702;
const NO_PAIR: Pair = { p: 0, q: 0 };
const NORMAL: InputDomain = { shape: [3, 5], draw: 'normal' };
const POSITIVE: InputDomain = { shape: [2, 7], draw: 'positive' };
const awayFrom = (...from: number[]): InputDomain => ({ ...NORMAL, gap: { from, by: 0.05 } });

type Scale = (t: Tensor) => Tensor;

/** A unary record: `value` on the CPU, case `code` of unary.part.wgsl, and the derivative as a scaling of tangents. */
function unary(
  name: string,
  code: number,
  value: (x: number, pair: Pair) => number,
  slope: (x: Tensor, y: Tensor, pair: Pair) => Scale,
  keeps: Keeps,
  samples: readonly { inputs: readonly InputDomain[]; params: Pair }[],
): Primitive<Pair> {
  return {
    name,
    shape: ([x]) => {
      expectDtypes(name, [x]);
      return x;
    },
    cpu: ({ x: [x], y, params }) => {
      for (let i = 0; i < y.length; i++) y[i] = value(x[i], params);
    },
    gpu: gpuUnary(code),
    jvp: ([x], y, params) => {
      const scale = slope(x, y, params);
      return ([dx]) => (dx === null ? null : scale(dx));
    },
    vjp: (ct, [x], y, params) => [slope(x, y, params)(ct)],
    keeps,
    samples,
  };
}

const on = (domain: InputDomain, params: Pair = NO_PAIR): { inputs: InputDomain[]; params: Pair } => ({ inputs: [domain], params });

/** y = p·x + q. */
const affineOp = unary('affine', 0, (x, { p, q }) => p * x + q, (_x, _y, { p }) => (t) => affine(t, p, 0), 'none', [
  on(NORMAL, { p: -1.5, q: 0.5 }),
]);
const negOp = unary('neg', 1, (x) => -x, () => neg, 'none', [on(NORMAL)]);
const expOp = unary('exp', 2, Math.exp, (_x, y) => (t) => mul(t, y), 'output', [on(NORMAL)]);
const logOp = unary('log', 3, Math.log, (x) => (t) => div(t, x), 'inputs', [on(POSITIVE)]);
const log1pOp = unary('log1p', 4, Math.log1p, (x) => (t) => div(t, affine(x, 1, 1)), 'inputs', [on(POSITIVE)]);
const expm1Op = unary('expm1', 5, Math.expm1, (_x, y) => (t) => mul(t, affine(y, 1, 1)), 'output', [on(NORMAL)]);
const sqrtOp = unary('sqrt', 6, Math.sqrt, (_x, y) => (t) => div(t, affine(y, 2, 0)), 'output', [on(POSITIVE)]);
/** d x^{−1/2} = −½ y³ dx. */
const rsqrtOp = unary('rsqrt', 7, (x) => 1 / Math.sqrt(x), (_x, y) => (t) => mul(t, affine(mul(square(y), y), -0.5, 0)), 'output', [
  on(POSITIVE),
]);
const squareOp = unary('square', 8, (x) => x * x, (x) => (t) => mul(t, affine(x, 2, 0)), 'inputs', [on(NORMAL)]);
const absOp = unary('abs', 9, Math.abs, (x) => (t) => mul(t, sign(x)), 'inputs', [on(awayFrom(0))]);
const tanhOp = unary('tanh', 10, Math.tanh, (_x, y) => (t) => tanhGrad(y, t), 'output', [on(NORMAL)]);
const sigmoidOp = unary('sigmoid', 11, logistic, (_x, y) => (t) => sigmoidGrad(y, t), 'output', [on(NORMAL)]);
/** d erf x = 2/√π · e^{−x²} dx. */
const erfOp = unary(
  'erf', 12, erf64, (x) => (t) => mul(t, affine(exp(neg(square(x))), 2 / Math.sqrt(Math.PI), 0)), 'inputs', [on(NORMAL)],
); // prettier-ignore
const geluOp = unary('gelu', 13, (x) => x * normalCdf(x), (x) => (t) => geluGrad(x, t), 'inputs', [on(NORMAL)]);
/** x·σ(1.702 x). */
const quickGeluOp = unary('quickGelu', 14, (x) => x * logistic(QUICK * x), (x) => (t) => quickGeluGrad(x, t), 'inputs', [
  on(NORMAL),
]);
const reluOp = unary('relu', 15, (x) => Math.max(x, 0), (_x, y) => (t) => mul(t, sign(y)), 'output', [on(awayFrom(0))]);
/** x^p for a constant p; x > 0 unless p is whole. */
const powOp = unary(
  'pow', 16, (x, { p }) => x ** p, (x, _y, { p }) => (t) => mul(t, affine(pow(x, p - 1), p, 0)), 'inputs',
  [on(POSITIVE, { p: 2.5, q: 0 }), on(awayFrom(0), { p: 3, q: 0 }), on(POSITIVE, { p: -1, q: 0 })],
); // prettier-ignore
const clampOp = unary(
  'clamp', 17, (x, { p, q }) => Math.min(Math.max(x, p), q), (x, y) => (t) => mul(t, equal(x, y)), 'both',
  [on(awayFrom(-0.5, 0.75), { p: -0.5, q: 0.75 })],
); // prettier-ignore
/** gelu″ = φ(x)(2 − x²); its slope is φ(x)·x·(x² − 4). */
const geluCurvatureOp = unary(
  'geluCurvature', 18, (x) => normalPdf(x) * (2 - x * x),
  (x) => (t) => mul(mul(t, pdf(x)), mul(x, affine(square(x), 1, -4))), 'inputs', [on(NORMAL)],
); // prettier-ignore
/** quickGelu″ = a·s(2 + a·x·(1 − 2σ)) with s = σ(1 − σ); its slope is a²·s·(3(1 − 2σ) + a·x·(1 − 6s)). */
const quickGeluCurvatureOp = unary(
  'quickGeluCurvature', 19, (x) => {
    const s = logistic(QUICK * x);
    return QUICK * s * (1 - s) * (2 + QUICK * x * (1 - 2 * s));
  },
  (x) => (t) => {
    const y = sigmoid(affine(x, QUICK, 0));
    const s = mul(y, affine(y, -1, 1));
    const bracket = add(affine(y, -6, 3), mul(affine(x, QUICK, 0), affine(s, -6, 1)));
    return mul(affine(t, QUICK * QUICK, 0), mul(s, bracket));
  }, 'inputs', [on(NORMAL)],
); // prettier-ignore

const pdf = (x: Tensor): Tensor => affine(exp(affine(square(x), -0.5, 0)), 1 / Math.sqrt(2 * Math.PI), 0);

const signBase = unary('sign', 20, Math.sign, () => (t) => t, 'none', [on(awayFrom(0))]);
/** −1, 0 or 1; its derivative is zero. */
const signOp: Op<Pair> = {
  name: 'sign',
  shape: signBase.shape,
  cpu: signBase.cpu,
  gpu: signBase.gpu,
  samples: signBase.samples,
  derivative: 'zero',
};

const apply1 = (op: Op<Pair>) => (x: Tensor): Tensor => bind(op, [x], NO_PAIR);

/** p·x + q for constants p and q. */
export const affine = (x: Tensor, p: number, q: number): Tensor => bind(affineOp, [x], { p, q });
/** x^p for a constant p. */
export const pow = (x: Tensor, p: number): Tensor => bind(powOp, [x], { p, q: 0 });
/** x limited to [low, high]. */
export const clamp = (x: Tensor, low: number, high: number): Tensor => bind(clampOp, [x], { p: low, q: high });
export const neg = apply1(negOp);
export const exp = apply1(expOp);
export const log = apply1(logOp);
export const log1p = apply1(log1pOp);
export const expm1 = apply1(expm1Op);
export const sqrt = apply1(sqrtOp);
export const rsqrt = apply1(rsqrtOp);
export const square = apply1(squareOp);
export const abs = apply1(absOp);
export const tanh = apply1(tanhOp);
export const sigmoid = apply1(sigmoidOp);
export const erf = apply1(erfOp);
export const gelu = apply1(geluOp);
export const quickGelu = apply1(quickGeluOp);
export const relu = apply1(reluOp);
export const sign = apply1(signOp);
export const geluCurvature = apply1(geluCurvatureOp);
export const quickGeluCurvature = apply1(quickGeluCurvatureOp);

export const unaryOps = [
  affineOp, negOp, expOp, logOp, log1pOp, expm1Op, sqrtOp, rsqrtOp, squareOp, absOp, tanhOp, sigmoidOp, erfOp, geluOp,
  quickGeluOp, reluOp, powOp, clampOp, geluCurvatureOp, quickGeluCurvatureOp, signOp,
]; // prettier-ignore
