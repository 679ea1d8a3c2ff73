// The transformer layer both towers are made of.

import { attention } from '../../autodiff/ops/attention.ts';
import { add } from '../../autodiff/ops/binary.ts';
import { permute, reshape } from '../../autodiff/ops/layout.ts';
import { type LowRank, matmul } from '../../autodiff/ops/matmul.ts';
import { l2Normalize, layerNorm } from '../../autodiff/ops/normalize.ts';
import { softmax } from '../../autodiff/ops/softmax.ts';
import type { Tensor } from '../../autodiff/tensor.ts';
import { type ClipAct, layerName, type TowerConfig, type TowerName } from './config.ts';

/** Weights by name, and the affine maps made of them, with whatever adapts them. */
export interface Net {
  weight(name: string): Tensor;
  /** act(x·Wᵀ + b) with W and b of the module `name`, and its low-rank update if it has one. */
  dense(name: string, x: Tensor, act?: ClipAct): Tensor;
  /** The maps of one head each. Absent where every token must go through `dense`, to be shown to a tap or to have inputs dropped. */
  readonly heads?: HeadMaps | undefined;
}

/** The rows of a weight W (out, in) by head, (heads, out/heads, in), with its low-rank update. */
export interface HeadMaps {
  /** x·Wᵀ of every head, without the bias: (heads, B, in) → (heads, B, out/heads). */
  forward(name: string, x: Tensor): Tensor;
  /** x·W of every head: (heads, B, out/heads) → (heads, B, in). */
  transposed(name: string, x: Tensor): Tensor;
}

/**
 * The maps of one head each, of weights with their low-rank updates.
 * @param weight W of a module
 */
export function headMaps(
  weight: (module: string) => Tensor,
  update: (module: string) => LowRank | undefined,
): HeadMaps {
  /** (out, n) → (heads, out/heads, n), with as many heads as x has. */
  const byHead = (w: Tensor, { shape: [heads] }: Tensor): Tensor =>
    reshape(w, [heads, w.shape[0] / heads, w.shape[1]]);
  return {
    forward: (module, x) => {
      const lora = update(module);
      const plus = lora && { a: matmul(x, lora.a, { form: 'nt' }), b: byHead(lora.b, x), alpha: lora.scale };
      return matmul(x, byHead(weight(module), x), { form: 'nt', ...(plus && { plus }) });
    },
    transposed: (module, x) => {
      const lora = update(module);
      const plus = lora && { a: matmul(x, byHead(lora.b, x)), b: lora.a, alpha: lora.scale };
      return matmul(x, byHead(weight(module), x), plus && { plus });
    },
  };
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

/** The one token of each input that a tower gives its embedding of. */
export interface Pooled {
  /** (B, T, D) → (B, 1, D) */
  pick(x: Tensor): Tensor;
  /** Added to the scores of the T keys of each input, (B, 1, T): 0, or far below where the token does not see the key. */
  unseen?(x: Tensor): Tensor;
}

/** (B, heads, d) ⇄ (heads, B, d) */
const swapped = (x: Tensor): Tensor => permute(x, [1, 0, 2]);

/**
 * Attention of the pooled token alone: q·(W_k·h) is (q·W_k)·h and Σ p·(W_v·h) is W_v·Σ p·h, so that one row for each
 * head goes through W_k and W_v in place of every token. The bias of the keys moves all scores alike, and drops out; that
 * of the values goes through.
 * @param h (B, T, D)
 * @returns (B, 1, D)
 */
function pooledAttention(net: Net, maps: HeadMaps, at: string, h: Tensor, heads: number, pooled: Pooled): Tensor {
  const [b, , width] = h.shape;
  const d = width / heads;
  const q = swapped(reshape(net.dense(`${at}.q_proj`, pooled.pick(h)), [b, heads, d]));
  const asked = swapped(maps.transposed(`${at}.k_proj`, q)); // (B, heads, D)
  const scores = matmul(asked, h, { form: 'nt', alpha: 1 / Math.sqrt(d) }); // (B, heads, T)
  const weights = softmax(pooled.unseen === undefined ? scores : add(scores, pooled.unseen(h)));
  const mixed = swapped(maps.forward(`${at}.v_proj`, swapped(matmul(weights, h)))); // (B, heads, d)
  return add(reshape(mixed, [b, 1, width]), net.weight(`${at}.v_proj.bias`));
}

/** Attention of every token, or of the pooled one: (B, T, D) → (B, T′, D), before its output map. */
function mix(net: Net, { causal, config: { heads } }: Tower, at: string, h: Tensor, pooled: Pooled | null): Tensor {
  if (pooled !== null && net.heads !== undefined) return pooledAttention(net, net.heads, at, h, heads, pooled);
  const part = (which: string, from: Tensor): Tensor => split(net.dense(`${at}.${which}`, from), heads);
  // A causal mask goes by place, so there the queries are picked after attention.
  const q = part('q_proj', causal || pooled === null ? h : pooled.pick(h)); // (B, heads, T, d)
  const mixed = join(attention(q, part('k_proj', h), part('v_proj', h), { causal }));
  return causal && pooled !== null ? pooled.pick(mixed) : mixed;
}

/**
 * One layer: attention and MLP, each after a layer norm and added to its input.
 * @param x (B, T, D)
 * @param pooled the token whose result is asked for, all of them where it is null; keys and values are of all
 * @returns (B, T′, D)
 */
function layer(net: Net, tower: Tower, i: number, x: Tensor, pooled: Pooled | null): Tensor {
  const at = layerName(tower.name, i);
  const { act, eps } = tower.config;
  const mixed = mix(net, tower, `${at}.self_attn`, normed(net, `${at}.layer_norm1`, x, eps), pooled);
  const y = add(pooled === null ? x : pooled.pick(x), net.dense(`${at}.self_attn.out_proj`, mixed));
  const inner = net.dense(`${at}.mlp.fc1`, normed(net, `${at}.layer_norm2`, y, eps), act);
  return add(y, net.dense(`${at}.mlp.fc2`, inner));
}

/** Layers `from`…`to`−1; after the last of the tower only the pooled token is left. */
export function runLayers(net: Net, tower: Tower, x: Tensor, from: number, to: number, pooled: Pooled): Tensor {
  let y = x;
  for (let i = from; i < to; i++) y = layer(net, tower, i, y, i === tower.config.layers - 1 ? pooled : null);
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
