// The text transformer: token ids in, the embedding of the end-of-text token out.

import { EcifError } from '../../array/errors.ts';
import { add } from '../../autodiff/ops/binary.ts';
import { gather } from '../../autodiff/ops/indexing.ts';
import { reshape, slice } from '../../autodiff/ops/layout.ts';
import { type Tensor, tensor } from '../../autodiff/tensor.ts';
import { FAR } from '../model.ts';
import type { TextConfig } from './config.ts';
import { embedding, type Net, normed, type Pooled } from './layers.ts';

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

/** The token at `ends[k]` of text k, which sees those up to itself. */
export const endTokens = (ends: Int32Array): Pooled => ({
  pick: (x) => {
    const [b, t, d] = x.shape;
    const rows = ends.map((end, k) => k * t + end);
    return gather(reshape(x, [b * t, d]), tensor(x.device, rows, [b, 1], 'int'));
  },
  unseen: (x) => {
    const [b, t] = x.shape;
    const far = Float64Array.from({ length: b * t }, (_, i) => (i % t <= ends[Math.floor(i / t)] ? 0 : FAR));
    return tensor(x.device, far, [b, 1, t]);
  },
});

/** Unit embeddings of texts: (B, 1, D) → (B, P). */
export const textHead = (net: Net, { eps }: TextConfig, x: Tensor): Tensor =>
  embedding(net, 'text_projection', normed(net, 'text_model.final_layer_norm', x, eps));
