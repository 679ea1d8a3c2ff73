// The demo's data: emoji and their names, split into trained pairs, unseen emoji and unseen skin tones.

import type { Rng } from '../array/rng.ts';
import { EcifError } from '../array/errors.ts';
import { tensor } from '../autodiff/tensor.ts';
import { captionFeatures } from '../data/captions.ts';
import type { EmojiPair } from '../data/emoji.node.ts';
import type { Device } from '../device/open.ts';
import type { PairBatch } from '../models/model.ts';

/** Pairs on a device, with what they are. */
export interface PairSet {
  readonly pairs: readonly EmojiPair[];
  readonly batch: PairBatch;
}

/** The three sets. */
export interface Split {
  readonly trained: PairSet;
  /** Captions of trained pairs with pictures in a skin tone that no trained pair has. */
  readonly unseenTone: PairSet;
  /** Neither picture nor caption is in a trained pair. */
  readonly unseenEmoji: PairSet;
}

/** The pairs as rows of features. */
export function toBatch(device: Device, pairs: readonly EmojiPair[], features: number, variant = false): PairBatch {
  const values = pairs[0].pixels.length;
  const [text, image] = [new Float32Array(pairs.length * features), new Float32Array(pairs.length * values)];
  pairs.forEach((pair, i) => {
    text.set(captionFeatures(pair.caption, features), i * features);
    image.set(variant && pair.variant !== null ? pair.variant : pair.pixels, i * values);
  });
  return { text: tensor(device, text, [pairs.length, features]), image: tensor(device, image, [pairs.length, values]) };
}

/**
 * Splits pairs at random and puts them on a device.
 * @param unseen how many emoji to keep from training
 * @throws EcifError when there are too few pairs
 */
export function split(device: Device, rng: Rng, pairs: readonly EmojiPair[], unseen: number, features: number): Split {
  const order = Array.from(rng.permutation(pairs.length), (i) => pairs[i]);
  const [held, trained] = [order.slice(0, unseen), order.slice(unseen)];
  const toned = trained.filter((pair) => pair.variant !== null);
  if (held.length < unseen || trained.length < 32 || toned.length === 0) {
    throw new EcifError(`demo: ${pairs.length} pairs, ${toned.length} of them in two skin tones; read more groups`);
  }
  const set = (members: readonly EmojiPair[], variant = false): PairSet => ({
    pairs: members,
    batch: toBatch(device, members, features, variant),
  });
  return { trained: set(trained), unseenTone: set(toned, true), unseenEmoji: set(held) };
}
