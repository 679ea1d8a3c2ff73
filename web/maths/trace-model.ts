// Chapter 6: the small CLIP with an adapter that is trained here, once for each device and choice of swapped captions.

import * as ecif from '../../src/index.ts';
import { stacked } from '../../src/models/stacked.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { Report } from './computation.ts';
import { batchesOf } from './pairs.ts';
import { TRACE_BATCH, traceCaptions } from './trace-pairs.ts';

/** What every question of the chapter is about. */
export interface TrainingAsked {
  /** Address of the folder of the small CLIP, or the folder itself. */
  readonly model: string | ecif.ByteFolder;
  /** Decoded pictures of `TRACE_PAIRS`. */
  readonly pictures: readonly ecif.DecodedImage[];
  /** Twosomes of training pairs whose captions are exchanged. */
  readonly swaps: number;
}

/** How the adapter is trained: large δ and α, so that it settles, and one more pair moves it a little. */
export const RECIPE = { rank: 8, alpha: 4096, targets: ['fc2'], layers: { text: [], vision: [3] } } as const;
const [DECAY, SEED] = [50_000, 0];
/** ‖∇L‖ for each pair at which training ends, and the relative residual of solves. */
const ACCURACY = { cpu: { gradient: 1e-5, solve: 1e-6 }, webgpu: { gradient: 1e-4, solve: 1e-3 } } as const;

/** Files of the model; no others are asked for. */
const FILES = [
  ...['config.json', 'preprocessor_config.json', 'tokenizer_config.json', 'vocab.json', 'merges.txt'],
  'model.safetensors',
];

/** The small CLIP on a device, and the embeddings of all captions. */
export interface LoadedClip {
  readonly model: ecif.ClipModel;
  readonly lora: ecif.Lora;
  /** Of every emoji, (n, d); the adapter does not touch them. */
  readonly texts: ecif.Tensor;
  /** Pictures up to the layer that is adapted. */
  images(pictures: readonly ecif.DecodedImage[]): ecif.Tensor;
}

/** A trained adapter with all that questions to it need. */
export interface Trained {
  readonly clip: LoadedClip;
  readonly loss: ecif.StreamedLoss<ecif.Adapter, ecif.Prefix>;
  /** Before training. */
  readonly start: ecif.Adapter;
  readonly theta: ecif.Adapter;
  readonly about: TrainedAbout;
  /** H of the objective at θ̂. */
  readonly h: ecif.IterativeSolver<ecif.Adapter>;
  settle(loss: Trained['loss'], from: ecif.Adapter, report: Report, text: string): Promise<ecif.Settled<ecif.Adapter>>;
  solverAt(loss: Trained['loss'], theta: ecif.Adapter): Promise<ecif.IterativeSolver<ecif.Adapter>>;
}

/** How the training went. */
export interface TrainedAbout {
  readonly parameters: number;
  readonly pairs: number;
  readonly swapped: number;
  readonly iterations: number;
  readonly objective: { readonly before: number; readonly after: number };
  readonly gradientNorm: number;
  readonly status: string;
}

/** A number that two lists of pictures share only by accident. */
export const fingerprint = (pictures: readonly ecif.DecodedImage[]): string =>
  pictures
    .map(({ width, height, data }) => {
      let hash = 2166136261;
      for (const byte of data) hash = Math.imul(hash ^ byte, 16777619);
      return `${width}x${height}:${hash >>> 0}`;
    })
    .join();

/** Opens the model, with progress. */
async function load(device: ecif.Device, model: TrainingAsked['model'], report: Report): Promise<LoadedClip> {
  const onProgress = ({ file, received, total }: ecif.FetchProgress): void =>
    report(`loading ${file}`, total === null ? null : received / total);
  const folder = typeof model === 'string' ? ecif.urlFolder(model, { files: FILES, onProgress }) : model;
  const { config, weights, preprocess, tokenizer } = await ecif.openClipDirectory(folder);
  const { encode } = await tokenizer();
  const clip = await ecif.loadClip(config, weights, device);
  const lora = ecif.chooseLora(config, RECIPE);
  const made = ecif.clipModel(clip, lora);
  const side = config.vision.imageSize;
  const captions = EMOJI.map(({ caption }) => encode(caption));
  const frozen = made.net({});
  const texts = ecif.scope(() => ecif.embedTexts(frozen, config, ecif.textBatch(config, device, captions)));
  const images = (pictures: readonly ecif.DecodedImage[]): ecif.Tensor => {
    const pixels = new Float32Array(pictures.length * 3 * side * side);
    pictures.forEach((picture, i) => pixels.set(ecif.preprocess(picture, preprocess), i * 3 * side * side));
    const { text, image } = ecif.scope(() =>
      ecif.prefixOf(made, {
        text: ecif.textBatch(config, device, captions.slice(0, 1)),
        pixels: ecif.tensor(device, pixels, [pictures.length, 3, side, side]),
      }),
    );
    text.dispose();
    return image;
  };
  return { model: made, lora, texts, images };
}

