// Softmax and normalisation over the last axis, with their first and second derivatives as kernels of their own.

import { ShapeError } from '../../array/errors.ts';
import { formatShape, sameShape } from '../../array/shape.ts';
import { grid, windowUnits } from '../../device/webgpu/device.ts';
import type { GpuStorage } from '../../device/webgpu/pool.ts';
import { normalize as normalizeKernel, softmax as softmaxKernel } from '../../shaders/kernels.gen.ts';
import { bind } from '../bind.ts';
import { expectDtypes, expectRank, type Fused, type GpuCall, type Primitive } from '../op.ts';
import type { Spec, Tensor } from '../tensor.ts';
import { add, addTangents, mul, sub } from './binary.ts';
import { logSumExp, mean, sum } from './reduce.ts';
import { rowLayout } from './rows-gpu.ts';
import { affine, neg, rsqrt, square } from './unary.ts';

const rowRule =
  (name: string) =>
  (inputs: readonly Spec[]): Spec => {
    expectDtypes(name, inputs);
    expectRank(name, inputs[0], 1, 'reshape a scalar first');
    if (!inputs.every((x) => sameShape(x.shape, inputs[0].shape))) {
      throw new ShapeError(`${name}: shapes differ, ${inputs.map((x) => formatShape(x.shape)).join(' ')}; give equal shapes`);
    }
    return { shape: inputs[0].shape, dtype: 'real' };
  };

/** Calls `row(base)` for every row of length n. */
function eachRow(size: number, n: number, row: (base: number, index: number) => void): void {
  for (let base = 0, i = 0; base < size; base += n, i++) row(base, i);
}

const lastOf = (shape: readonly number[]): number => shape[shape.length - 1];

/** Runs a row kernel over windows of whole rows. */
function gpuRows<P>(
  { device, shape, y }: GpuCall<P>,
  run: (layout: { rows: number; n: number; LANES: number; ROWS: number; workgroups: [number, number, number] }, view: (s: GpuStorage) => { storage: GpuStorage; offset: number; size: number }) => void,
  together = 1,
): void {
  const n = lastOf(shape);
  for (const w of device.windows(y.size, n * together * windowUnits(n * together))) {
    const rows = w.size / n;
    const { lanes, perGroup } = rowLayout(device, rows, n);
    run({ rows, n, LANES: lanes, ROWS: perGroup, workgroups: grid(rows, perGroup) }, (storage) => ({ storage, ...w }));
  }
}

// ---- softmax ------------------------------------------------------------------------------------------------------

/** `causal`: row r of each square or wide matrix sees the columns up to its own, aligned at the end. */
interface SoftmaxParams {
  readonly causal: boolean;
}

export const gpuSoftmax =
  (mode: number) =>
  (call: GpuCall<{ readonly causal: boolean } | null>): void => {
    const causal = call.params?.causal === true ? call.shape[call.shape.length - 2] : 0;
    gpuRows(call, ({ rows, n, LANES, ROWS, workgroups }, view) => {
      const [a, b, c] = call.x.map(view);
      call.device.dispatch(call.op, softmaxKernel, {
        buffers: { a, b: b ?? null, c: c ?? null, y: view(call.y) },
        params: { rows, n, causal },
        constants: { MODE: mode, LANES, ROWS },
        workgroups,
      });
    }, Math.max(1, causal)); // prettier-ignore
  };

const softmaxOp: Primitive<SoftmaxParams> = {
  name: 'softmax',
  shape: ([x], { causal }) => {
    if (causal) expectRank('softmax', x, 2, 'a causal mask needs rows and columns');
    return rowRule('softmax')([x]);
  },
  cpu: ({ x: [x], y, shape, params: { causal } }) => {
    const n = lastOf(shape);
    const queries = causal ? shape[shape.length - 2] : 0;
    eachRow(x.length, n, (base, row) => {
      const end = causal ? (row % queries) + 1 + n - queries : n;
      let peak = -Infinity;
      for (let j = 0; j < end; j++) peak = Math.max(peak, x[base + j]);
      let total = 0;
      for (let j = 0; j < end; j++) total += y[base + j] = Math.exp(x[base + j] - peak);
      for (let j = 0; j < end; j++) y[base + j] /= total;
    });
  },
  gpu: gpuSoftmax(0),
  jvp: (_x, y) => ([dx]) => (dx === null ? null : softmaxGrad(y, dx)),
  vjp: (ct, _x, y) => [softmaxGrad(y, ct)],
  keeps: 'output',
  samples: [
    { inputs: [{ shape: [3, 5], draw: 'normal' }], params: { causal: false } },
    { inputs: [{ shape: [2, 4, 4], draw: 'normal' }], params: { causal: true } },
    { inputs: [{ shape: [2, 300], draw: 'normal' }], params: { causal: false } },
  ],
};

