// The transformer layer both towers are made of.

import { attention } from '../../autodiff/ops/attention.ts';
import { add } from '../../autodiff/ops/binary.ts';
import { permute, reshape } from '../../autodiff/ops/layout.ts';
import { matmul } from '../../autodiff/ops/matmul.ts';
import { l2Normalize, layerNorm } from '../../autodiff/ops/normalize.ts';
import type { Tensor } from '../../autodiff/tensor.ts';
import { type ClipAct, layerName, type TowerConfig, type TowerName } from './config.ts';

/** Weights by name, and the affine maps made of them, with whatever adapts them. */
export interface Net {
  weight(name: string): Tensor;
  /** act(x·Wᵀ + b) with W and b of the module `name`, and its low-rank update if it has one. */
  dense(name: string, x: Tensor, act?: ClipAct): Tensor;
}

/** Layer norm with the scale and shift of the module `name`. */
export const normed = (net: Net, name: string, x: Tensor, eps: number): Tensor =>
  layerNorm(x, net.weight(`${name}.weight`), net.weight(`${name}.bias`), eps);

/** (B, T, D) → (B, heads, T, d) */
function split(x: Tensor, heads: number): Tensor {
  const [b, t, width] = x.shape;
  if (t === 1) return reshape(x, [b, heads, 1, width / heads]);
  return permute(reshape(x, [b, t, heads, width / heads]), [0, 2, 1, 3]);
}

/** (B, heads, T, d) → (B, T, D) */
function join(x: Tensor): Tensor {
  const [b, heads, t, d] = x.shape;
  return reshape(t === 1 ? x : permute(x, [0, 2, 1, 3]), [b, t, heads * d]);
}

/** How a tower runs its layers. */
export interface Tower {
  readonly name: TowerName;
  readonly config: TowerConfig;
  /** Tokens see only those before them. */
  readonly causal: boolean;
}

/** The tokens that go on, of all: (B, T, D) → (B, T′, D). */
export type Picker = (x: Tensor) => Tensor;

/**
 * One layer: attention and MLP, each after a layer norm and added to its input.
 * @param x (B, T, D)
 * @param pick the tokens whose result is asked for; keys and values are of all
 * @returns (B, T′, D)
 */
function layer(net: Net, { name, config, causal }: Tower, i: number, x: Tensor, pick: Picker): Tensor {
  const at = layerName(name, i);
  const { heads, act, eps } = config;
  const h = normed(net, `${at}.layer_norm1`, x, eps);
  const part = (which: string, from: Tensor): Tensor => split(net.dense(`${at}.self_attn.${which}`, from), heads);
  // A causal mask goes by place, so there the queries are picked after attention.
  const q = part('q_proj', causal ? h : pick(h)); // (B, heads, T, d)
  const mixed = join(attention(q, part('k_proj', h), part('v_proj', h), { causal }));
  const y = add(pick(x), net.dense(`${at}.self_attn.out_proj`, causal ? pick(mixed) : mixed));
  const inner = net.dense(`${at}.mlp.fc1`, normed(net, `${at}.layer_norm2`, y, eps), act);
  return add(y, net.dense(`${at}.mlp.fc2`, inner));
}

const all: Picker = (x) => x;

/** Layers `from`…`to`−1; after the last of the tower only the picked tokens are left. */
export function runLayers(net: Net, tower: Tower, x: Tensor, from: number, to: number, pick: Picker): Tensor {
  let y = x;
  for (let i = from; i < to; i++) y = layer(net, tower, i, y, i === tower.config.layers - 1 ? pick : all);
  return y;
}

/** Keeps a zero vector zero, and changes no other in float32. */
const NO_DIVISION_BY_ZERO = 1e-30;

/** Projection without bias, to unit length: (B, 1, D) → (B, P). */
export function embedding(net: Net, name: string, x: Tensor): Tensor {
  const [b, , d] = x.shape;
  const projected = matmul(reshape(x, [b, d]), net.weight(`${name}.weight`), { form: 'nt' });
  return l2Normalize(projected, NO_DIVISION_BY_ZERO);
}