/** Rows of a tensor. */
export const rowsOf = (x: ecif.Tensor, rows: ArrayLike<number>): ecif.Tensor =>
  ecif.scope(() => ecif.gather(x, ecif.tensor(x.device, Int32Array.from(rows), [rows.length], 'int')));

/** The objective: the pairs in their batches, over pictures whose frozen layers were computed once. */
function objective(clip: LoadedClip, start: ecif.Adapter, { pictures, swaps }: TrainingAsked): Trained['loss'] {
  const [captions, images] = [traceCaptions(swaps), clip.images(pictures)];
  return {
    model: ecif.afterPrefix(clip.model),
    partitions: [batchesOf(captions.length, TRACE_BATCH).map((rows) => Uint32Array.from(rows))],
    batch: async (rows) => ({
      text: rowsOf(
        clip.texts,
        Array.from(rows, (row) => captions[row]),
      ),
      image: rowsOf(images, rows),
      ends: new Int32Array(rows.length),
    }),
    l2: DECAY,
    centre: start,
  };
}

/** Trains the adapter. */
async function train(clip: LoadedClip, asked: TrainingAsked, report: Report): Promise<Trained> {
  const { device, config } = clip.model.clip;
  const start = ecif.keep(ecif.initLora(config, clip.lora, device, ecif.streamOf(SEED, 'init')));
  report('computing the frozen layers', null);
  const loss = objective(clip, start, asked);
  const { gradient, solve } = ACCURACY[device.kind];
  const [pairs, tolerance] = [asked.pictures.length, gradient * asked.pictures.length];
  const settle: Trained['settle'] = async (of, from, tell, text) => {
    let first = 0;
    return ecif.settle(await stacked(of), from, {
      tolerance,
      onIteration: (_, __, ___, norm) => {
        first = Math.max(first, norm);
        tell(text, Math.min(1, Math.max(0, Math.log(first / norm) / Math.log(first / tolerance))));
      },
    });
  };
  const solverAt: Trained['solverAt'] = async (of, at) =>
    ecif.cgSolver(of, at, { tolerance: solve, products: 'linearized' });
  const { value: before, gradient: slope } = await ecif.objectiveOf(loss)(start);
  ecif.disposeTree(slope);
  const settled = await settle(loss, start, report, 'training the adapter');
  const { theta, value: after, gradientNorm, status, iterations } = settled;
  const about = {
    parameters: Object.values(theta).reduce((sum, { size }) => sum + size, 0),
    pairs,
    swapped: 2 * asked.swaps,
    iterations: iterations.lbfgs + iterations.newton,
    objective: { before, after },
    ...{ gradientNorm, status },
  };
  return { clip, loss, start, theta, about, h: await solverAt(loss, theta), settle, solverAt };
}

const kept = new WeakMap<ecif.Device, Map<string, Promise<unknown>>>();

/** What `make` makes, once for a device and a key; made anew where it failed. */
function once<R>(device: ecif.Device, key: string, make: () => Promise<R>): Promise<R> {
  const made = kept.get(device) ?? new Map<string, Promise<unknown>>();
  kept.set(device, made);
  const found = (made.get(key) as Promise<R> | undefined) ?? make();
  made.set(key, found);
  found.catch(() => made.delete(key));
  return found;
}

/** The adapter trained as asked, kept for the session. */
export async function trained(device: ecif.Device, asked: TrainingAsked, report: Report): Promise<Trained> {
  const name = typeof asked.model === 'string' ? asked.model : asked.model.name;
  const clip = await once(device, name, () => load(device, asked.model, report));
  const key = `${name} ${asked.swaps} ${fingerprint(asked.pictures)}`;
  return once(device, key, () => train(clip, asked, report));
}