const THREE = (count: number): { inputs: { shape: number[]; draw: 'normal' }[]; params: null }[] =>
  [[3, 5], [2, 300]].map((shape) => ({ inputs: Array.from({ length: count }, () => ({ shape, draw: 'normal' as const })), params: null }));

/** p∘(t − ⟨p,t⟩): the Jacobian of softmax at probabilities p, symmetric in t and its cotangent. */
const softmaxGradOp: Primitive<null> = {
  name: 'softmaxGrad',
  shape: rowRule('softmaxGrad'),
  cpu: ({ x: [p, t], y, shape }) =>
    eachRow(p.length, lastOf(shape), (base) => {
      let dot = 0;
      for (let j = base; j < base + lastOf(shape); j++) dot += p[j] * t[j];
      for (let j = base; j < base + lastOf(shape); j++) y[j] = p[j] * (t[j] - dot);
    }),
  gpu: gpuSoftmax(2),
  jvp: ([p, t]) => ([dp, dt]) => addTangents(dt && softmaxGrad(p, dt), dp && softmaxGrad2(p, t, dp)),
  vjp: (ct, [p, t], _y, _params, needs) => [
    // ⟨ct, dp∘(t − ⟨p,t⟩) − p⟨dp,t⟩⟩ read as a form in dp.
    needs[0] ? sub(mul(ct, sub(t, rowDot(p, t))), mul(t, rowDot(p, ct))) : null,
    needs[1] ? softmaxGrad(p, ct) : null,
  ],
  keeps: 'inputs',
  samples: THREE(2),
};

/** d∘(t − ⟨p,t⟩) − p∘⟨d,t⟩: the derivative of softmaxGrad in p along d. */
const softmaxGrad2Op: Fused<null> = {
  name: 'softmaxGrad2',
  shape: rowRule('softmaxGrad2'),
  cpu: ({ x: [p, t, d], y, shape }) =>
    eachRow(p.length, lastOf(shape), (base) => {
      let [pt, dt] = [0, 0];
      for (let j = base; j < base + lastOf(shape); j++) {
        pt += p[j] * t[j];
        dt += d[j] * t[j];
      }
      for (let j = base; j < base + lastOf(shape); j++) y[j] = d[j] * (t[j] - pt) - p[j] * dt;
    }),
  gpu: gpuSoftmax(3),
  define: ([p, t, d]) => sub(mul(d, sub(t, rowDot(p, t))), mul(p, rowDot(d, t))),
  samples: THREE(3),
};

const logSoftmaxOp: Fused<null> = {
  name: 'logSoftmax',
  shape: rowRule('logSoftmax'),
  cpu: ({ x: [x], y, shape }) =>
    eachRow(x.length, lastOf(shape), (base) => {
      const row = x.subarray(base, base + lastOf(shape));
      const peak = row.reduce((m, v) => Math.max(m, v), -Infinity);
      const shift = peak + Math.log(row.reduce((n, v) => n + Math.exp(v - peak), 0));
      for (let j = 0; j < row.length; j++) y[base + j] = row[j] - shift;
    }),
  gpu: gpuSoftmax(1),
  define: ([x]) => sub(x, logSumExp(x, -1, { keepDims: true })),
  samples: THREE(1),
};

const rowDot = (a: Tensor, b: Tensor): Tensor => sum(mul(a, b), -1, { keepDims: true });
const softmaxGrad = (p: Tensor, t: Tensor): Tensor => bind(softmaxGradOp, [p, t], null);
const softmaxGrad2 = (p: Tensor, t: Tensor, d: Tensor): Tensor => bind(softmaxGrad2Op, [p, t, d], null);

