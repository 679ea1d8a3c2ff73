// Augmentation: a random square cut out of a picture and brought back to its size, mirrored or not.

import type { Rng } from '../../array/rng.ts';
import { resizeImage, type RgbImage } from './resize.ts';

/** What may happen to a picture. */
export interface Augmentation {
  /** Smallest share of each side that is kept; 1 for all. */
  readonly crop: number;
  /** Probability of mirroring left and right. */
  readonly flip: number;
}

/** The part of a picture that begins at a place. */
function cutOut({ width, data }: RgbImage, left: number, top: number, w: number, h: number): RgbImage {
  const part = new Uint8Array(3 * w * h);
  for (let y = 0; y < h; y++) {
    const from = 3 * ((top + y) * width + left);
    part.set(data.subarray(from, from + 3 * w), 3 * y * w);
  }
  return { width: w, height: h, data: part };
}

/** The picture as in a mirror. */
function mirrored({ width, height, data }: RgbImage): RgbImage {
  const out = new Uint8Array(data.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = 3 * (y * width + width - 1 - x);
      out.set(data.subarray(from, from + 3), 3 * (y * width + x));
    }
  }
  return { width, height, data: out };
}

/**
 * A picture of the same size, changed at random.
 * @param rng draws the share, left, top, and, if there is a probability, mirroring
 * @example augment(image, { crop: 0.8, flip: 0.5 }, createRng(0));
 */
export function augment(image: RgbImage, { crop, flip }: Augmentation, rng: Rng): RgbImage {
  const { width, height } = image;
  const share = crop + (1 - crop) * rng.uniform();
  const [w, h] = [width, height].map((side) => Math.max(1, Math.round(share * side)));
  const [left, top] = [rng.int(width - w + 1), rng.int(height - h + 1)];
  const part = w === width && h === height ? image : cutOut(image, left, top, w, h);
  const whole = part === image ? image : { width, height, data: resizeImage(part, { width, height }, 'bicubic') };
  return flip > 0 && rng.uniform() < flip ? mirrored(whole) : whole;
}
