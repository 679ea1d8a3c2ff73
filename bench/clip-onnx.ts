// The forward pass of a CLIP model as ONNX graphs, one a tower, doing the same work as src/models/clip: of the last layer
// only what the pooled token needs.

import {
  type ClipConfig,
  imageTokens,
  layerName,
  type TowerConfig,
  type TowerName,
} from '../src/models/clip/config.ts';
import { type OnnxConstant, onnxModel, type OnnxNode, type OnnxValue, transpose } from './onnx-model.ts';

/** Values of a tensor of the model by Hugging Face's name. */
export type Weights = (name: string) => Float32Array;

/** Added to scores of tokens that are not to be seen. */
const UNSEEN = -1e9;

/** A graph while it is written: every method adds nodes and returns the name of their result. */
class Graph {
  readonly #constants: OnnxConstant[] = [];
  readonly #nodes: OnnxNode[] = [];
  readonly #weights: Weights;

  constructor(weights: Weights) {
    this.#weights = weights;
  }

  node(
    op: string,
    inputs: readonly string[],
    attributes: OnnxNode['attributes'] = {},
    output = `n${this.#nodes.length}`,
  ): string {
    this.#nodes.push({ op, inputs, output, attributes });
    return output;
  }

  constant(dims: readonly number[], data: Float32Array | BigInt64Array): string {
    const name = `c${this.#constants.length}`;
    this.#constants.push({ name, dims, data });
    return name;
  }

  integers(values: readonly number[]): string {
    return this.constant([values.length], BigInt64Array.from(values, BigInt));
  }

