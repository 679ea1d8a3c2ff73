// Adapters and merged models written to folders, in the form they are read from.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { type LazyTensor, saveFile, saveSafetensors } from './files.node.ts';

/** The folder, made if it is not there. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw new EcifError(`${path}: cannot be made, ${(error as Error).message}; check the path`, { cause: error });
  });
}

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Writes a PEFT adapter to a folder: `adapter_config.json` and `adapter_model.safetensors`.
 * @param config contents of `adapter_config.json`
 * @param tensors under PEFT's names
 * @throws EcifError for a folder that cannot be written
 * @example await saveAdapter('adapter', peftConfig(lora), adapterTensors(theta));
 */
export async function saveAdapter(path: string, config: unknown, tensors: Iterable<LazyTensor>): Promise<void> {
  await makeFolder(path);
  await saveSafetensors(join(path, 'adapter_model.safetensors'), tensors);
  await saveFile(join(path, 'adapter_config.json'), jsonText(config));
}

/**
 * Writes a model to a folder: `config.json` and `model.safetensors`, one tensor at a time in memory.
 * @param config contents of `config.json`
 * @throws EcifError for a folder that cannot be written
 */
export async function saveClip(path: string, config: unknown, tensors: Iterable<LazyTensor>): Promise<void> {
  await makeFolder(path);
  await saveSafetensors(join(path, 'model.safetensors'), tensors);
  await saveFile(join(path, 'config.json'), jsonText(config));
}
