// A dataset made ready for a model: captions as token ids, pictures at the model's size.

import { createHash } from 'node:crypto';
import { EcifError } from '../../array/errors.ts';
import type { Rng } from '../../array/rng.ts';
import type { Dataset, StoredPicture } from '../../data/dataset.ts';
import { openDecoder } from '../../data/images.node.ts';
import type { Device } from '../../device/open.ts';
import { type ClipBatch, clipBatch } from '../../models/clip/clip.ts';
import type { ClipConfig } from '../../models/clip/config.ts';
import { normalizePixels, type PreprocessConfig, resizeAndCrop } from '../../models/clip/preprocess.ts';
import type { RgbImage } from '../../models/clip/resize.ts';
import type { Tokenizer } from '../../models/clip/tokenizer.ts';
import { augment, type Augmentation } from '../../models/clip/train-augment.ts';

/** What a model needs of its files. */
export interface ClipInputs {
  readonly config: ClipConfig;
  readonly tokenizer: Tokenizer;
  readonly preprocess: PreprocessConfig;
}

/** Pairs ready for a model. */
export interface ReadyPairs extends ClipInputs {
  readonly dataset: Dataset;
  /** Ids of each caption. */
  readonly tokens: readonly (readonly number[])[];
  /** Tokens of the longest caption. */
  readonly longest: number;
  picture(row: number): Promise<RgbImage>;
  /** A hash of all that the model sees: the ids of every caption and every picture at its size. */
  contents(): Promise<string>;
  /** A hash of the bytes of all pictures as they are stored. */
  pictures(): Promise<string>;
}

const AT_ONCE = 8;

/** Stored pictures that are hashed when they are read, and the hash of all. */
function hashed(stored: readonly StoredPicture[]): { pictures: StoredPicture[]; all(): Promise<string> } {
  const digests: Buffer[] = [];
  const pictures = stored.map((picture, row) => ({
    name: picture.name,
    read: async () => {
      const found = await picture.read();
      const [size, bytes] = found instanceof Uint8Array ? ['', found] : [`${found.width}×${found.height}`, found.data];
      digests[row] ??= createHash('sha256').update(size).update(bytes).digest();
      return found;
    },
  }));
  const all = async (): Promise<string> => {
    const hash = createHash('sha256');
    for (const [row, { read }] of pictures.entries()) {
      if (!(row in digests)) await read();
      hash.update(digests[row]);
    }
    return hash.digest('hex');
  };
  return { pictures, all };
}

/**
 * Tokenizes all captions and, where they fit, decodes all pictures; a picture that cannot be decoded is named at once.
 * @param memory bytes for pictures
 */
export async function readyPairs(inputs: ClipInputs, dataset: Dataset, memory: number): Promise<ReadyPairs> {
  const { config, tokenizer, preprocess } = inputs;
  if (config.vision.channels !== 3) {
    throw new EcifError(`clip: num_channels ${config.vision.channels}; pictures are read with 3, give a model of 3`);
  }
  const decode = await openDecoder();
  const found: StoredPicture[] = [];
  for (const row of dataset.rows) found.push(await dataset.picture(row));
  const { pictures: stored, all: pictures } = hashed(found);
  const digests: Buffer[] = [];
  const read = async (row: number): Promise<RgbImage> => {
    const image = resizeAndCrop(await decode(stored[row]), preprocess);
    digests[row] ??= createHash('sha256').update(image.data).digest();
    return image;
  };
  const held: RgbImage[] = [];
  if (stored.length * 3 * config.vision.imageSize ** 2 <= memory) {
    for (let i = 0; i < stored.length; i += AT_ONCE) {
      const rows = Array.from({ length: Math.min(AT_ONCE, stored.length - i) }, (_, k) => i + k);
      held.push(...(await Promise.all(rows.map(read))));
    }
  }
  const tokens = dataset.rows.map(({ caption }) => tokenizer.encode(caption));
  const longest = tokens.reduce((most, ids) => Math.max(most, ids.length), 1);
  const contents = async (): Promise<string> => {
    const hash = createHash('sha256').update(JSON.stringify([preprocess, tokens]));
    for (const row of stored.keys()) {
      if (!(row in digests)) await read(row);
      hash.update(digests[row]);
    }
    return hash.digest('hex');
  };
  const picture = (row: number): Promise<RgbImage> => Promise.resolve(held[row] ?? read(row));
  return { ...inputs, dataset, tokens, longest, picture, contents, pictures };
}

/**
 * Some pairs on a device.
 * @param changes augmentation of the picture at each position, from the stream of that position
 * @param length tokens to keep at least
 */
export async function batchOfRows(
  pairs: ReadyPairs,
  device: Device,
  rows: ArrayLike<number>,
  { changes, length = 1 }: { changes?: { how: Augmentation; rng(position: number): Rng }; length?: number } = {},
): Promise<ClipBatch> {
  const size = 3 * pairs.config.vision.imageSize ** 2;
  const pixels = new Float32Array(rows.length * size);
  for (let i = 0; i < rows.length; i++) {
    const image = await pairs.picture(rows[i]);
    const seen = changes === undefined ? image : augment(image, changes.how, changes.rng(i));
    pixels.set(normalizePixels(seen, pairs.preprocess), i * size);
  }
  const ids = Array.from(rows, (row) => pairs.tokens[row]);
  return clipBatch(pairs.config, device, ids, pixels, length);
}
