// Layer norm and ℓ₂ normalisation over the last axis, with their derivatives as kernels of their own.

import { ShapeError } from '../../array/errors.ts';
import { formatShape, sameShape } from '../../array/shape.ts';
import { normalize as normalizeKernel } from '../../shaders/kernels.gen.ts';
import { bind } from '../bind.ts';
import { expectDtypes, type Fused, type GpuCall, type Primitive } from '../op.ts';
import type { Tensor } from '../tensor.ts';
import { add, addTangents, mul, sub } from './binary.ts';
import { mean, sum } from './reduce.ts';
import { eachRow, gpuRows, lastOf, rowDot, rowRule } from './rows.ts';
import { affine, neg, rsqrt, square } from './unary.ts';

/** x̂ = (x − μ)·r with r = (w·Σ(x−μ)² + eps)^{−1/2}: layer norm has μ the mean and w = 1/n; ℓ₂ has μ = 0 and w = 1. */
interface Norm {
  readonly center: boolean;
  readonly eps: number;
}

const weightOf = ({ center }: Norm, n: number): number => (center ? 1 / n : 1);

/** Row statistics in float64: x̂ and r. */
function standardRow(x: Float64Array, base: number, n: number, norm: Norm): { hat: Float64Array; r: number } {
  let mu = 0;
  if (norm.center) for (let j = 0; j < n; j++) mu += x[base + j] / n;
  let q = 0;
  for (let j = 0; j < n; j++) q += (x[base + j] - mu) ** 2;
  const r = 1 / Math.sqrt(weightOf(norm, n) * q + norm.eps);
  return { hat: Float64Array.from({ length: n }, (_, j) => (x[base + j] - mu) * r), r };
}

/** D(t) = r(t − mean t − x̂·w⟨x̂,t⟩). */
function derivativeRow({ hat, r }: { hat: Float64Array; r: number }, t: Float64Array, norm: Norm): Float64Array {
  const n = hat.length;
  const shift = norm.center ? t.reduce((a, b) => a + b, 0) / n : 0;
  const dot = weightOf(norm, n) * hat.reduce((a, h, j) => a + h * t[j], 0);
  return t.map((v, j) => r * (v - shift - hat[j] * dot));
}

const gpuNormalize =
  (order: number, scaled = 0) =>
  (call: GpuCall<Norm>): void =>
    gpuRows(call, ({ rows, n, LANES, ROWS, workgroups }, view) => {
      const [x, t, u] = scaled === 1 ? [view(call.x[0]), call.x[1], call.x[2]] : call.x.map(view);
      call.device.dispatch(call.op, normalizeKernel, {
        buffers: { x, t: t ?? null, u: u ?? null, y: view(call.y) },
        params: { rows, n, weight: weightOf(call.params, n), eps: call.params.eps },
        constants: { ORDER: order, CENTER: Number(call.params.center), SCALED: scaled, LANES, ROWS },
        workgroups,
      });
    });

const LAYER: Norm = { center: true, eps: 1e-5 };
const EUCLIDEAN: Norm = { center: false, eps: 1e-12 };
const NORM_SAMPLES = (count: number): { inputs: { shape: number[]; draw: 'normal' }[]; params: Norm }[] =>
  [LAYER, EUCLIDEAN].map((params) => ({
    inputs: Array.from({ length: count }, () => ({ shape: [3, 6], draw: 'normal' as const })),
    params,
  }));

/** x̂ is the gradient of (1/w)·√(w·Σ(x−μ)² + eps), so its derivatives are symmetric forms. */
const standardizeOp: Primitive<Norm> = {
  name: 'standardize',
  shape: rowRule('standardize'),
  cpu: ({ x: [x], y, shape, params }) =>
    eachRow(x.length, lastOf(shape), (base) => y.set(standardRow(x, base, lastOf(shape), params).hat, base)),
  gpu: gpuNormalize(0),
  jvp:
    ([x], _y, norm) =>
    ([dx]) =>
      dx === null ? null : standardizeGrad(x, dx, norm),
  vjp: (ct, [x], _y, norm) => [standardizeGrad(x, ct, norm)],
  keeps: 'inputs',
  samples: NORM_SAMPLES(1),
};

const standardizeGradOp: Primitive<Norm> = {
  name: 'standardizeGrad',
  shape: rowRule('standardizeGrad'),
  cpu: ({ x: [x, t], y, shape, params }) => {
    const n = lastOf(shape);
    eachRow(x.length, n, (base) =>
      y.set(derivativeRow(standardRow(x, base, n, params), t.subarray(base, base + n), params), base),
    );
  },
  gpu: gpuNormalize(1),
  jvp:
    ([x, t], _y, norm) =>
    ([dx, dt]) =>
      addTangents(dt && standardizeGrad(x, dt, norm), dx && standardizeGrad2(x, t, dx, norm)),
  vjp: (ct, [x, t], _y, norm, needs) => [
    needs[0] ? standardizeGrad2(x, t, ct, norm) : null,
    needs[1] ? standardizeGrad(x, ct, norm) : null,
  ],
  keeps: 'inputs',
  samples: NORM_SAMPLES(2),
};

