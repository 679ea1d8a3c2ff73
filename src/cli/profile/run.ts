// What a CLIP folder costs: time and memory of loading, embedding, a gradient and a Hessian product.

import { createRng } from '../../array/rng.ts';
import { treeLeaves, treeMap } from '../../array/tree.ts';
import { dot } from '../../array/vector.ts';
import { hvp } from '../../autodiff/curvature.ts';
import { disposeTree, scope, type Tensor, tensor } from '../../autodiff/tensor.ts';
import { valueAndGrad } from '../../autodiff/transforms.ts';
import type { Device } from '../../device/open.ts';
import {
  type ClipBatch,
  clipBatch,
  type ClipModel,
  clipModel,
  embedImages,
  embedTexts,
} from '../../models/clip/clip.ts';
import { type ClipConfig, countParameters } from '../../models/clip/config.ts';
import { fileFolder } from '../../models/clip/files.node.ts';
import { openClipDirectory } from '../../models/clip/hf-directory.ts';
import { type Adapter, initLora, type Lora } from '../../models/clip/lora.ts';
import { afterPrefix, prefixOf } from '../../models/clip/prefix.ts';
import { normalizePixels, type PreprocessConfig } from '../../models/clip/preprocess.ts';
import type { Tokenizer } from '../../models/clip/tokenizer.ts';
import { disposeClip, loadClip } from '../../models/clip/weights.ts';
import { batchLoss, type Model } from '../../models/model.ts';
import type { Progress } from '../progress.ts';

/** One thing that was done. */
export interface Stage {
  readonly name: string;
  readonly seconds: number;
  /** Bytes on the device at its end, and the most so far. */
  readonly device: number;
  readonly devicePeak: number;
  /** Bytes of JavaScript's heap and buffers, and of the process before the first stage, at most so far. */
  readonly hostPeak: number;
}

/** What {@link profileClip} found. */
export interface Profile {
  readonly device: string;
  readonly parameters: number;
  readonly trained: number;
  readonly pairs: number;
  readonly stages: readonly Stage[];
  /** Bytes of the whole process, at most: host, driver, and the device's memory where software holds it. */
  readonly process: number;
  /** Numbers that show that something was computed. */
  readonly results: { readonly cosine: number; readonly loss: number; readonly gradient: number; readonly hvp: number };
}

/** Watches the memory of the host: what software adapters hold for the device is not in it. */
function hostWatch(device: Device): { peak(): number; look(): void; stop(): void } {
  const before = process.memoryUsage();
  const base = before.rss - before.heapTotal - before.external;
  let most = 0;
  const look = (): void => {
    const { heapTotal, external } = process.memoryUsage();
    const held = device.kind === 'cpu' ? device.memory().live : 0;
    most = Math.max(most, base + heapTotal + external - held);
  };
  const timer = setInterval(look, 10);
  return { look, peak: () => most, stop: () => clearInterval(timer) };
}

/** Times stages one after the other. */
function stageTimer(device: Device, progress: Progress) {
  const [watch, stages] = [hostWatch(device), [] as Stage[]];
  const run = async <R>(name: string, f: () => R | Promise<R>): Promise<R> => {
    progress.status(name);
    const began = performance.now();
    const result = await f();
    await device.sync();
    watch.look();
    const { live, pooled, peak } = device.memory();
    const seconds = (performance.now() - began) / 1000;
    stages.push({ name, seconds, device: live + pooled, devicePeak: peak, hostPeak: watch.peak() });
    return result;
  };
  return { run, stages, stop: watch.stop };
}

const lengthOf = async (tree: Adapter): Promise<number> => {
  let sum = 0;
  for (const leaf of treeLeaves<Tensor>(tree)) for (const x of await leaf.data()) sum += x * x;
  return Math.sqrt(sum);
};

/** A direction of unit normal entries. */
const direction = (theta: Adapter, seed: number): Adapter => {
  const rng = createRng(seed);
  return treeMap<Tensor, Adapter>(theta, (x) =>
    tensor(
      x.device,
      Float64Array.from({ length: x.size }, () => rng.normal()),
      x.shape,
    ),
  );
};

