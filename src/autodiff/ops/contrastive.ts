// The contrastive loss on a similarity matrix, with its gradient and Hessian product in closed form.

import { ShapeError } from '../../array/errors.ts';
import { formatShape } from '../../array/shape.ts';
import { grid } from '../../device/webgpu/device.ts';
import { contrastive as contrastiveKernel, contrastiveStats } from '../../shaders/kernels.gen.ts';
import { bind } from '../bind.ts';
import { expectDtypes, type Fused, type GpuCall, type InputDomain, type Primitive } from '../op.ts';
import type { Spec, Tensor } from '../tensor.ts';
import { add, mul, sub } from './binary.ts';
import { permute, reshape } from './layout.ts';
import { sum } from './reduce.ts';
import { softmax } from './softmax.ts';

const N = (...shape: number[]): InputDomain => ({ shape, draw: 'normal' });

function squareRule(op: string, inputs: readonly Spec[]): Spec {
  expectDtypes(op, inputs);
  const [m, n] = inputs[0].shape.slice(-2);
  if (inputs[0].shape.length < 2 || m !== n || n === 0)
    throw new ShapeError(`${op}: similarities ${formatShape(inputs[0].shape)}; give square matrices (…, B, B)`);
  return inputs[0];
}

/** Row and column softmax of one B×B block, in float64. */
function cpuSoftmaxes(s: Float64Array, n: number): { p: Float64Array; c: Float64Array; lse: Float64Array } {
  const [p, c, lse] = [new Float64Array(n * n), new Float64Array(n * n), new Float64Array(2 * n)];
  for (const [side, out] of [p, c].entries()) {
    const [step, stride] = side === 0 ? [n, 1] : [1, n];
    for (let k = 0; k < n; k++) {
      const [first, end] = [k * step, k * step + n * stride];
      let peak = -Infinity;
      for (let i = first; i < end; i += stride) if (!(s[i] <= peak)) peak = s[i];
      let total = 0;
      for (let i = first; i < end; i += stride) total += out[i] = Math.exp(s[i] - peak);
      lse[side * n + k] = peak + Math.log(total);
      for (let i = first; i < end; i += stride) out[i] /= total;
    }
  }
  return { p, c, lse };
}

function eachBlock(s: Float64Array, n: number, run: (block: Float64Array, first: number) => void): void {
  for (let first = 0; first < s.length; first += n * n) run(s.subarray(first, first + n * n), first);
}

const gpuContrastive =
  (mode: 0 | 1 | 2) =>
  ({ op, device, x, y, shapes }: GpuCall<null>): void => {
    const n = shapes[0][shapes[0].length - 1];
    const batches = x[0].size / (n * n);
    const [s, t] = x;
    const params = { batches, n };
    const lse = device.alloc(2 * n * batches, 'real', op);
    const dots = mode === 2 ? device.alloc(2 * n * batches, 'real', op) : null;
    const workgroups = grid(2 * n * batches, 8);
    device.dispatch(op, contrastiveStats, {
      buffers: { s, t: null, lse: null, stats: lse },
      params,
      constants: { MODE: 0 },
      workgroups,
    });
    if (dots !== null) {
      device.dispatch(op, contrastiveStats, {
        buffers: { s, t, lse, stats: dots },
        params,
        constants: { MODE: 1 },
        workgroups,
      });
    }
    device.dispatch(op, contrastiveKernel, {
      buffers: { s, t: t ?? null, lse, dots, y },
      params,
      constants: { MODE: mode },
      workgroups: grid(y.size, 64),
    });
    device.free(lse);
    if (dots !== null) device.free(dots);
  };

