// What a CLIP model is made of: sizes of both towers, and name and shape of every tensor, as Hugging Face names them.

import { type Shape, sizeOf } from '../../array/shape.ts';

/** Activation of the MLPs: x·σ(1.702·x) or x·Φ(x). */
export type ClipAct = 'quickGelu' | 'gelu';

/** Sizes of a transformer. */
export interface TowerConfig {
  /** Features of a token, D. */
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** Features inside the MLPs. */
  readonly inner: number;
  readonly act: ClipAct;
  /** Added to the variance in layer norms. */
  readonly eps: number;
}

/** The vision transformer. */
export interface VisionConfig extends TowerConfig {
  readonly imageSize: number;
  readonly patchSize: number;
  readonly channels: number;
}

/** The text transformer. */
export interface TextConfig extends TowerConfig {
  readonly vocabulary: number;
  /** Longest text, in tokens. */
  readonly positions: number;
  /** Id of the end-of-text token. */
  readonly eos: number;
  /** Where a text is pooled: its first end-of-text token, or its largest id, as configurations with eos 2 mean it. */
  readonly pool: 'first-eos' | 'largest-id';
}

/** A CLIP model without its weights. */
export interface ClipConfig {
  /** Features of the embeddings both towers share. */
  readonly projection: number;
  /** log(1/τ) of a model that was never trained. */
  readonly logitScale: number;
  readonly vision: VisionConfig;
  readonly text: TextConfig;
}

/** One of the two towers. */
export type TowerName = 'vision' | 'text';

/** The name under which tensors of a layer are filed. */
export const layerName = (tower: TowerName, layer: number): string => `${tower}_model.encoder.layers.${layer}`;

/** Tokens of an image: its patches and the class token. */
export const imageTokens = ({ imageSize, patchSize }: VisionConfig): number => (imageSize / patchSize) ** 2 + 1;

type Shapes = [name: string, shape: Shape][];

const norm = (name: string, d: number): Shapes => [
  [`${name}.weight`, [d]],
  [`${name}.bias`, [d]],
];
const dense = (name: string, out: number, into: number): Shapes => [
  [`${name}.weight`, [out, into]],
  [`${name}.bias`, [out]],
];

const layerShapes = (name: string, { width: d, inner }: TowerConfig): Shapes => [
  ...norm(`${name}.layer_norm1`, d),
  ...['q_proj', 'k_proj', 'v_proj', 'out_proj'].flatMap((part) => dense(`${name}.self_attn.${part}`, d, d)),
  ...norm(`${name}.layer_norm2`, d),
  ...dense(`${name}.mlp.fc1`, inner, d),
  ...dense(`${name}.mlp.fc2`, d, inner),
];

const towerShapes = (tower: TowerName, config: TowerConfig): Shapes =>
  Array.from({ length: config.layers }, (_, i) => layerShapes(layerName(tower, i), config)).flat();

/**
 * Name and shape of every tensor of a model, in the order of its layers; nothing is allocated.
 * @example clipShapes(config).get('visual_projection.weight'); // [512, 768]
 */
export function clipShapes({ projection, vision, text }: ClipConfig): ReadonlyMap<string, Shape> {
  const { width: d, channels, patchSize: p } = vision;
  return new Map([
    ['logit_scale', []],
    ['text_model.embeddings.token_embedding.weight', [text.vocabulary, text.width]],
    ['text_model.embeddings.position_embedding.weight', [text.positions, text.width]],
    ...towerShapes('text', text),
    ...norm('text_model.final_layer_norm', text.width),
    ['vision_model.embeddings.class_embedding', [d]],
    ['vision_model.embeddings.patch_embedding.weight', [d, channels, p, p]],
    ['vision_model.embeddings.position_embedding.weight', [imageTokens(vision), d]],
    ...norm('vision_model.pre_layrnorm', d),
    ...towerShapes('vision', vision),
    ...norm('vision_model.post_layernorm', d),
    ['visual_projection.weight', [projection, d]],
    ['text_projection.weight', [projection, text.width]],
  ] as Shapes);
}

/** Number of parameters of a model. */
export const countParameters = (config: ClipConfig): number =>
  [...clipShapes(config).values()].reduce((n, shape) => n + sizeOf(shape), 0);
