// CLIP as a function of all of its weights, for training from scratch.

import { linear } from '../../autodiff/ops/matmul.ts';
import { exp } from '../../autodiff/ops/unary.ts';
import { keep, type Tensor, tensor } from '../../autodiff/tensor.ts';
import { EcifError } from '../../array/errors.ts';
import type { Model } from '../model.ts';
import { type Clip, type ClipBatch, embedImages, embedTexts } from './clip.ts';
import type { ClipConfig } from './config.ts';
import { headMaps, type Net } from './layers.ts';

/** Every tensor of a model by Hugging Face's name, `logit_scale` among them. */
export type ClipWeights = Readonly<Record<string, Tensor>>;

/** The affine maps of a model at these weights. */
function netOf(theta: ClipWeights): Net {
  const weight = (name: string): Tensor => {
    const found = theta[name] as Tensor | undefined;
    if (found === undefined) throw new EcifError(`clip: ${name} is not among the parameters; add it`);
    return found;
  };
  const dense: Net['dense'] = (name, x, act) =>
    linear(x, weight(`${name}.weight`), { bias: weight(`${name}.bias`), act: act ?? 'none' });
  const heads = headMaps(
    (name) => weight(`${name}.weight`),
    () => undefined,
  );
  return { weight, dense, heads };
}

/**
 * CLIP as a function of all weights, the temperature among them.
 * @example const model = fullModel(config); const { u, v } = model.embed(allWeights(clip), batch);
 */
export const fullModel = (config: ClipConfig): Model<ClipWeights, ClipBatch> => ({
  embed: (theta, { text, pixels }) => ({
    u: embedTexts(netOf(theta), config, text),
    v: embedImages(netOf(theta), config, pixels),
  }),
  scale: ({ logit_scale: logScale }) => exp(logScale),
});

/** All weights of a model as parameters; its tensors are shared, not copied. */
export const allWeights = ({ device, tensors, logitScale }: Clip): ClipWeights => ({
  ...Object.fromEntries(tensors),
  logit_scale: keep(tensor(device, Float64Array.of(logitScale), [])),
});

/** Parameters as a model; its tensors are shared, not copied. */
export async function clipOfWeights(config: ClipConfig, theta: ClipWeights): Promise<Clip> {
  const { logit_scale: logScale, ...rest } = theta;
  return {
    config,
    device: logScale.device,
    tensors: new Map(Object.entries(rest)),
    logitScale: await logScale.item(),
  };
}
