// The small CLIP with LoRA on emoji pairs: its loss after the frozen layers, which are run once and kept.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEmoji } from '../src/data/emoji.node.ts';
import { drawPartition } from '../src/data/partitions.ts';
import * as ecif from '../src/index.ts';
import { clipBatch, type ClipModel, clipModel } from '../src/models/clip/clip.ts';
import { fileFolder } from '../src/models/clip/files.node.ts';
import { openClipDirectory } from '../src/models/clip/hf-directory.ts';
import { type Adapter, chooseLora, initLora, type Lora } from '../src/models/clip/lora.ts';
import { afterPrefix, joinPrefixes, type Prefix, prefixOf, prefixRows } from '../src/models/clip/prefix.ts';
import { CLIP_NORMALIZE } from '../src/models/clip/preprocess.ts';
import { loadClip } from '../src/models/clip/weights.ts';
import type { StreamedLoss } from '../src/models/streamed.ts';

const SMALL = join(dirname(fileURLToPath(import.meta.url)), '../models/small-clip');
/** Unicode groups of the pairs; flags are left out, as in the training of the model. */
const GROUPS = ['Animals & Nature', 'Food & Drink', 'Activities', 'Travel & Places', 'Objects', 'Smileys & Emotion'];
const AT_ONCE = 64;
/** Pairs of a batch. */
export const BATCH = 16;

/** The adapted model, and all pairs at its first adapted layers. */
export interface EmojiProblem {
  readonly device: ecif.Device;
  readonly whole: ClipModel;
  readonly model: ecif.Model<Adapter, Prefix>;
  readonly pairs: Prefix;
  readonly count: number;
  /** Where training starts, and what L2 pulls to. */
  readonly start: Adapter;
}

/** Batches of emoji pairs. */
export type EmojiStream = StreamedLoss<Adapter, Prefix>;

/** A picture as the model takes it, channel by channel, from 1 − value of every channel. */
function normalized(pixels: Float32Array): Float32Array {
  const { mean, std } = CLIP_NORMALIZE;
  const area = pixels.length / 3;
  return Float32Array.from({ length: pixels.length }, (_, i) => {
    const channel = Math.floor(i / area);
    return (1 - pixels[(i % area) * 3 + channel] - mean[channel]) / std[channel];
  });
}

/** Opens the model of the repository with LoRA of rank 4 on q and v of the last layer of each tower, and runs all pairs up to there. */
export async function emojiProblem(device: ecif.Device): Promise<EmojiProblem> {
  const folder = await fileFolder(SMALL);
  const directory = await openClipDirectory(folder);
  const { config } = directory;
  const [tokenizer, clip] = [await directory.tokenizer(), await loadClip(config, directory.weights, device)];
  await folder.close();
  const layers = { text: [config.text.layers - 1], vision: [config.vision.layers - 1] };
  const lora: Lora = chooseLora(config, { rank: 4, alpha: 8, targets: ['q_proj', 'v_proj'], layers });
  const whole = clipModel(clip, lora);
  const emoji = await readEmoji({ groups: GROUPS, side: config.vision.imageSize });
  // An order of its own, so that neighbours are no likelier to share a batch.
  const order = ecif.createRng(1).permutation(emoji.length);
  const parts: Prefix[] = [];
  for (let first = 0; first < emoji.length; first += AT_ONCE) {
    const some = Array.from(order.subarray(first, first + AT_ONCE), (i) => emoji[i]);
    const pixels = some.flatMap((pair) => [...normalized(pair.pixels)]);
    const ids = some.map(({ caption }) => tokenizer.encode(caption));
    const batch = clipBatch(config, device, ids, Float32Array.from(pixels), config.text.positions);
    parts.push(prefixOf(whole, batch));
    ecif.disposeTree(batch);
    await device.tick();
  }
  const pairs = ecif.scope(() => joinPrefixes(parts));
  ecif.disposeTree(parts);
  const start = initLora(config, lora, device, ecif.createRng(2), 'normal');
  return { device, whole, model: afterPrefix(whole), pairs, count: emoji.length, start };
}

/**
 * The loss of the first pairs in random batches.
 * @param l2 δ for each pair
 */
export function emojiLoss(
  { model, pairs, start }: EmojiProblem,
  count: number,
  batch: number,
  l2: number,
): EmojiStream {
  return {
    model,
    partitions: [drawPartition(ecif.createRng(3), count, batch)],
    batch: (rows) => Promise.resolve(ecif.scope(() => prefixRows(pairs, rows))),
    l2: l2 * count,
    centre: start,
  };
}
