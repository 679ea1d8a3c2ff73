// CLIP models that were never trained, with weights drawn as Hugging Face draws them.

import { type Rng } from '../../array/rng.ts';
import { sizeOf } from '../../array/shape.ts';
import { keep, tensor } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import type { Clip } from './clip.ts';
import { type ClipConfig, clipShapes } from './config.ts';

/** Deviation of the entries of a tensor; layer norms and biases are not drawn. */
function deviation({ vision, text }: ClipConfig, name: string): number {
  const { width, layers } = name.startsWith('text') ? text : vision;
  const deep = 1 / Math.sqrt(2 * layers);
  if (name.endsWith('fc1.weight')) return 1 / Math.sqrt(2 * width);
  if (/(?:[qkv]_proj|fc2)\.weight$/.test(name)) return deep / Math.sqrt(width);
  if (/(?:out_proj|_projection)\.weight$|class_embedding$/.test(name)) return 1 / Math.sqrt(width);
  return 0.02;
}

/**
 * Random weights; equal seeds give equal ones.
 * @example const clip = initClip(config, device, createRng(0));
 */
export function initClip(config: ClipConfig, device: Device, rng: Rng): Clip {
  const shapes = [...clipShapes(config)].filter(([name]) => name !== 'logit_scale');
  const tensors = shapes.map(([name, shape]) => {
    const values = new Float64Array(sizeOf(shape));
    if (/norm\d?\.weight$/.test(name)) values.fill(1);
    else if (!name.endsWith('.bias')) values.forEach((_, i) => (values[i] = deviation(config, name) * rng.normal()));
    return [name, keep(tensor(device, values, shape))] as const;
  });
  return { config, device, tensors: new Map(tensors), logitScale: config.logitScale };
}
