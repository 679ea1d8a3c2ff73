// Pictures decoded by the package sharp, which is loaded when the first one is wanted.

import { EcifError } from '../array/errors.ts';

/** A decoded picture: red, green and blue, 8 bits each, row by row. */
export interface DecodedPicture {
  readonly width: number;
  readonly height: number;
  readonly channels: 3;
  readonly data: Uint8Array;
}

/** Pixels of the largest picture that is decoded. */
const MOST_PIXELS = 2 ** 27;

/** Decodes pictures of files. */
export type Decoder = (file: string) => Promise<DecodedPicture>;

/**
 * A decoder: rotated as the camera noted, transparent parts on white.
 * @throws EcifError where sharp is not installed; the decoder, for a file that is no picture, naming it
 * @example const decode = await openDecoder(); const { width, height, data } = await decode('cat.png');
 */
export async function openDecoder(): Promise<Decoder> {
  const { default: sharp } = await import('sharp').catch((error: unknown) => {
    throw new EcifError('images: the package sharp is not installed; npm install sharp', { cause: error });
  });
  return async (file) => {
    try {
      const image = sharp(file, { limitInputPixels: MOST_PIXELS, failOn: 'error' }).rotate();
      const flat = image.flatten({ background: '#fff' }).toColourspace('srgb').removeAlpha();
      const { data, info } = await flat.raw().toBuffer({ resolveWithObject: true });
      if (info.channels !== 3) throw new Error(`${info.channels} channels`);
      return { width: info.width, height: info.height, channels: 3, data };
    } catch (error) {
      const [message] = (error as Error).message.split('\n');
      throw new EcifError(`${file}: cannot be decoded, ${message}; replace the picture`, { cause: error });
    }
  };
}
