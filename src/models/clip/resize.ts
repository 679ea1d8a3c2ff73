// Pillow's antialiased resize of 8-bit RGB pictures: rows, then columns, each with whole-number weights and rounded.

import { ShapeError } from '../../array/errors.ts';

/** A picture of 8 bits a channel, row by row, red, green and blue beside each other. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** Part of a picture. */
export interface Window {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Ways to resize. */
export type Resampling = 'bicubic' | 'bilinear';

/** A filter: its weight at a distance, and the distance from which on it is 0. */
interface Filter {
  readonly support: number;
  weight(x: number): number;
}

/** Keys' cubic with a = −1/2. */
function cubic(x: number): number {
  const [a, t] = [-0.5, Math.abs(x)];
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0;
}

const FILTERS: Readonly<Record<Resampling, Filter>> = {
  bicubic: { support: 2, weight: cubic },
  bilinear: { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
};

const CHANNELS = 3;
/** Weights are whole multiples of 2^−22. */
const PRECISION = 22;
const ONE = 2 ** PRECISION;
const HALF = 2 ** (PRECISION - 1);

/** Where the samples of an output pixel begin, and their weights. */
interface Taps {
  readonly first: number;
  readonly weights: Int32Array;
}

/** Samples and weights for outputs `from`…`from + count` of a line of `size` pixels made `length` long. */
function tapsOf(size: number, length: number, from: number, count: number, { support, weight }: Filter): Taps[] {
  const scale = size / length;
  // Where the picture becomes smaller, the filter becomes wider, so that every pixel counts.
  const stretch = Math.max(scale, 1);
  const reach = support * stretch;
  return Array.from({ length: count }, (_, i) => {
    const center = (from + i + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - reach + 0.5));
    const last = Math.min(size, Math.trunc(center + reach + 0.5));
    const inverse = 1 / stretch;
    const raw = Float64Array.from({ length: last - first }, (__, j) => weight((first + j - center + 0.5) * inverse));
    const sum = raw.reduce((a, b) => a + b, 0);
    const weights = Int32Array.from(raw, (w) => {
      const scaled = (sum === 0 ? w : w * (1 / sum)) * ONE;
      return Math.trunc(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    });
    return { first, weights };
  });
}

/** A sum of weighted bytes as a byte. */
const toByte = (sum: number): number => Math.min(255, Math.max(0, sum >> PRECISION));

/** Σ weight·byte of three channels, `stride` bytes apart from pixel to pixel. */
function blend(
  data: Uint8Array,
  start: number,
  stride: number,
  weights: Int32Array,
  out: Uint8Array,
  at: number,
): void {
  let [red, green, blue] = [HALF, HALF, HALF];
  for (let j = 0, p = start; j < weights.length; j++, p += stride) {
    const w = weights[j];
    red += w * data[p];
    green += w * data[p + 1];
    blue += w * data[p + 2];
  }
  out[at] = toByte(red);
  out[at + 1] = toByte(green);
  out[at + 2] = toByte(blue);
}

/** Every row made `taps.length` long; a row of the picture is `stride` bytes. */
function resizeRows(
  data: Uint8Array,
  stride: number,
  firstRow: number,
  rows: number,
  taps: readonly Taps[],
): Uint8Array {
  const out = new Uint8Array(rows * taps.length * CHANNELS);
  for (let y = 0, at = 0; y < rows; y++) {
    const row = (firstRow + y) * stride;
    for (const { first, weights } of taps) {
      blend(data, row + first * CHANNELS, CHANNELS, weights, out, at);
      at += CHANNELS;
    }
  }
  return out;
}

/** Every column made `taps.length` long; the first row of `data` is row `firstRow` of the picture. */
function resizeColumns(data: Uint8Array, width: number, firstRow: number, taps: readonly Taps[]): Uint8Array {
  const stride = width * CHANNELS;
  const out = new Uint8Array(taps.length * stride);
  taps.forEach(({ first, weights }, y) => {
    const start = (first - firstRow) * stride;
    for (let x = 0; x < stride; x += CHANNELS) blend(data, start + x, stride, weights, out, y * stride + x);
  });
  return out;
}

/** The same pixels, where a side keeps its length. */
const untouched = (from: number, count: number): Taps[] =>
  Array.from({ length: count }, (_, i) => ({ first: from + i, weights: Int32Array.of(ONE) }));

function requireInside({ width, height, data }: RgbImage, to: { width: number; height: number }, part: Window): void {
  const sizes = [width, height, to.width, to.height, part.width, part.height];
  const whole = sizes.every((n) => Number.isSafeInteger(n) && n > 0);
  const inside = part.left >= 0 && part.top >= 0 && part.left + part.width <= to.width;
  if (!whole || !inside || part.top + part.height > to.height || data.length !== width * height * CHANNELS) {
    throw new ShapeError(
      `resize: ${width} × ${height} with ${data.length} bytes to ${to.width} × ${to.height}, ` +
        `part ${JSON.stringify(part)}; give 3 bytes a pixel and a part inside`,
    );
  }
}

/**
 * Part of a resized picture, the same bytes Pillow gives; only what the part needs is computed.
 * @param to size of the whole resized picture
 * @param part what of it is wanted; all unless told
 * @returns 3 bytes a pixel, row by row
 * @throws ShapeError for sizes that do not fit
 * @example const half = resizeImage(image, { width: 112, height: 112 }, 'bicubic');
 */
export function resizeImage(
  image: RgbImage,
  to: { readonly width: number; readonly height: number },
  resampling: Resampling,
  part: Window = { left: 0, top: 0, ...to },
): Uint8Array {
  requireInside(image, to, part);
  const filter = FILTERS[resampling];
  const { width, height, data } = image;
  const columns =
    width === to.width ? untouched(part.left, part.width) : tapsOf(width, to.width, part.left, part.width, filter);
  const rows =
    height === to.height ? untouched(part.top, part.height) : tapsOf(height, to.height, part.top, part.height, filter);
  const firstRow = rows[0].first;
  const lastRow = rows.reduce((last, { first, weights }) => Math.max(last, first + weights.length), 0);
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.length);
  const narrow = resizeRows(bytes, width * CHANNELS, firstRow, lastRow - firstRow, columns);
  return resizeColumns(narrow, part.width, firstRow, rows);
}