/** −r·w(⟨x̂,u⟩D(t) + ⟨x̂,t⟩D(u) + x̂⟨D(u),t⟩). */
const standardizeGrad2Op: Fused<Norm> = {
  name: 'standardizeGrad2',
  shape: rowRule('standardizeGrad2'),
  cpu: ({ x: [x, t, u], y, shape, params }) => {
    const n = lastOf(shape);
    eachRow(x.length, n, (base) => {
      const row = standardRow(x, base, n, params);
      const [tr, ur] = [t.subarray(base, base + n), u.subarray(base, base + n)];
      const [dT, dU] = [derivativeRow(row, tr, params), derivativeRow(row, ur, params)];
      const dot = (a: Float64Array, b: Float64Array): number => a.reduce((s, v, j) => s + v * b[j], 0);
      const [xt, xu, ut] = [dot(row.hat, tr), dot(row.hat, ur), dot(dU, tr)];
      for (let j = 0; j < n; j++)
        y[base + j] = -row.r * weightOf(params, n) * (xu * dT[j] + xt * dU[j] + row.hat[j] * ut);
    });
  },
  gpu: gpuNormalize(2),
  define: ([x, t, u], norm) => {
    const n = lastOf(x.shape);
    const w = weightOf(norm, n);
    const centered = norm.center ? sub(x, mean(x, -1, { keepDims: true })) : x;
    const r = rsqrt(affine(sum(square(centered), -1, { keepDims: true }), w, norm.eps));
    const hat = mul(centered, r);
    const derivative = (v: Tensor): Tensor => {
      const shifted = norm.center ? sub(v, mean(v, -1, { keepDims: true })) : v;
      return mul(r, sub(shifted, mul(hat, affine(rowDot(hat, v), w, 0))));
    };
    const [dT, dU] = [derivative(t), derivative(u)];
    const total = add(add(mul(rowDot(hat, u), dT), mul(rowDot(hat, t), dU)), mul(hat, rowDot(dU, t)));
    return neg(mul(affine(r, w, 0), total));
  },
  samples: NORM_SAMPLES(3),
};

const standardize = (x: Tensor, norm: Norm): Tensor => bind(standardizeOp, [x], norm);
const standardizeGrad = (x: Tensor, t: Tensor, norm: Norm): Tensor => bind(standardizeGradOp, [x, t], norm);
const standardizeGrad2 = (x: Tensor, t: Tensor, u: Tensor, norm: Norm): Tensor =>
  bind(standardizeGrad2Op, [x, t, u], norm);

/** γ∘x̂ + β. */
const layerNormOp: Fused<Norm> = {
  name: 'layerNorm',
  shape: ([x, gamma, beta]) => {
    const spec = rowRule('layerNorm')([x]);
    expectDtypes('layerNorm', [gamma, beta]);
    for (const v of [gamma, beta]) {
      if (!sameShape(v.shape, x.shape.slice(-1)))
        throw new ShapeError(
          `layerNorm: scale or shift ${formatShape(v.shape)} for rows of ${lastOf(x.shape)}; give [${lastOf(x.shape)}]`,
        );
    }
    return spec;
  },
  cpu: ({ x: [x, gamma, beta], y, shape, params }) => {
    const n = lastOf(shape);
    eachRow(x.length, n, (base) =>
      standardRow(x, base, n, params).hat.forEach((h, j) => (y[base + j] = h * gamma[j] + beta[j])),
    );
  },
  gpu: gpuNormalize(0, 1),
  define: ([x, gamma, beta], norm) => add(mul(standardize(x, norm), gamma), beta),
  samples: [
    {
      inputs: [
        { shape: [3, 8], draw: 'normal' },
        { shape: [8], draw: 'normal' },
        { shape: [8], draw: 'normal' },
      ],
      params: LAYER,
    },
  ],
};

/** Layer normalisation over the last axis. */
export const layerNorm = (x: Tensor, gamma: Tensor, beta: Tensor, eps = LAYER.eps): Tensor =>
  bind(layerNormOp, [x, gamma, beta], { center: true, eps });
/** x/√(‖x‖² + eps) over the last axis. */
export const l2Normalize = (x: Tensor, eps = EUCLIDEAN.eps): Tensor => standardize(x, { center: false, eps });

export const normalizeOps = [standardizeOp, standardizeGradOp, standardizeGrad2Op, layerNormOp];
