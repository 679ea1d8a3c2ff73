// CLIP as a model of pairs: both towers from inputs to unit embeddings, adapted by low-rank updates.

import { EcifError, ShapeError } from '../../array/errors.ts';
import type { Rng } from '../../array/rng.ts';
import { formatShape } from '../../array/shape.ts';
import { exp } from '../../autodiff/ops/unary.ts';
import { type Tensor, tensor } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import type { Model } from '../model.ts';
import type { Tap } from '../tap.ts';
import type { ClipConfig } from './config.ts';
import { headMaps, type Net, runLayers, type Tower } from './layers.ts';
import { type Adapter, adaptedDense, type Lora, updateOf } from './lora.ts';
import { endTokens, poolPosition, textHead, textStem } from './text.ts';
import { classToken, imageHead, imageStem } from './vision.ts';

/** A CLIP model on a device, its weights frozen. */
export interface Clip {
  readonly config: ClipConfig;
  readonly device: Device;
  /** Every tensor but `logit_scale`, by Hugging Face's name. */
  readonly tensors: ReadonlyMap<string, Tensor>;
  /** log(1/τ). */
  readonly logitScale: number;
}

/** Token ids of texts: row k is a text, with where it is pooled. */
export interface TextBatch {
  /** (B, T), dtype int */
  readonly ids: Tensor;
  readonly ends: Int32Array;
}

/** Pairs: text k belongs to image k. */
export interface ClipBatch {
  readonly text: TextBatch;
  /** Preprocessed images, (B, C, H, W). */
  readonly pixels: Tensor;
}

/** CLIP over pairs, with what it is made of. */
export interface ClipModel extends Model<Adapter, ClipBatch> {
  readonly clip: Clip;
  readonly lora: Lora | null;
  /**
   * The affine maps at these parameters.
   * @param tap is shown the maps of the low-rank updates
   */
  net(theta: Adapter, tap?: Tap): Net;
}

/**
 * Token ids on a device, checked. What follows the end of the longest text is cut off: no token sees a later one, so it
 * changes nothing.
 * @param rows ids of each text; shorter ones are filled up with their last id
 * @param length tokens to keep at least, for batches that are to be laid together
 * @throws EcifError for an id outside of the vocabulary, a text that is too long or has no end
 */
export function textBatch(
  { text }: ClipConfig,
  device: Device,
  rows: readonly ArrayLike<number>[],
  length = 1,
): TextBatch {
  rows.forEach((row, k) => {
    if (row.length > text.positions) {
      throw new EcifError(`clip: text ${k} has ${row.length} tokens, the model takes ${text.positions}; cut it off`);
    }
    const odd = Array.from(row).find((id) => !(Number.isInteger(id) && id >= 0 && id < text.vocabulary));
    if (odd !== undefined) {
      throw new EcifError(`clip: text ${k} has token ${odd}; give ids in 0…${text.vocabulary - 1}`);
    }
  });
  const ends = Int32Array.from(rows, (row) => poolPosition(text, row));
  const t = Math.min(
    text.positions,
    ends.reduce((most, end) => Math.max(most, end + 1), length),
  );
  const ids = Int32Array.from({ length: rows.length * t }, (_, i) => {
    const row = rows[Math.floor(i / t)];
    return row[Math.min(i % t, row.length - 1)];
  });
  return { ids: tensor(device, ids, [rows.length, t], 'int'), ends };
}

/**
 * Pairs on a device.
 * @param ids token ids of each text
 * @param pixels preprocessed images one after the other, each (C, H, W)
 * @param length tokens to keep at least, for batches that are to be laid together
 * @throws EcifError for ids the model has no room for; ShapeError for images of another number or size
 * @example const batch = clipBatch(config, device, captions.map((text) => tokenizer.encode(text)), pixels);
 */
export function clipBatch(
  config: ClipConfig,
  device: Device,
  ids: readonly ArrayLike<number>[],
  pixels: Float32Array | Float64Array,
  length = 1,
): ClipBatch {
  const { channels, imageSize } = config.vision;
  const shape = [ids.length, channels, imageSize, imageSize];
  if (pixels.length !== shape.reduce((a, b) => a * b) || ids.length === 0) {
    throw new ShapeError(
      `clip: ${pixels.length} pixel values for ${ids.length} texts; give ${formatShape(shape)}, an image for each text`,
    );
  }
  return { text: textBatch(config, device, ids, length), pixels: tensor(device, pixels, shape) };
}

/** The two towers of a model. */
const towersOf = ({ vision, text }: ClipConfig): { vision: Tower; text: Tower } => ({
  vision: { name: 'vision', config: vision, causal: false },
  text: { name: 'text', config: text, causal: true },
});

/** Images through layers `from`…`to`−1, (B, T, D); after the tower's last only the class token is left, (B, 1, D). */
export function imageLayers(net: Net, config: ClipConfig, x: Tensor, from: number, to: number): Tensor {
  return runLayers(net, towersOf(config).vision, x, from, to, classToken);
}

/** Texts through layers `from`…`to`−1, (B, T, D); after the tower's last only the pooled token is left, (B, 1, D). */
export function textLayers(
  net: Net,
  config: ClipConfig,
  x: Tensor,
  ends: Int32Array,
  from: number,
  to: number,
): Tensor {
  return runLayers(net, towersOf(config).text, x, from, to, endTokens(ends));
}

/** Unit embeddings of images, (B, P). */
export function embedImages(net: Net, config: ClipConfig, pixels: Tensor): Tensor {
  const x = imageStem(net, config.vision, pixels);
  return imageHead(net, config.vision, imageLayers(net, config, x, 0, config.vision.layers));
}

/** Unit embeddings of texts, (B, P). */
export function embedTexts(net: Net, config: ClipConfig, { ids, ends }: TextBatch): Tensor {
  const x = textStem(net, ids);
  return textHead(net, config.text, textLayers(net, config, x, ends, 0, config.text.layers));
}

/**
 * CLIP as a function of its adapter. The temperature is trained where `logit_scale` is among the parameters.
 * @param lora null for the model as it is, with `{}` as parameters
 * @param training draws what LoRA's dropout drops, anew in every pass; without it nothing is dropped
 * @example const model = clipModel(clip, lora); const { u, v } = model.embed(theta, batch);
 */
export function clipModel(clip: Clip, lora: Lora | null = null, training?: Rng): ClipModel {
  const { config, tensors, logitScale } = clip;
  const weight = (name: string): Tensor => {
    const found = tensors.get(name);
    if (found === undefined) throw new EcifError(`clip: no tensor ${name} in the model; load it with loadClip`);
    return found;
  };
  const drop =
    training !== undefined && lora !== null && lora.dropout > 0 ? { share: lora.dropout, rng: training } : undefined;
  const net = (theta: Adapter, tap?: Tap): Net => ({
    weight,
    heads:
      tap === undefined && drop === undefined
        ? headMaps(
            (name) => weight(`${name}.weight`),
            (name) => updateOf(lora, theta, name),
          )
        : undefined,
    dense: (name, x, act) =>
      adaptedDense(x, weight(`${name}.weight`), {
        bias: weight(`${name}.bias`),
        act,
        lora: updateOf(lora, theta, name),
        drop,
        tap: tap && { module: name, tap },
      }),
  });
  return {
    clip,
    lora,
    net,
    embed: (theta, { text, pixels }, tap) => ({
      u: embedTexts(net(theta, tap), config, text),
      v: embedImages(net(theta, tap), config, pixels),
    }),
    scale: (theta) => ('logit_scale' in theta ? exp(theta.logit_scale) : Math.exp(logitScale)),
  };
}
