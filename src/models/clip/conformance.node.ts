// CLIP reference folders under Node.

import { join } from 'node:path';
import type { ByteSource } from './byte-source.ts';
import { type ClipFolder, parseClipVectors } from './conformance-file.ts';
import { fileFolder } from './files.node.ts';
import { bad } from './formats/fields.ts';
import { readText } from './formats/json.ts';
import { openSafetensors } from './safetensors.ts';

/** An open reference folder. */
export interface OpenClipFolder extends ClipFolder {
  close(): Promise<void>;
}

/**
 * Opens a folder with `vectors.json` and the model and adapter it is about.
 * @throws EcifError that names the file and what is wrong with it
 * @example const folder = await openClipFolder('proofs-tests/vectors/clip-1');
 */
export async function openClipFolder(path: string): Promise<OpenClipFolder> {
  const here = await fileFolder(path);
  const open = async (from: typeof here, file: string): Promise<ByteSource> =>
    (await from.open(file)) ?? bad(join(from.name, file), 'file', 'found nothing', 'add it to the folder');
  const opened = [here];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((folder) => folder.close()));
  };
  try {
    const file = await open(here, 'vectors.json');
    const vectors = parseClipVectors(file.name, await readText(file));
    const home = vectors.model === '.' ? here : await fileFolder(join(path, vectors.model));
    opened.push(home);
    return {
      vectors,
      config: await readText(await open(home, 'config.json')),
      model: await openSafetensors(await open(home, 'model.safetensors')),
      lora: await openSafetensors(await open(here, vectors.lora)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
