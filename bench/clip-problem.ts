// The CLIP models that are measured, with pairs for them and an adapter of the last two layers of each tower.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as ecif from '../src/index.ts';
import { type Clip, type ClipBatch, clipBatch, type ClipModel, clipModel } from '../src/models/clip/clip.ts';
import type { ClipConfig } from '../src/models/clip/config.ts';
import { parseClipConfig } from '../src/models/clip/config-parse.ts';
import { fileFolder } from '../src/models/clip/files.node.ts';
import { openClipDirectory } from '../src/models/clip/hf-directory.ts';
import { type Adapter, adapterShapes, chooseLora, type Lora, LORA_TARGETS } from '../src/models/clip/lora.ts';
import { loadClip } from '../src/models/clip/weights.ts';
import { initClip } from '../src/models/clip/weights-init.ts';

const SMALL = join(dirname(fileURLToPath(import.meta.url)), '../models/small-clip');
const ADAPTED_LAYERS = 2;

/** The trained model of the repository. */
export async function smallClip(device: ecif.Device): Promise<Clip> {
  const folder = await fileFolder(SMALL);
  const { config, weights } = await openClipDirectory(folder);
  const clip = await loadClip(config, weights, device);
  await folder.close();
  return clip;
}

/** A model of the sizes of ViT-B/16, its weights drawn. */
export function clipB16(device: ecif.Device): Promise<Clip> {
  const config = parseClipConfig('ViT-B/16', '{"vision_config": {"patch_size": 16}}');
  return Promise.resolve(initClip(config, device, ecif.createRng(1)));
}

/** Pairs in host memory. */
export interface HostPairs {
  readonly ids: readonly Int32Array[];
  readonly pixels: Float32Array;
}

/** Random pairs; texts differ in length, and the first is as long as the model allows. */
export function drawPairs({ text, vision }: ClipConfig, count: number): HostPairs {
  const rng = ecif.createRng(2);
  const ids = Array.from({ length: count }, (_, k) => {
    const row = new Int32Array(text.positions - (k % (text.positions >> 1)));
    return row.map((_id, i) => (i < row.length - 1 ? Math.floor(rng.uniform() * text.eos) : text.eos));
  });
  const size = count * vision.channels * vision.imageSize ** 2;
  return { ids, pixels: Float32Array.from({ length: size }, () => rng.normal()) };
}

/** The last layers of a tower. */
const lastOf = (layers: number): number[] =>
  Array.from({ length: layers }, (_, i) => i).slice(-Math.min(ADAPTED_LAYERS, layers));

/** A, B and a direction, B not zero: at zero half of the second derivatives would be. */
function drawAdapter(config: ClipConfig, lora: Lora, device: ecif.Device, seed: number): Adapter {
  const rng = ecif.createRng(seed);
  const leaves = [...adapterShapes(config, lora)].map(([name, shape]) => {
    const deviation = name.endsWith('lora_A.weight') ? 1 / Math.sqrt(shape[1]) : 0.05;
    const values = Float32Array.from({ length: shape[0] * shape[1] }, () => deviation * rng.normal());
    return [name, ecif.keep(ecif.tensor(device, values, shape))] as const;
  });
  return Object.fromEntries(leaves);
}

/** An adapted model on a device, with pairs, parameters and a direction. */
export interface ClipProblem {
  readonly model: ClipModel;
  readonly batch: ClipBatch;
  readonly theta: Adapter;
  readonly direction: Adapter;
}

/** LoRA of rank 8 on all six maps of the last two layers of both towers. */
export function adapted(clip: Clip, { ids, pixels }: HostPairs): ClipProblem {
  const { config, device } = clip;
  const layers = { vision: lastOf(config.vision.layers), text: lastOf(config.text.layers) };
  const lora = chooseLora(config, { rank: 8, alpha: 16, targets: LORA_TARGETS, layers });
  return {
    model: clipModel(clip, lora),
    batch: clipBatch(config, device, ids, pixels),
    theta: drawAdapter(config, lora, device, 3),
    direction: drawAdapter(config, lora, device, 4),
  };
}
