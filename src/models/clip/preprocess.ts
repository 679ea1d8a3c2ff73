// Pictures made ready for CLIP: RGB, resized, cropped at the centre, normalised.

import { EcifError, ShapeError } from '../../array/errors.ts';
import { type Resampling, resizeImage, type RgbImage } from './resize.ts';

/** A decoded picture: 8 bits a channel, row by row. */
export interface DecodedImage {
  readonly width: number;
  readonly height: number;
  /** 1 grey, 2 grey with alpha, 3 RGB, 4 RGB with alpha; alpha is not used. */
  readonly channels: 1 | 2 | 3 | 4;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** What is done to a picture, as `preprocessor_config.json` says it. */
export interface PreprocessConfig {
  /** The length the shorter side is brought to, or both sides; null for none. */
  readonly resize: { readonly shortestEdge: number } | { readonly height: number; readonly width: number } | null;
  readonly resampling: Resampling;
  /** What is cut out of the centre; null for all. Where the picture is smaller, black is added. */
  readonly crop: { readonly height: number; readonly width: number } | null;
  /** What bytes are multiplied by: 1/255, or 1. */
  readonly rescale: number;
  /** Mean and standard deviation of each channel; null for none. */
  readonly normalize: { readonly mean: readonly number[]; readonly std: readonly number[] } | null;
}

/** Mean and standard deviation of the channels, as CLIP was trained with. */
export const CLIP_NORMALIZE = {
  mean: [0.48145466, 0.4578275, 0.40821073],
  std: [0.26862954, 0.26130258, 0.27577711],
} as const;

/**
 * The settings of CLIP for one side length.
 * @example preprocess(image, clipPreprocess(224));
 */
export function clipPreprocess(side: number): PreprocessConfig {
  const crop = { height: side, width: side };
  return { resize: { shortestEdge: side }, resampling: 'bicubic', crop, rescale: 1 / 255, normalize: CLIP_NORMALIZE };
}

/** Pixels of the largest result. */
const MOST_PIXELS = 2 ** 26;

/** Red, green and blue of a picture; grey is all three of them, alpha is dropped. */
function toRgb({ width, height, channels, data }: DecodedImage): RgbImage {
  const whole = [width, height].every((n) => Number.isSafeInteger(n) && n > 0);
  if (!whole || ![1, 2, 3, 4].includes(channels) || data.length !== width * height * channels) {
    const found = `${width} × ${height} × ${channels} with ${data.length} bytes`;
    throw new ShapeError(`preprocess: ${found}; give width · height · channels bytes, 1 to 4 channels`);
  }
  if (channels === 3) return { width, height, data };
  const rgb = new Uint8Array(width * height * 3);
  const [green, blue] = channels === 4 ? [1, 2] : [0, 0];
  for (let from = 0, to = 0; from < data.length; from += channels, to += 3) {
    rgb[to] = data[from];
    rgb[to + 1] = data[from + green];
    rgb[to + 2] = data[from + blue];
  }
  return { width, height, data: rgb };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of the whole resized picture. */
function resizedSize({ width, height }: Size, resize: PreprocessConfig['resize']): Size {
  if (resize === null) return { width, height };
  if (!('shortestEdge' in resize)) return resize;
  const { shortestEdge: short } = resize;
  const longer = Math.trunc((short * Math.max(width, height)) / Math.min(width, height));
  return width <= height ? { width: short, height: longer } : { width: longer, height: short };
}

/** The whole number nearest to n/2, the even one of two. */
const halfEven = (n: number): number => (n % 4 === 3 ? (n + 1) / 2 : Math.floor(n / 2));

/** Begin and length of the part that the crop keeps of a side, and how much black comes before it. */
function cropSide(length: number, crop: number): { begin: number; kept: number; before: number } {
  if (length < crop) return { begin: 0, kept: length, before: Math.floor((crop - length) / 2) };
  return { begin: halfEven(length - crop), kept: crop, before: 0 };
}

/**
 * The picture resized and cropped, before it is normalised.
 * @returns 3 bytes a pixel, row by row
 * @throws EcifError for bytes that do not fit the sizes
 */
export function resizeAndCrop(image: DecodedImage, config: PreprocessConfig): RgbImage {
  const rgb = toRgb(image);
  const size = resizedSize(rgb, config.resize);
  const { width, height } = config.crop ?? size;
  if (width * height > MOST_PIXELS) {
    throw new EcifError(`preprocess: the result has ${width} × ${height} pixels; give a smaller size`);
  }
  const [across, down] = [cropSide(size.width, width), cropSide(size.height, height)];
  const part = { left: across.begin, top: down.begin, width: across.kept, height: down.kept };
  const kept = resizeImage(rgb, size, config.resampling, part);
  if (across.kept === width && down.kept === height) return { width, height, data: kept };
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < down.kept; y++) {
    const row = kept.subarray(y * across.kept * 3, (y + 1) * across.kept * 3);
    data.set(row, ((y + down.before) * width + across.before) * 3);
  }
  return { width, height, data };
}

/**
 * A picture as the model takes it.
 * @returns 3 × height × width numbers, channel by channel
 * @throws EcifError for bytes that do not fit the sizes
 * @example
 * const { data, info } = await sharp('cat.png').raw().toBuffer({ resolveWithObject: true });
 * const pixels = preprocess({ ...info, data }, clipPreprocess(224));
 */
export function preprocess(image: DecodedImage, config: PreprocessConfig): Float32Array {
  return normalizePixels(resizeAndCrop(image, config), config);
}

/** (byte · rescale − mean) / std, channel by channel. */
export function normalizePixels({ data }: RgbImage, { rescale, normalize }: PreprocessConfig): Float32Array {
  const count = data.length / 3;
  const out = new Float32Array(data.length);
  for (let c = 0; c < 3; c++) {
    const [mean, std] = normalize === null ? [0, 1] : [normalize.mean[c], normalize.std[c]];
    for (let i = 0; i < count; i++) out[c * count + i] = (data[3 * i + c] * rescale - mean) / std;
  }
  return out;
}