/** What pairs are made with. */
interface Inputs {
  readonly config: ClipConfig;
  readonly preprocess: PreprocessConfig;
  readonly tokenizer: Tokenizer;
}

/** Pairs of noise and captions that differ in a number. */
function noisePairs({ config, preprocess, tokenizer }: Inputs, device: Device, count: number): ClipBatch {
  const { imageSize: side } = config.vision;
  const rng = createRng(count);
  const data = Uint8Array.from({ length: count * 3 * side * side }, () => rng.int(256));
  const size = 3 * side * side;
  const pixels = new Float32Array(data.length);
  for (let i = 0; i < count; i++) {
    const image = { width: side, height: side, channels: 3 as const, data: data.subarray(i * size, (i + 1) * size) };
    pixels.set(normalizePixels(image, preprocess), i * size);
  }
  const ids = Array.from({ length: count }, (_, i) => tokenizer.encode(`a photo of a cat number ${i}`));
  return clipBatch(config, device, ids, pixels);
}

type Run = ReturnType<typeof stageTimer>['run'];

/** Gradient and Hessian product of a batch's loss. */
async function derivatives<B>(
  run: Run,
  model: Model<Adapter, B>,
  batch: B,
  theta: Adapter,
  label: string,
): Promise<Omit<Profile['results'], 'cosine'>> {
  const loss = (t: Adapter): Tensor => batchLoss(model, t, batch);
  const { value, grad } = await run(`gradient${label}`, () => scope(() => valueAndGrad(loss)(theta)));
  const v = direction(theta, 1);
  const product = await run(`Hessian product${label}`, () => scope(() => hvp(loss, theta, v)));
  const results = { loss: await value.item(), gradient: await lengthOf(grad), hvp: await lengthOf(product) };
  disposeTree([value, grad, v, product]);
  return results;
}

/** Embeddings of one picture and one text, and their cosine. */
async function embedOne(run: Run, { net, clip: { config } }: ClipModel, batch: ClipBatch): Promise<number> {
  const image = await run('embed a picture', () => scope(() => embedImages(net({}), config, batch.pixels)));
  const text = await run('embed a text', () => scope(() => embedTexts(net({}), config, batch.text)));
  const [u, v] = [Float64Array.from(await text.data()), Float64Array.from(await image.data())];
  disposeTree([image, text]);
  return dot(u, v);
}

/**
 * Loads a CLIP folder, embeds a picture and a text, and takes the gradient and one Hessian product of the loss of a batch
 * with respect to a fresh adapter, with and without the frozen layers computed beforehand.
 * @param chosen what to adapt
 * @param count pairs of the batch
 */
export async function profileClip(
  path: string,
  device: Device,
  chosen: (config: ClipConfig) => Lora,
  count: number,
  progress: Progress,
): Promise<Profile> {
  const folder = await fileFolder(path);
  const { run, stages, stop } = stageTimer(device, progress);
  try {
    const directory = await openClipDirectory(folder);
    const { config, preprocess } = directory;
    const lora = chosen(config);
    const inputs = { config, preprocess, tokenizer: await directory.tokenizer() };
    const clip = await run('load the weights', () => loadClip(config, directory.weights, device));
    const one = noisePairs(inputs, device, 1);
    const cosine = await embedOne(run, clipModel(clip), one);
    const model = clipModel(clip, lora);
    const theta = initLora(config, lora, device, createRng(0));
    const batch = noisePairs(inputs, device, count);
    const results = await derivatives(run, model, batch, theta, '');
    const prefix = await run('frozen layers', () => prefixOf(model, batch));
    await derivatives(run, afterPrefix(model), prefix, theta, ' after them');
    const trained = treeLeaves<Tensor>(theta).reduce((sum, x) => sum + x.size, 0);
    disposeTree([theta, one, batch, prefix]);
    disposeClip(clip);
    return {
      ...{ device: device.name, parameters: countParameters(config), trained, pairs: count, stages },
      process: process.resourceUsage().maxRSS * 1024,
      results: { cosine, ...results },
    };
  } finally {
    stop();
    await folder.close();
  }
}
