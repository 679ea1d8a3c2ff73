// What lies below the first adapted layer of each tower, computed once for each input and kept.

import { gather } from '../../autodiff/ops/indexing.ts';
import { concat } from '../../autodiff/ops/layout.ts';
import { scope, type Tensor, tensor } from '../../autodiff/tensor.ts';
import type { Model } from '../model.ts';
import { type ClipBatch, type ClipModel, imageLayers, textLayers } from './clip.ts';
import { firstAdapted } from './lora.ts';
import type { Adapter } from './lora.ts';
import { textHead, textStem } from './text.ts';
import { imageHead, imageStem } from './vision.ts';

/** Pairs at the first adapted layer of each tower: tokens (B, T, D), or embeddings (B, P) of a tower without one. */
export interface Prefix {
  readonly text: Tensor;
  readonly image: Tensor;
  /** Where each text is pooled. */
  readonly ends: Int32Array;
}

/** The frozen part of both towers; its value does not change in training, so that it is computed once. */
function prefixTensors({ clip: { config }, lora, net }: ClipModel, { text, pixels }: ClipBatch): Prefix {
  const frozen = net({});
  const first = { text: firstAdapted(config, lora, 'text'), vision: firstAdapted(config, lora, 'vision') };
  const t = textLayers(frozen, config, textStem(frozen, text.ids), text.ends, 0, first.text);
  const v = imageLayers(frozen, config, imageStem(frozen, config.vision, pixels), 0, first.vision);
  return {
    text: first.text === config.text.layers ? textHead(frozen, config.text, t) : t,
    image: first.vision === config.vision.layers ? imageHead(frozen, config.vision, v) : v,
    ends: text.ends,
  };
}

/**
 * Runs pairs up to the first adapted layer of each tower.
 * @example const cached = prefixOf(model, batch); const rest = afterPrefix(model); rest.embed(theta, cached);
 */
export const prefixOf = (model: ClipModel, batch: ClipBatch): Prefix => scope(() => prefixTensors(model, batch));

/** The same model over pairs whose prefix is known: equal values and derivatives, without the frozen layers below. */
export function afterPrefix({ clip: { config }, lora, net, scale }: ClipModel): Model<Adapter, Prefix> {
  const first = { text: firstAdapted(config, lora, 'text'), vision: firstAdapted(config, lora, 'vision') };
  const { text, vision } = config;
  return {
    scale,
    embed: (theta, prefix, tap) => {
      const made = net(theta, tap);
      const texts = (): Tensor =>
        textHead(made, text, textLayers(made, config, prefix.text, prefix.ends, first.text, text.layers));
      const images = (): Tensor =>
        imageHead(made, vision, imageLayers(made, config, prefix.image, first.vision, vision.layers));
      return {
        u: first.text === text.layers ? prefix.text : texts(),
        v: first.vision === vision.layers ? prefix.image : images(),
      };
    },
  };
}

/** The pairs of some rows. */
export const prefixRows = ({ text, image, ends }: Prefix, rows: ArrayLike<number>): Prefix =>
  scope(() => {
    const index = tensor(text.device, Int32Array.from(rows), [rows.length], 'int');
    return {
      text: gather(text, index),
      image: gather(image, index),
      ends: Int32Array.from(rows, (k) => ends[k]),
    };
  });

/** Several prefixes as one; their texts must have equal numbers of tokens (`length` of `clipBatch`). */
export const joinPrefixes = (parts: readonly Prefix[]): Prefix => ({
  text: concat(parts.map((p) => p.text)),
  image: concat(parts.map((p) => p.image)),
  ends: Int32Array.from(parts.flatMap((p) => [...p.ends])),
});