/** L = Σ_k [LSE_j S_kj − S_kk] + [LSE_j S_jk − S_kk], per matrix of the batch. */
const contrastiveOp: Primitive<null> = {
  name: 'contrastive',
  shape: (inputs) => ({ shape: squareRule('contrastive', inputs).shape.slice(0, -2), dtype: 'real' }),
  cpu: ({ x: [s], y, shapes: [shape] }) => {
    const n = shape[shape.length - 1];
    eachBlock(s, n, (block, first) => {
      const { lse } = cpuSoftmaxes(block, n);
      let total = 0;
      for (let k = 0; k < n; k++) total += lse[k] + lse[n + k] - 2 * block[k * n + k];
      y[first / (n * n)] = total;
    });
  },
  gpu: gpuContrastive(0),
  jvp: ([s]) => {
    const g = contrastiveGrad(s);
    return ([ds]) => (ds === null ? null : sum(mul(g, ds), [-2, -1]));
  },
  vjp: (ct, [s]) => [mul(contrastiveGrad(s), reshape(ct, [...ct.shape, 1, 1]))],
  keeps: 'inputs',
  samples: [
    { inputs: [N(5, 5)], params: null },
    { inputs: [N(3, 4, 4)], params: null },
  ],
};

/** G = p + c − 2I. */
const contrastiveGradOp: Primitive<null> = {
  name: 'contrastiveGrad',
  shape: (inputs) => squareRule('contrastiveGrad', inputs),
  cpu: ({ x: [s], y, shapes: [shape] }) => {
    const n = shape[shape.length - 1];
    eachBlock(s, n, (block, first) => {
      const { p, c } = cpuSoftmaxes(block, n);
      for (let i = 0; i < n * n; i++) y[first + i] = p[i] + c[i] - (i % (n + 1) === 0 ? 2 : 0);
    });
  },
  gpu: gpuContrastive(1),
  jvp:
    ([s]) =>
    ([ds]) =>
      ds === null ? null : contrastiveHvp(s, ds),
  vjp: (ct, [s]) => [contrastiveHvp(s, ct)],
  keeps: 'inputs',
  samples: [
    { inputs: [N(4, 4)], params: null },
    { inputs: [N(2, 3, 3)], params: null },
  ],
};

/** H·t = p∘(t − ⟨p,t⟩_row) + c∘(t − ⟨c,t⟩_col); positive semi-definite and symmetric in t. */
const contrastiveHvpOp: Fused<null> = {
  name: 'contrastiveHvp',
  shape: (inputs) => squareRule('contrastiveHvp', inputs),
  cpu: ({ x: [s, t], y, shapes: [shape] }) => {
    const n = shape[shape.length - 1];
    eachBlock(s, n, (block, first) => {
      const { p, c } = cpuSoftmaxes(block, n);
      const [rows, columns] = [new Float64Array(n), new Float64Array(n)];
      for (let k = 0, i = 0; k < n; k++)
        for (let j = 0; j < n; j++, i++) {
          rows[k] += p[i] * t[first + i];
          columns[j] += c[i] * t[first + i];
        }
      for (let k = 0, i = 0; k < n; k++)
        for (let j = 0; j < n; j++, i++)
          y[first + i] = p[i] * (t[first + i] - rows[k]) + c[i] * (t[first + i] - columns[j]);
    });
  },
  gpu: gpuContrastive(2),
  define: ([s, t]) => add(softmaxForm(s, t), flip(softmaxForm(flip(s), flip(t)))),
  samples: [
    { inputs: [N(4, 4), N(4, 4)], params: null },
    { inputs: [N(2, 3, 3), N(2, 3, 3)], params: null },
  ],
};

const flip = (x: Tensor): Tensor =>
  permute(x, [...x.shape.keys()].with(-1, x.shape.length - 2).with(-2, x.shape.length - 1));

/** p∘(t − ⟨p,t⟩) with p the softmax of the rows of s. */
function softmaxForm(s: Tensor, t: Tensor): Tensor {
  const p = softmax(s);
  return mul(p, sub(t, sum(mul(p, t), -1, { keepDims: true })));
}

/** Contrastive loss of similarities (…, B, B), already divided by the temperature, summed over pairs and both directions. */
export const contrastive = (s: Tensor): Tensor => bind(contrastiveOp, [s], null);
/** Gradient of {@link contrastive} on S: row softmax + column softmax − 2I. */
export const contrastiveGrad = (s: Tensor): Tensor => bind(contrastiveGradOp, [s], null);
/** Hessian of {@link contrastive} on S times a direction; also the inner factor of the Gauss-Newton product. */
export const contrastiveHvp = (s: Tensor, t: Tensor): Tensor => bind(contrastiveHvpOp, [s, t], null);

export const contrastiveOps = [contrastiveOp, contrastiveGradOp, contrastiveHvpOp];
