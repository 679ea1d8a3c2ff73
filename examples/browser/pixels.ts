// Pictures decoded by the browser.

import type { DecodedImage } from '../../src/index.ts';

/** Pixels of the longest side that is read; larger pictures are drawn smaller, far above what CLIP takes. */
const LONGEST = 4096;

/**
 * The pixels of a picture, transparent parts on white.
 * @param image one that has been loaded
 * @throws Error for a picture without a size
 */
export function pixelsOf(image: HTMLImageElement): DecodedImage {
  const { naturalWidth, naturalHeight } = image;
  if (naturalWidth === 0 || naturalHeight === 0) throw new Error('the picture has no size; choose another one');
  const shrink = Math.min(1, LONGEST / Math.max(naturalWidth, naturalHeight));
  const width = Math.max(1, Math.round(naturalWidth * shrink));
  const height = Math.max(1, Math.round(naturalHeight * shrink));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('the browser gives no canvas; free some memory and try again');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.drawImage(image, 0, 0, width, height);
  return { width, height, channels: 4, data: context.getImageData(0, 0, width, height).data };
}

/**
 * Shows a file in an image element and waits until it can be drawn.
 * @throws Error for a file that is no picture
 */
export async function showPicture(image: HTMLImageElement, file: Blob): Promise<void> {
  const url = URL.createObjectURL(file);
  try {
    image.src = url;
    await image.decode();
    image.hidden = false;
  } catch {
    if (image.src === url) image.hidden = true;
    throw new Error('the file cannot be decoded as a picture; choose another one');
  } finally {
    URL.revokeObjectURL(url);
  }
}
