// The small CLIP of a comparison: LoRA on emoji with their names, some captions swapped.

import { EcifError } from '../../array/errors.ts';
import { createRng } from '../../array/rng.ts';
import { drawPartition } from '../../data/partitions.ts';
import { type EmojiPair, readEmoji } from '../../data/emoji.node.ts';
import type { Device } from '../../device/open.ts';
import { clipBatch, clipModel } from '../../models/clip/clip.ts';
import { chooseLora, initLora } from '../../models/clip/lora.ts';
import { afterPrefix, type Prefix, prefixOf, prefixRows } from '../../models/clip/prefix.ts';
import { preprocess } from '../../models/clip/preprocess.ts';
import { type Embedder, openEmbedder } from '../evaluate/run.ts';
import { smallClipFolder } from '../versions.ts';
import { type Posed, posedOf, swapCaptions, trainedTask, type Training } from './task.ts';

/** Sizes of the problem on the small CLIP. */
export interface ClipSizes {
  readonly pairs: number;
  readonly batch: number;
  readonly partitions: number;
  readonly held: number;
  readonly l2: number;
  readonly subsets: number;
}

/** Sizes as they are compared, and for a quick look. */
export const CLIP: Record<'full' | 'quick', ClipSizes> = {
  full: { pairs: 32, batch: 16, partitions: 1, held: 32, l2: 40, subsets: 24 },
  quick: { pairs: 8, batch: 8, partitions: 1, held: 8, l2: 40, subsets: 4 },
};

const GROUPS = ['Animals & Nature', 'Food & Drink', 'Objects'];
const ADAPTED = { rank: 1, alpha: 2, targets: ['out_proj'], layers: { text: [1], vision: [3] } } as const;

/** The model and the pictures that all seeds draw from. */
export interface ClipPool {
  readonly embedder: Embedder;
  readonly emoji: readonly EmojiPair[];
}

/** Opens the model of this package and draws the pictures. */
export async function openPool(device: Device): Promise<ClipPool> {
  const embedder = await openEmbedder(smallClipFolder(), undefined, device);
  const emoji = await readEmoji({ groups: GROUPS, side: embedder.config.vision.imageSize });
  return { embedder, emoji };
}

/** The picture as the model sees it; values of a pair are 1 − brightness. */
function pixelsOf({ config, preprocess: how }: Embedder, { pixels }: EmojiPair): ArrayLike<number> {
  const side = config.vision.imageSize;
  const data = Uint8Array.from(pixels, (value) => Math.round(255 * (1 - value)));
  return preprocess({ width: side, height: side, channels: 3, data }, how);
}

/** How the adapter is trained. */
export const clipTraining = ({ kind }: Device): Training => ({
  ...{ epochs: 8, rate: 0.003, tolerance: kind === 'cpu' ? 3e-3 : 1e-2 },
});

/** Draws the pairs of a seed, swaps captions and trains an adapter on them. */
export async function poseClip({ embedder, emoji }: ClipPool, seed: number, sizes: ClipSizes): Promise<Posed> {
  const { pairs: count, batch: size, partitions: many, held, l2, subsets } = sizes;
  const { config, tokenizer } = embedder;
  const { clip } = embedder.model;
  const { device } = clip;
  if (emoji.length < count + held) {
    throw new EcifError(`compare: ${emoji.length} emoji for ${count + held} pairs; install @twemoji/svg 15 or later`);
  }
  const rng = createRng(seed);
  const drawn = Array.from(rng.permutation(emoji.length).slice(0, count + held), (i) => emoji[i]);
  const { caption, bad } = swapCaptions(rng, count);
  const lora = chooseLora(config, ADAPTED);
  const model = clipModel(clip, lora);
  const prefix = (rows: readonly number[], captionOf: (row: number) => number): Prefix => {
    const ids = rows.map((row) => tokenizer.encode(drawn[captionOf(row)].caption));
    const pixels = rows.flatMap((row) => Array.from(pixelsOf(embedder, drawn[row])));
    return prefixOf(model, clipBatch(config, device, ids, Float32Array.from(pixels)));
  };
  const all = prefix([...Array(count).keys()], (row) => caption[row]);
  const others = prefix(
    Array.from({ length: held }, (_, i) => count + i),
    (row) => row,
  );
  const start = initLora(config, lora, device, rng);
  const partitions = Array.from({ length: many }, () => drawPartition(rng, count, size));
  const batch = (rows: Uint32Array): Promise<Prefix> => Promise.resolve(prefixRows(all, rows));
  const task = await trainedTask(
    { model: afterPrefix(model), partitions, batch, l2, centre: start },
    start,
    others,
    { count, seed },
    clipTraining(device),
  );
  return posedOf(task, bad, subsets);
}
