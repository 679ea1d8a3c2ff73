// Chapter 6: pictures decoded by the browser, emoji and the reader's own.

import type { DecodedImage } from '../../src/index.ts';

/** Pixels a side that emoji are drawn at. */
const SIDE = 72;
/** Pixels of the longest side of other pictures; larger ones are drawn smaller, far above what the model takes. */
const LONGEST = 512;
/** The largest file and picture that are taken. */
const [MOST_BYTES, MOST_PIXELS] = [25e6, 64e6];

/** An image of an address, ready to be drawn. */
async function loaded(url: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}

/** The pixels of an image at a size, transparent parts on white. */
function drawn(image: HTMLImageElement, width: number, height: number): DecodedImage {
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('the browser gives no canvas; free some memory and try again');
  context.imageSmoothingQuality = 'high';
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.drawImage(image, 0, 0, width, height);
  return { width, height, channels: 4, data: context.getImageData(0, 0, width, height).data };
}

const emoji = new Map<string, Promise<DecodedImage>>();

/** The pixels of a bundled emoji, decoded once. */
export function emojiPixels(code: string): Promise<DecodedImage> {
  const found =
    emoji.get(code) ??
    loaded(`emoji/${code}.svg`).then(
      (image) => drawn(image, SIDE, SIDE),
      () => {
        emoji.delete(code);
        throw new Error(`emoji/${code}.svg cannot be loaded; check the connection and try again`);
      },
    );
  emoji.set(code, found);
  return found;
}

/**
 * The pixels of a file of the reader.
 * @throws Error that says what is wrong with it
 */
export async function filePixels(file: Blob): Promise<DecodedImage> {
  const megabytes = (n: number): string => `${(n / 1e6).toFixed(0)} MB`;
  if (file.size > MOST_BYTES)
    throw new Error(
      `the file has ${megabytes(file.size)}, at most ${megabytes(MOST_BYTES)} are taken; make it smaller`,
    );
  const url = URL.createObjectURL(file);
  try {
    const image = await loaded(url).catch(() => {
      throw new Error('the file cannot be decoded as a picture; choose a PNG, JPEG, WebP, GIF or SVG');
    });
    const { naturalWidth: width, naturalHeight: height } = image;
    if (width === 0 || height === 0) throw new Error('the picture has no size; choose another one');
    if (width * height > MOST_PIXELS)
      throw new Error(`the picture has ${width} × ${height} pixels, more than 64 million; make it smaller`);
    const shrink = Math.min(1, LONGEST / Math.max(width, height));
    return drawn(image, Math.max(1, Math.round(width * shrink)), Math.max(1, Math.round(height * shrink)));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw new Error('the browser does not let its pixels be read; choose another picture', { cause: error });
  } finally {
    URL.revokeObjectURL(url);
  }
}
