// The text transformer: token ids in, the embedding of the end-of-text token out.

import { EcifError } from '../../array/errors.ts';
import { add } from '../../autodiff/ops/binary.ts';
import { gather } from '../../autodiff/ops/indexing.ts';
import { reshape, slice } from '../../autodiff/ops/layout.ts';
import { type Tensor, tensor } from '../../autodiff/tensor.ts';
import type { TextConfig } from './config.ts';
import { embedding, type Net, normed } from './layers.ts';

/**
 * Where a text is pooled: at its first end-of-text token, or at its first largest id.
 * @throws EcifError for a text without an end
 * @example poolPosition(config.text, [49406, 320, 49407, 49407]); // 2
 */
export function poolPosition({ pool, eos }: Pick<TextConfig, 'pool' | 'eos'>, ids: ArrayLike<number>): number {
  const list = Array.from(ids);
  const end = list.indexOf(pool === 'first-eos' ? eos : list.reduce((a, b) => Math.max(a, b), -1));
  if (end < 0)
    throw new EcifError(`clip: no end-of-text token ${eos} among ${list.length} ids; end every text with it`);
  return end;
}

/** Tokens before the first layer: ids (B, T) → (B, T, D). */
export function textStem(net: Net, ids: Tensor): Tensor {
  const tokens = gather(net.weight('text_model.embeddings.token_embedding.weight'), ids);
  const places = net.weight('text_model.embeddings.position_embedding.weight'); // (positions, D)
  return add(tokens, slice(places, [0, 0], tokens.shape.slice(1)));
}

/** The token at `ends[k]` of text k: (B, T, D) → (B, 1, D). */
export function endTokens(ends: Int32Array): (x: Tensor) => Tensor {
  return (x) => {
    const [b, t, d] = x.shape;
    const rows = tensor(
      x.device,
      ends.map((end, k) => k * t + end),
      [b, 1],
      'int',
    );
    return gather(reshape(x, [b * t, d]), rows);
  };
}

/** Unit embeddings of texts: (B, 1, D) → (B, P). */
export const textHead = (net: Net, { eps }: TextConfig, x: Tensor): Tensor =>
  embedding(net, 'text_projection', normed(net, 'text_model.final_layer_norm', x, eps));