  /** A tensor of the model. */
  weight(name: string, ...dims: number[]): string {
    return this.constant(dims, this.#weights(name));
  }

  reshape(x: string, dims: readonly number[]): string {
    return this.node('Reshape', [x, this.integers(dims)]);
  }

  norm(name: string, x: string, { width, eps }: TowerConfig): string {
    const parts = [this.weight(`${name}.weight`, width), this.weight(`${name}.bias`, width)];
    return this.node('LayerNormalization', [x, ...parts], { axis: 2, epsilon: { float: eps } });
  }

  /** x·Wᵀ, with W stored as exporters store it. */
  product(name: string, x: string, into: number, out: number): string {
    const w = transpose(this.#weights(`${name}.weight`), out, into);
    return this.node('MatMul', [x, this.constant([into, out], w)]);
  }

  dense(name: string, x: string, into: number, out: number): string {
    return this.node('Add', [this.product(name, x, into, out), this.weight(`${name}.bias`, out)]);
  }

  /** x·σ(1.702·x) */
  quickGelu(x: string): string {
    const inner = this.node('Mul', [x, this.constant([1], Float32Array.of(1.702))]);
    return this.node('Mul', [x, this.node('Sigmoid', [inner])]);
  }

  /** The model whose output is the node called `out`. */
  bytes(inputs: readonly OnnxValue[], dims: readonly number[]): Uint8Array {
    return onnxModel({ inputs, constants: this.#constants, nodes: this.#nodes, output: { name: 'out', dims } });
  }
}

/** A tower for a number of inputs: tokens of each, a causal mask or none, and how its pooled tokens are picked. */
interface TowerGraph {
  readonly name: TowerName;
  readonly config: TowerConfig;
  readonly batch: number;
  readonly tokens: number;
  /** (T, T), added to the scores. */
  readonly mask?: string;
  /** (B, T, D) → (B, 1, D) */
  readonly pick: (x: string) => string;
}

/** Attention of all tokens; without a mask, of the picked ones alone where `last` says so. */
function attention(g: Graph, tower: TowerGraph, at: string, h: string, last: boolean): string {
  const { config, batch, tokens, mask, pick } = tower;
  const { width, heads } = config;
  const depth = width / heads;
  const early = last && mask === undefined;
  const queries = early ? 1 : tokens;
  const part = (which: string, x: string, count: number, perm: readonly number[]): string => {
    const y = g.dense(`${at}.self_attn.${which}`, x, width, width);
    return g.node('Transpose', [g.reshape(y, [batch, count, heads, depth])], { perm });
  };
  const q = part('q_proj', early ? pick(h) : h, queries, [0, 2, 1, 3]); // (B, heads, T′, d)
  const scaled = g.node('Mul', [q, g.constant([1], Float32Array.of(1 / Math.sqrt(depth)))]);
  const scores = g.node('MatMul', [scaled, part('k_proj', h, tokens, [0, 2, 3, 1])]);
  const shares = g.node('Softmax', [mask === undefined ? scores : g.node('Add', [scores, mask])], { axis: 3 });
  const mixed = g.node('MatMul', [shares, part('v_proj', h, tokens, [0, 2, 1, 3])]);
  const joined = g.reshape(g.node('Transpose', [mixed], { perm: [0, 2, 1, 3] }), [batch, queries, width]);
  return g.dense(`${at}.self_attn.out_proj`, last && !early ? pick(joined) : joined, width, width);
}

/** One layer; after the last, (B, 1, D). */
function layer(g: Graph, tower: TowerGraph, i: number, x: string): string {
  const { name, config, pick } = tower;
  const at = layerName(name, i);
  const last = i === config.layers - 1;
  const mixed = attention(g, tower, at, g.norm(`${at}.layer_norm1`, x, config), last);
  const y = g.node('Add', [last ? pick(x) : x, mixed]);
  const h = g.norm(`${at}.layer_norm2`, y, config);
  const inner = g.quickGelu(g.dense(`${at}.mlp.fc1`, h, config.width, config.inner));
  return g.node('Add', [y, g.dense(`${at}.mlp.fc2`, inner, config.inner, config.width)]);
}

/** Layers, last norm, projection and division by the length: (B, T, D) → `out` (B, P). */
function embedded(g: Graph, tower: TowerGraph, x: string, norm: string, head: string, projection: number): void {
  const { config, batch } = tower;
  if (config.act !== 'quickGelu') {
    throw new Error(`clip-onnx: activation ${config.act} of the ${tower.name} tower; give a model with quickGelu`);
  }
  let y = x;
  for (let i = 0; i < config.layers; i++) y = layer(g, tower, i, y);
  const flat = g.reshape(g.norm(norm, y, config), [batch, config.width]);
  const projected = g.product(head, flat, config.width, projection);
  g.node('Div', [projected, g.node('ReduceL2', [projected], { axes: [1], keepdims: 1 })], {}, 'out');
}

/**
 * The vision tower: `pixels` (B, C, H, W) → `out` (B, P).
 * @throws Error for an activation other than quickGelu
 * @example const session = await ortSession(imageModel(config, weights, 16), 'cpu', 'all');
 */
export function imageModel(config: ClipConfig, weights: Weights, batch: number): Uint8Array {
  const { vision, projection } = config;
  const { width, channels, imageSize, patchSize: p } = vision;
  const g = new Graph(weights);
  const tokens = imageTokens(vision);
  const at = 'vision_model.embeddings';
  const kernel = g.weight(`${at}.patch_embedding.weight`, width, channels, p, p);
  const grid = g.node('Conv', ['pixels', kernel], { kernel_shape: [p, p], strides: [p, p] }); // (B, D, H/p, W/p)
  const columns = g.reshape(grid, [batch, width, tokens - 1]);
  const patches = g.node('Transpose', [columns], { perm: [0, 2, 1] });
  const one = g.weight(`${at}.class_embedding`, 1, 1, width);
  const first = g.node('Expand', [one, g.integers([batch, 1, width])]);
  const all = g.node('Concat', [first, patches], { axis: 1 });
  const placed = g.node('Add', [all, g.weight(`${at}.position_embedding.weight`, tokens, width)]);
  const zero = g.integers([0]);
  const pick = (x: string): string => g.node('Gather', [x, zero], { axis: 1 });
  const tower: TowerGraph = { name: 'vision', config: vision, batch, tokens, pick };
  const x = g.norm('vision_model.pre_layrnorm', placed, vision);
  embedded(g, tower, x, 'vision_model.post_layernorm', 'visual_projection', projection);
  return g.bytes([{ name: 'pixels', dims: [batch, channels, imageSize, imageSize] }], [batch, projection]);
}

/**
 * The text tower: `ids` (B, T) and `rows` (B, 1), the pooled token of each text among all B·T → `out` (B, P).
 * @throws Error for an activation other than quickGelu
 */
export function textModel(config: ClipConfig, weights: Weights, batch: number, tokens: number): Uint8Array {
  const { text, projection } = config;
  const { width, vocabulary } = text;
  const g = new Graph(weights);
  const at = 'text_model.embeddings';
  const table = g.weight(`${at}.token_embedding.weight`, vocabulary, width);
  const places = weights(`${at}.position_embedding.weight`).subarray(0, tokens * width);
  const x = g.node('Add', [g.node('Gather', [table, 'ids'], { axis: 0 }), g.constant([tokens, width], places)]);
  const unseen = (_: unknown, i: number): number => (i % tokens > Math.floor(i / tokens) ? UNSEEN : 0);
  const mask = g.constant([tokens, tokens], Float32Array.from({ length: tokens ** 2 }, unseen));
  const pick = (y: string): string => g.node('Gather', [g.reshape(y, [batch * tokens, width]), 'rows'], { axis: 0 });
  const tower: TowerGraph = { name: 'text', config: text, batch, tokens, mask, pick };
  embedded(g, tower, x, 'text_model.final_layer_norm', 'text_projection', projection);
  const inputs: OnnxValue[] = [
    { name: 'ids', dims: [batch, tokens], type: 'int64' },
    { name: 'rows', dims: [batch, 1], type: 'int64' },
  ];
  return g.bytes(inputs, [batch, projection]);
}
