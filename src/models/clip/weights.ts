// Weights of a CLIP model: from a file to a device one by one, with adapters merged, and back as named tensors.

import { keep, scope, type Tensor, tensor } from '../../autodiff/tensor.ts';
import { matmul } from '../../autodiff/ops/matmul.ts';
import type { HostArray } from '../../device/device.ts';
import type { Device } from '../../device/open.ts';
import type { Clip } from './clip.ts';
import { type ClipConfig, clipShapes } from './config.ts';
import { type Adapter, type Lora, updateOf } from './lora.ts';
import { finiteValues, requireTensors, type Safetensors } from './safetensors.ts';

/** A named tensor whose values are read from the device when their turn comes. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  values(): Promise<HostArray>;
}

const LOGIT_SCALE = 'logit_scale';

/** Tensors of a file on a device, one after the other, so that one at a time is in host memory. */
export async function placeTensors(
  file: Safetensors,
  shapes: ReadonlyMap<string, readonly number[]>,
  device: Device,
): Promise<Map<string, Tensor>> {
  requireTensors(file, shapes);
  const placed = new Map<string, Tensor>();
  try {
    for (const [name, shape] of shapes) {
      placed.set(name, keep(tensor(device, await finiteValues(file, name), shape)));
      await device.tick();
    }
  } catch (error) {
    for (const one of placed.values()) one.dispose();
    throw error;
  }
  return placed;
}

/**
 * Puts the weights of a model on a device; tensors the model has no use for are left out.
 * @throws EcifError that names file and tensor if one is missing, has another shape or a value that is no number
 * @example const clip = await loadClip(config, await openSafetensors(source), device);
 */
export async function loadClip(config: ClipConfig, file: Safetensors, device: Device): Promise<Clip> {
  const shapes = new Map(clipShapes(config));
  requireTensors(file, shapes);
  shapes.delete(LOGIT_SCALE);
  const [logitScale] = await finiteValues(file, LOGIT_SCALE);
  return { config, device, logitScale, tensors: await placeTensors(file, shapes, device) };
}

/** Gives back the memory of a model's weights. */
export function disposeClip({ tensors }: Pick<Clip, 'tensors'>): void {
  for (const one of tensors.values()) one.dispose();
}

/**
 * The model with its adapter worked into the weights: W + scale·B·A. Weights that are not adapted are shared with the
 * model it is made of, which must outlive it.
 * @example const merged = await mergeClip(clip, lora, theta); clipModel(merged).embed({}, batch);
 */
export async function mergeClip(clip: Clip, lora: Lora, theta: Adapter): Promise<Clip> {
  const tensors = new Map(clip.tensors);
  for (const module of lora.modules) {
    const name = `${module}.weight`;
    const [w, update] = [tensors.get(name), updateOf(lora, theta, module)];
    if (w === undefined || update === undefined) continue;
    tensors.set(name, keep(scope(() => matmul(update.b, update.a, { alpha: update.scale, addend: w }))));
  }
  const logitScale = LOGIT_SCALE in theta ? await theta.logit_scale.item() : clip.logitScale;
  return { ...clip, tensors, logitScale };
}

/** Every tensor of a model, to be written one at a time. */
export function* clipTensors({ tensors, logitScale }: Clip): Generator<NamedTensor> {
  yield { name: LOGIT_SCALE, shape: [], values: () => Promise.resolve(Float64Array.of(logitScale)) };
  for (const [name, one] of tensors) yield { name, shape: one.shape, values: () => one.data() };
}
