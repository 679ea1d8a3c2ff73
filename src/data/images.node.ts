// Pictures decoded by the package sharp, which is loaded when the first one is wanted.

import { EcifError } from '../array/errors.ts';
import type { DecodedPicture, StoredPicture } from './dataset.ts';
import { filePicture, LARGEST_PICTURE } from './pictures.node.ts';

/** Pixels of the largest picture that is decoded. */
const MOST_PIXELS = 2 ** 26;

/** Decodes pictures of files and of datasets. */
export type Decoder = (picture: string | StoredPicture) => Promise<DecodedPicture>;

/**
 * A decoder: rotated as the camera noted, transparent parts on white.
 * @throws EcifError where sharp is not installed; the decoder, for what is no picture, is cut off or too large, naming it
 * @example const decode = await openDecoder(); const { width, height, data } = await decode('cat.png');
 */
export async function openDecoder(): Promise<Decoder> {
  const { default: sharp } = await import('sharp').catch((error: unknown) => {
    throw new EcifError('images: the package sharp is not installed; npm install sharp', { cause: error });
  });
  return async (picture) => {
    const stored = typeof picture === 'string' ? filePicture(picture) : picture;
    const found = await stored.read();
    if (!(found instanceof Uint8Array)) return found;
    try {
      if (found.length > LARGEST_PICTURE) throw new Error(`${found.length} bytes, at most ${LARGEST_PICTURE}`);
      const image = sharp(found, { limitInputPixels: MOST_PIXELS, failOn: 'error' }).rotate();
      const flat = image.flatten({ background: '#fff' }).toColourspace('srgb').removeAlpha();
      const { data, info } = await flat.raw().toBuffer({ resolveWithObject: true });
      if (info.channels !== 3) throw new Error(`${info.channels} channels`);
      return { width: info.width, height: info.height, channels: 3, data };
    } catch (error) {
      const [message] = (error as Error).message.split('\n');
      throw new EcifError(`${stored.name}: cannot be decoded, ${message}; replace the picture`, { cause: error });
    }
  };
}
