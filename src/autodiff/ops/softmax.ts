// Softmax over the last axis, with its first and second derivatives as kernels of their own.

import { softmax as softmaxKernel } from '../../shaders/kernels.gen.ts';
import { bind } from '../bind.ts';
import { expectRank, type Fused, type GpuCall, type Primitive } from '../op.ts';
import type { Tensor } from '../tensor.ts';
import { addTangents, mul, sub } from './binary.ts';
import { logSumExp } from './reduce.ts';
import { eachRow, gpuRows, lastOf, rowDot, rowRule } from './rows.ts';

/** `causal`: row r of each square or wide matrix sees the columns up to its own, aligned at the end. */
interface SoftmaxParams {
  readonly causal: boolean;
}

export const gpuSoftmax =
  (mode: number) =>
  (call: GpuCall<{ readonly causal: boolean } | null>): void => {
    const causal = call.params?.causal === true ? call.shape[call.shape.length - 2] : 0;
    gpuRows(
      call,
      ({ rows, n, LANES, ROWS, workgroups }, view) => {
        const [a, b, c] = call.x.map(view);
        call.device.dispatch(call.op, softmaxKernel, {
          buffers: { a, b: b ?? null, c: c ?? null, y: view(call.y) },
          params: { rows, n, causal },
          constants: { MODE: mode, LANES, ROWS },
          workgroups,
        });
      },
      Math.max(1, causal),
    );
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
  jvp:
    (_x, y) =>
    ([dx]) =>
      dx === null ? null : softmaxGrad(y, dx),
  vjp: (ct, _x, y) => [softmaxGrad(y, ct)],
  keeps: 'output',
  samples: [
    { inputs: [{ shape: [3, 5], draw: 'normal' }], params: { causal: false } },
    { inputs: [{ shape: [2, 4, 4], draw: 'normal' }], params: { causal: true } },
    { inputs: [{ shape: [2, 3, 5], draw: 'normal' }], params: { causal: true } },
    { inputs: [{ shape: [2, 300], draw: 'normal' }], params: { causal: false } },
  ],
};

const THREE = (count: number): { inputs: { shape: number[]; draw: 'normal' }[]; params: null }[] =>
  [
    [3, 5],
    [2, 300],
  ].map((shape) => ({
    inputs: Array.from({ length: count }, () => ({ shape, draw: 'normal' as const })),
    params: null,
  }));

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
  jvp:
    ([p, t]) =>
    ([dp, dt]) =>
      addTangents(dt && softmaxGrad(p, dt), dp && softmaxGrad2(p, t, dp)),
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

const softmaxGrad = (p: Tensor, t: Tensor): Tensor => bind(softmaxGradOp, [p, t], null);
const softmaxGrad2 = (p: Tensor, t: Tensor, d: Tensor): Tensor => bind(softmaxGrad2Op, [p, t, d], null);

/** Softmax over the last axis. */
export const softmax = (x: Tensor, { causal = false } = {}): Tensor => bind(softmaxOp, [x], { causal });
/** Logarithm of the softmax over the last axis. */
export const logSoftmax = (x: Tensor): Tensor => bind(logSoftmaxOp, [x], null);

export const softmaxOps = [softmaxOp, softmaxGradOp, softmaxGrad2Op, logSoftmaxOp];
