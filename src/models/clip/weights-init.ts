// CLIP models that were never trained, with weights drawn as Hugging Face draws them.

import { type Rng } from '../../array/rng.ts';
import { type Shape, sizeOf } from '../../array/shape.ts';
import { keep, tensor } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import type { Clip } from './clip.ts';
import { type ClipConfig, clipShapes } from './config.ts';
import type { NamedTensor } from './weights.ts';

/** Deviation of the entries of a tensor; layer norms and biases are not drawn. */
function deviation({ vision, text }: ClipConfig, name: string): number {
  const { width, layers } = name.startsWith('text') ? text : vision;
  const deep = 1 / Math.sqrt(2 * layers);
  if (name.endsWith('fc1.weight')) return 1 / Math.sqrt(2 * width);
  if (/(?:[qkv]_proj|fc2)\.weight$/.test(name)) return deep / Math.sqrt(width);
  if (/(?:out_proj|_projection)\.weight$|class_embedding$/.test(name)) return 1 / Math.sqrt(width);
  return 0.02;
}

/** Values of one tensor. */
function drawn(config: ClipConfig, name: string, shape: Shape, rng: Rng): Float64Array {
  const values = new Float64Array(sizeOf(shape));
  if (/norm\d?\.weight$/.test(name)) return values.fill(1);
  if (name.endsWith('.bias')) return values;
  const scale = deviation(config, name);
  for (let i = 0; i < values.length; i++) values[i] = scale * rng.normal();
  return values;
}

/**
 * Random weights to be written one at a time; equal seeds give equal ones.
 * @example await saveClip('random', settings, randomTensors(config, createRng(0)));
 */
export function* randomTensors(config: ClipConfig, rng: Rng): Generator<NamedTensor> {
  for (const [name, shape] of clipShapes(config)) {
    const values = (): Float64Array =>
      name === 'logit_scale' ? Float64Array.of(config.logitScale) : drawn(config, name, shape, rng);
    yield { name, shape, values: () => Promise.resolve(values()) };
  }
}

/**
 * Random weights; equal seeds give equal ones.
 * @example const clip = initClip(config, device, createRng(0));
 */
export function initClip(config: ClipConfig, device: Device, rng: Rng): Clip {
  const shapes = [...clipShapes(config)].filter(([name]) => name !== 'logit_scale');
  const tensors = shapes.map(
    ([name, shape]) => [name, keep(tensor(device, drawn(config, name, shape, rng), shape))] as const,
  );
  return { config, device, tensors: new Map(tensors), logitScale: config.logitScale };
}
