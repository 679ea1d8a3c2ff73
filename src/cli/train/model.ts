// The model of a run: a CLIP folder with a fresh adapter, or fresh weights for a configuration; and how it is saved.

import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { keep, tensor } from '../../autodiff/tensor.ts';
import { hashOfFile } from '../../data/score-files.node.ts';
import type { Device } from '../../device/open.ts';
import { clipModel } from '../../models/clip/clip.ts';
import { parseClipConfig } from '../../models/clip/config-parse.ts';
import { fileFolder } from '../../models/clip/files.node.ts';
import { allWeights, clipOfWeights } from '../../models/clip/full.ts';
import { openClipDirectory, readPreprocess, readTokenizer } from '../../models/clip/hf-directory.ts';
import { saveAdapter, saveClip } from '../../models/clip/hf-directory.node.ts';
import { adapterTensors, peftConfig } from '../../models/clip/lora-peft.ts';
import { type Adapter, initLora } from '../../models/clip/lora.ts';
import { streamOf } from '../../models/clip/train-streams.ts';
import { initClip } from '../../models/clip/weights-init.ts';
import { clipTensors, loadClip } from '../../models/clip/weights.ts';
import type { Embedder } from '../evaluate/run.ts';
import { readText } from '../files.ts';
import type { ClipInputs, ReadyPairs } from '../runs/pairs.ts';
import type { Progress } from '../progress.ts';
import { copyInputs } from '../runs/run-folder.ts';
import { loraOf, type TrainSettings } from './options.ts';
import { fullTask, loraTask, type RunTask } from './task.ts';

/** What a run trains. */
export interface RunModel extends ClipInputs {
  /** What is trained, in words for `run.json`. */
  readonly what: Readonly<Record<string, unknown>>;
  /** A hash of the weights that training begins with, or of what they are drawn by. */
  readonly weights: string;
  /** Parameters before the first step; new tensors at every call. */
  start(): Adapter;
  task(pairs: ReadyPairs, cacheFile: string, progress: Progress): Promise<RunTask>;
  /** The model at some parameters, ready to embed. */
  embedder(theta: Adapter): Promise<Embedder>;
  /** Writes the trained model or adapter to a folder. */
  save(theta: Adapter, folder: string): Promise<void>;
}

/** A hash of all weights in a folder. */
async function hashOfWeights(path: string): Promise<string> {
  const files = readdirSync(path).filter((name) => name.endsWith('.safetensors'));
  const hash = createHash('sha256');
  for (const name of files.sort()) hash.update(`${name} ${await hashOfFile(join(path, name))}\n`);
  return hash.digest('hex');
}

/** An adapter on a CLIP folder. */
async function adapted(path: string, device: Device, settings: TrainSettings): Promise<RunModel> {
  const folder = await fileFolder(path);
  try {
    const directory = await openClipDirectory(folder);
    const { config, preprocess } = directory;
    const lora = loraOf(config, settings);
    const tokenizer = await directory.tokenizer();
    const clip = await loadClip(config, directory.weights, device);
    const scale = (): Adapter =>
      settings.temperature ? { logit_scale: tensor(device, Float64Array.of(clip.logitScale), []) } : {};
    return {
      ...{ config, preprocess, tokenizer },
      what: { kind: 'lora', model: path, ...lora },
      weights: await hashOfWeights(path),
      start: () => keep({ ...initLora(config, lora, device, streamOf(settings.seed, 'init')), ...scale() }),
      task: (pairs, file, progress) => loraTask(clip, lora, pairs, settings, file, progress),
      embedder: (theta) => Promise.resolve({ config, preprocess, tokenizer, model: clipModel(clip, lora), theta }),
      save: (theta, out) => saveAdapter(out, peftConfig(lora, path), adapterTensors(theta)),
    };
  } finally {
    await folder.close();
  }
}

/** All weights of a configuration; its tokenizer and preprocessing lie beside it. */
async function fresh(path: string, device: Device, settings: TrainSettings): Promise<RunModel> {
  const text = readText(path);
  const config = parseClipConfig(path, text);
  const folder = await fileFolder(dirname(path));
  try {
    const tokenizer = await readTokenizer(folder, config.text.positions);
    if (tokenizer.size > config.text.vocabulary) {
      const sizes = `${tokenizer.size} tokens beside it, vocab_size ${config.text.vocabulary}`;
      throw new EcifError(`${path}: ${sizes}; give a tokenizer and a configuration that fit`);
    }
    const inputs = { config, tokenizer, preprocess: await readPreprocess(folder, config.vision.imageSize) };
    return {
      ...inputs,
      what: { kind: 'all weights', config: path },
      weights: createHash('sha256').update(text).digest('hex'),
      start: () => allWeights(initClip(config, device, streamOf(settings.seed, 'init'))),
      task: (pairs) => Promise.resolve(fullTask(pairs, device, settings)),
      embedder: async (theta) => ({ ...inputs, model: clipModel(await clipOfWeights(config, theta)), theta: {} }),
      save: async (theta, out) => {
        await saveClip(out, JSON.parse(text), clipTensors(await clipOfWeights(config, theta)));
        copyInputs(path, out);
      },
    };
  } finally {
    await folder.close();
  }
}

/** Opens what the settings ask for. */
export function openRunModel(settings: TrainSettings, device: Device): Promise<RunModel> {
  const { model, 'from-scratch': scratch } = settings;
  if (model !== undefined) return adapted(model, device, settings);
  return fresh(scratch as string, device, settings);
}
