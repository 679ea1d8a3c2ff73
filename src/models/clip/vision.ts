// The vision transformer: patches and a class token in, the class token's embedding out.

import { patchEmbed } from '../../autodiff/ops/attention.ts';
import { add } from '../../autodiff/ops/binary.ts';
import { broadcastTo, concat, reshape, slice } from '../../autodiff/ops/layout.ts';
import type { Tensor } from '../../autodiff/tensor.ts';
import type { VisionConfig } from './config.ts';
import { embedding, type Net, normed, type Pooled } from './layers.ts';

/** Tokens of images before the first layer: (B, C, H, W) → (B, T, D). */
export function imageStem(net: Net, { eps }: VisionConfig, pixels: Tensor): Tensor {
  const patches = patchEmbed(pixels, net.weight('vision_model.embeddings.patch_embedding.weight')); // (B, T − 1, D)
  const [b, , d] = patches.shape;
  const first = broadcastTo(reshape(net.weight('vision_model.embeddings.class_embedding'), [1, 1, d]), [b, 1, d]);
  const tokens = add(concat([first, patches], 1), net.weight('vision_model.embeddings.position_embedding.weight'));
  return normed(net, 'vision_model.pre_layrnorm', tokens, eps);
}

/** The class token, which sees all others. */
export const classToken: Pooled = { pick: (x) => slice(x, [0, 0, 0], [x.shape[0], 1, x.shape[2]]) };

/** Unit embeddings of images: (B, 1, D) → (B, P). */
export const imageHead = (net: Net, { eps }: VisionConfig, x: Tensor): Tensor =>
  embedding(net, 'visual_projection', normed(net, 'vision_model.post_layernorm', x, eps));
