// Scaled dot-product attention in one kernel, and the cutting of images into patches.

import { ShapeError } from '../../array/errors.ts';
import { formatShape, sameShape, type Shape } from '../../array/shape.ts';
import { bind } from '../bind.ts';
import { expectDtypes, expectRank, type Fused, type InputDomain } from '../op.ts';
import type { Tensor } from '../tensor.ts';
import { gpuAttention } from './attention-gpu.ts';
import { permute, reshape } from './layout.ts';
import { matmul } from './matmul.ts';
import { softmax } from './softmax.ts';

/** `scale` multiplies the scores; `causal` lets a query see keys up to its own place, aligned at the end. */
export interface AttentionParams {
  readonly scale: number;
  readonly causal: boolean;
}

const N = (...shape: number[]): InputDomain => ({ shape, draw: 'normal' });

/** softmax(scale·Q·Kᵀ)·V for Q (…, T, d), K (…, S, d), V (…, S, e). */
const attentionOp: Fused<AttentionParams> = {
  name: 'attention',
  shape: (inputs) => {
    const [q, k, v] = inputs;
    expectDtypes('attention', inputs);
    inputs.forEach((x) => expectRank('attention', x, 2, 'give (…, tokens, width)'));
    const [qs, ks, vs] = inputs.map((x) => x.shape);
    const fits =
      sameShape(qs.slice(0, -2), ks.slice(0, -2)) &&
      sameShape(ks.slice(0, -1), vs.slice(0, -1)) &&
      qs.at(-1) === ks.at(-1) &&
      (ks.at(-2) ?? 0) > 0;
    if (!fits)
      throw new ShapeError(
        `attention: queries ${formatShape(q.shape)}, keys ${formatShape(k.shape)}, values ${formatShape(v.shape)}; batch axes, widths and key counts must agree`,
      );
    return { shape: [...qs.slice(0, -1), vs[vs.length - 1]], dtype: 'real' };
  },
  cpu: ({ x: [q, k, v], y, shapes: [qs, ks, vs], params }) => {
    const [t, d] = qs.slice(-2);
    const [s, e] = vs.slice(-2);
    for (let row = 0; row * d < q.length; row++) {
      const z = Math.floor(row / t);
      const end = params.causal ? (row % t) + 1 + s - t : s;
      const scores = Float64Array.from({ length: end }, (_, j) => {
        let dot = 0;
        for (let i = 0; i < d; i++) dot += q[row * d + i] * k[(z * ks[ks.length - 2] + j) * d + i];
        return params.scale * dot;
      });
      const peak = scores.reduce((m, x) => Math.max(m, x), -Infinity);
      const weights = scores.map((x) => Math.exp(x - peak));
      const total = weights.reduce((n, w) => n + w, 0);
      weights.forEach((w, j) => {
        for (let i = 0; i < e; i++) y[row * e + i] += (w / total) * v[(z * s + j) * e + i];
      });
    }
  },
  gpu: gpuAttention,
  define: ([q, k, v], { scale, causal }) => matmul(softmax(matmul(q, k, { form: 'nt', alpha: scale }), { causal }), v),
  samples: [
    { inputs: [N(2, 5, 4), N(2, 7, 4), N(2, 7, 3)], params: { scale: 0.5, causal: false } },
    { inputs: [N(2, 3, 6, 8), N(2, 3, 6, 8), N(2, 3, 6, 8)], params: { scale: 0.35, causal: true } },
    { inputs: [N(2, 3, 8), N(2, 7, 8), N(2, 7, 4)], params: { scale: 0.35, causal: true } },
    { inputs: [N(3, 37, 16), N(3, 37, 16), N(3, 37, 16)], params: { scale: 0.25, causal: false } },
  ],
};

/** Multi-head building block: softmax(scale·Q·Kᵀ)·V, scale 1/√d unless told. */
export function attention(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  { scale, causal = false }: { scale?: number; causal?: boolean } = {},
): Tensor {
  return bind(attentionOp, [q, k, v], { scale: scale ?? 1 / Math.sqrt(q.shape[q.shape.length - 1]), causal });
}

/** Images (B, C, H, W) as rows of patches (B, H/p·W/p, C·p·p), in reading order. */
export function patches(x: Tensor, p: number): Tensor {
  const [b, c, h, w] = x.shape;
  if (x.shape.length !== 4 || h % p !== 0 || w % p !== 0) {
    throw new ShapeError(
      `patches: images ${formatShape(x.shape)} in patches of ${p}; give (B, C, H, W) with H and W multiples of it`,
    );
  }
  const cut = reshape(x, [b, c, h / p, p, w / p, p]);
  return reshape(permute(cut, [0, 2, 4, 1, 3, 5]), [b, (h / p) * (w / p), c * p * p]);
}

/** Strided convolution of images (B, C, H, W) with kernels (D, C, p, p), stride p: (B, H/p·W/p, D). */
export function patchEmbed(x: Tensor, kernels: Tensor, bias?: Tensor): Tensor {
  const [d, c, p, q]: Shape = kernels.shape;
  if (kernels.shape.length !== 4 || p !== q || c !== x.shape[1]) {
    throw new ShapeError(
      `patchEmbed: kernels ${formatShape(kernels.shape)} for images ${formatShape(x.shape)}; give (D, C, p, p)`,
    );
  }
  return matmul(patches(x, p), reshape(kernels, [d, c * p * p]), { form: 'nt', addend: bias });
}

export const attentionOps = [attentionOp];
