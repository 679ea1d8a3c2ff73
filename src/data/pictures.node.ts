// Pictures that are files of their own, kept inside of the folder of their dataset.

import { realpath } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { EcifError } from '../array/errors.ts';
import { unreadable } from '../array/messages.ts';
import type { FoundRow, StoredPicture } from './dataset.ts';
import { readWhole } from './ranges.node.ts';

/** Bytes of the largest picture that is read. */
export const LARGEST_PICTURE = 2 ** 28;

/** A picture file. */
export const filePicture = (path: string): StoredPicture => ({
  name: path,
  read: () => readWhole(path, LARGEST_PICTURE, 'is this a picture?'),
});

/**
 * The file of a row's picture, links followed.
 * @param root folder it must lie in
 * @param source file or folder that names it, for messages
 * @throws EcifError for a file that is not there, or lies outside of the folder
 */
export async function pictureIn(
  root: string,
  source: string,
  { id, image }: Pick<FoundRow, 'id' | 'image'>,
): Promise<StoredPicture> {
  const path = resolve(root, image);
  const found = await realpath(path).catch((error: unknown) => {
    throw unreadable(`${source}: pair ${JSON.stringify(id)}: ${path}`, error);
  });
  const inside = relative(await realpath(root), found);
  if (inside === '..' || inside.startsWith(`..${sep}`) || resolve(inside) === inside) {
    throw new EcifError(
      `${source}: pair ${JSON.stringify(id)}: ${path} is a link out of the folder; copy the file there`,
    );
  }
  return filePicture(found);
}