/** Softmax over the last axis. */
export const softmax = (x: Tensor, { causal = false } = {}): Tensor => bind(softmaxOp, [x], { causal });
/** Logarithm of the softmax over the last axis. */
export const logSoftmax = (x: Tensor): Tensor => bind(logSoftmaxOp, [x], null);

// ---- normalisation ------------------------------------------------------------------------------------------------

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
  [LAYER, EUCLIDEAN].map((params) => ({ inputs: Array.from({ length: count }, () => ({ shape: [3, 6], draw: 'normal' as const })), params }));

/** x̂ is the gradient of (1/w)·√(w·Σ(x−μ)² + eps), so its derivatives are symmetric forms. */
const standardizeOp: Primitive<Norm> = {
  name: 'standardize',
  shape: rowRule('standardize'),
  cpu: ({ x: [x], y, shape, params }) => eachRow(x.length, lastOf(shape), (base) => y.set(standardRow(x, base, lastOf(shape), params).hat, base)),
  gpu: gpuNormalize(0),
  jvp: ([x], _y, norm) => ([dx]) => (dx === null ? null : standardizeGrad(x, dx, norm)),
  vjp: (ct, [x], _y, norm) => [standardizeGrad(x, ct, norm)],
  keeps: 'inputs',
  samples: NORM_SAMPLES(1),
};

const standardizeGradOp: Primitive<Norm> = {
  name: 'standardizeGrad',
  shape: rowRule('standardizeGrad'),
  cpu: ({ x: [x, t], y, shape, params }) => {
    const n = lastOf(shape);
    eachRow(x.length, n, (base) => y.set(derivativeRow(standardRow(x, base, n, params), t.subarray(base, base + n), params), base));
  },
  gpu: gpuNormalize(1),
  jvp: ([x, t], _y, norm) => ([dx, dt]) => addTangents(dt && standardizeGrad(x, dt, norm), dx && standardizeGrad2(x, t, dx, norm)),
  vjp: (ct, [x, t], _y, norm, needs) => [needs[0] ? standardizeGrad2(x, t, ct, norm) : null, needs[1] ? standardizeGrad(x, ct, norm) : null],
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
      for (let j = 0; j < n; j++) y[base + j] = -row.r * weightOf(params, n) * (xu * dT[j] + xt * dU[j] + row.hat[j] * ut);
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
const standardizeGrad2 = (x: Tensor, t: Tensor, u: Tensor, norm: Norm): Tensor => bind(standardizeGrad2Op, [x, t, u], norm);

/** γ∘x̂ + β. */
const layerNormOp: Fused<Norm> = {
  name: 'layerNorm',
  shape: ([x, gamma, beta]) => {
    const spec = rowRule('layerNorm')([x]);
    expectDtypes('layerNorm', [gamma, beta]);
    for (const v of [gamma, beta]) {
      if (!sameShape(v.shape, x.shape.slice(-1))) throw new ShapeError(`layerNorm: scale or shift ${formatShape(v.shape)} for rows of ${lastOf(x.shape)}; give [${lastOf(x.shape)}]`);
    }
    return spec;
  },
  cpu: ({ x: [x, gamma, beta], y, shape, params }) => {
    const n = lastOf(shape);
    eachRow(x.length, n, (base) => standardRow(x, base, n, params).hat.forEach((h, j) => (y[base + j] = h * gamma[j] + beta[j])));
  },
  gpu: gpuNormalize(0, 1),
  define: ([x, gamma, beta], norm) => add(mul(standardize(x, norm), gamma), beta),
  samples: [{ inputs: [{ shape: [3, 8], draw: 'normal' }, { shape: [8], draw: 'normal' }, { shape: [8], draw: 'normal' }], params: LAYER }],
};

/** Layer normalisation over the last axis. */
export const layerNorm = (x: Tensor, gamma: Tensor, beta: Tensor, eps = LAYER.eps): Tensor => bind(layerNormOp, [x, gamma, beta], { center: true, eps });
/** x/√(‖x‖² + eps) over the last axis. */
export const l2Normalize = (x: Tensor, eps = EUCLIDEAN.eps): Tensor => standardize(x, { center: false, eps });

export const rowOps = [softmaxOp, softmaxGradOp, softmaxGrad2Op, logSoftmaxOp, standardizeOp, standardizeGradOp, standardizeGrad2Op, layerNormOp];
