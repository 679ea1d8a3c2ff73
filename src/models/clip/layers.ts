// The transformer layer both towers are made of.

import { attention } from '../../autodiff/ops/attention.ts';
import { add, mul } from '../../autodiff/ops/binary.ts';
import { permute, reshape } from '../../autodiff/ops/layout.ts';
import { matmul } from '../../autodiff/ops/matmul.ts';
import { l2Normalize, layerNorm } from '../../autodiff/ops/normalize.ts';
import { sum } from '../../autodiff/ops/reduce.ts';
import { softmax } from '../../autodiff/ops/softmax.ts';
import { type Tensor, tensor } from '../../autodiff/tensor.ts';
import { type ClipAct, layerName, type TowerConfig, type TowerName } from './config.ts';

/** Weights by name, and the affine maps made of them, with whatever adapts them. */
export interface Net {
  weight(name: string): Tensor;
  /** act(x·Wᵀ + b) with W and b of the module `name`, and its low-rank update if it has one. */
  dense(name: string, x: Tensor, act?: ClipAct): Tensor;
  /**
   * x·W with W of the module `name` and its low-rank update. Absent where every token must go through `dense` by itself, to be
   * shown to a tap or to have inputs dropped.
   */
  readonly transposed?: ((name: string, x: Tensor) => Tensor) | undefined;
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

/** (heads, D): 1 in the columns of each head, 0 elsewhere. */
function headColumns(x: Tensor, heads: number): Tensor {
  const width = x.shape[2];
  const own = Float64Array.from({ length: heads * width }, (_, i) =>
    Number(Math.floor(i / width) === Math.floor(((i % width) * heads) / width)),
  );
  return tensor(x.device, own, [heads, width]);
}

/**
 * Attention of the pooled token alone: q·(W_k·h) is (q·W_k)·h and Σ p·(W_v·h) is W_v·Σ p·h, so that one row for each head goes through
 * W_k and W_v in place of every token. The bias of the keys moves all scores alike, and drops out.
 * @param h (B, T, D)
 * @returns (B, 1, D)
 */
function pooledAttention(net: Net, at: string, h: Tensor, heads: number, pooled: Pooled): Tensor {
  const columns = headColumns(h, heads);
  const q = net.dense(`${at}.q_proj`, pooled.pick(h));
  const asked = net.transposed?.(`${at}.k_proj`, mul(q, columns)) as Tensor; // (B, heads, D)
  const scores = matmul(asked, h, { form: 'nt', alpha: Math.sqrt(heads / h.shape[2]) }); // (B, heads, T)
  const weights = softmax(pooled.unseen === undefined ? scores : add(scores, pooled.unseen(h)));
  const mixed = net.dense(`${at}.v_proj`, matmul(weights, h)); // (B, heads, D)
  return sum(mul(mixed, columns), 1, { keepDims: true });
}

/** Attention of every token, or of the pooled one: (B, T, D) → (B, T′, D), before its output map. */
function mix(net: Net, { causal, config: { heads } }: Tower, at: string, h: Tensor, pooled: Pooled | null): Tensor {
  if (pooled !== null && net.transposed !== undefined && heads < h.shape[1])
    return pooledAttention(net, at, h, heads, pooled);
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
