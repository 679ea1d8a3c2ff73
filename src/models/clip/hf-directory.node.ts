// Adapters and merged models written to folders, in the form they are read from.

import { join } from 'node:path';
import { makeFolder } from '../../array/whole-file.node.ts';
import { type LazyTensor, saveFile, saveSafetensors } from './files.node.ts';

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Writes a PEFT adapter to a folder: `adapter_config.json` and `adapter_model.safetensors`.
 * @param config contents of `adapter_config.json`
 * @param tensors under PEFT's names
 * @throws EcifError for a folder that cannot be written
 * @example await saveAdapter('adapter', peftConfig(lora), adapterTensors(theta));
 */
export async function saveAdapter(path: string, config: unknown, tensors: Iterable<LazyTensor>): Promise<void> {
  makeFolder(path);
  await saveSafetensors(join(path, 'adapter_model.safetensors'), tensors);
  await saveFile(join(path, 'adapter_config.json'), jsonText(config));
}

/**
 * Writes a model to a folder: `config.json` and `model.safetensors`, one tensor at a time in memory.
 * @param config contents of `config.json`
 * @throws EcifError for a folder that cannot be written
 */
export async function saveClip(path: string, config: unknown, tensors: Iterable<LazyTensor>): Promise<void> {
  makeFolder(path);
  await saveSafetensors(join(path, 'model.safetensors'), tensors);
  await saveFile(join(path, 'config.json'), jsonText(config));
}
