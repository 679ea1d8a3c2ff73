// Models whose weights are spread over several safetensors files, with an index that says which tensor is where.

import { type ByteFolder, type ByteSource, isPlainName } from '../byte-source.ts';
import { openSafetensors, type Safetensors, tensorOf, type TensorInfo } from '../safetensors.ts';
import { bad, objectField, shown } from './fields.ts';
import { readObject } from './json.ts';
import { tensorField } from './safetensors-header.ts';

const LARGEST_INDEX = 8 * 2 ** 20;
const MOST_SHARDS = 1024;

/** Names of the shards, by tensor; every one a file in the same folder. */
function readMap(file: string, value: unknown): Map<string, string> {
  const entries = Object.entries(objectField(file, 'weight_map', value));
  return new Map(
    entries.map(([tensor, shard]) => {
      if (typeof shard !== 'string' || !isPlainName(shard) || !shard.endsWith('.safetensors')) {
        bad(
          file,
          `weight_map ${shown(tensor)}`,
          `found ${shown(shard)}`,
          'give a .safetensors file in the same folder',
        );
      }
      return [tensor, shard];
    }),
  );
}

/**
 * Opens the files that an index names, as one: headers are read and checked, no tensor is.
 * @param folder the folder of the index
 * @throws EcifError that names the index or the shard, and the tensor: a shard that is missing or elsewhere, a tensor
 *   that is not in its shard
 */
export async function openShards(folder: ByteFolder, index: ByteSource): Promise<Safetensors> {
  const map = readMap(index.name, (await readObject(index, LARGEST_INDEX)).weight_map);
  const names = new Set(map.values());
  if (names.size > MOST_SHARDS) bad(index.name, 'weight_map', `${names.size} files`, `give at most ${MOST_SHARDS}`);
  const shards = new Map<string, Safetensors>();
  for (const name of names) {
    const source = await folder.open(name);
    if (source === null) bad(index.name, `weight_map ${shown(name)}`, 'no such file in the folder', 'download it');
    shards.set(name, await openSafetensors(source));
  }
  const shardOf = (tensor: string): Safetensors | undefined => shards.get(map.get(tensor) ?? '');
  const tensors = new Map<string, TensorInfo>();
  for (const tensor of map.keys()) {
    const shard = shardOf(tensor);
    if (shard !== undefined) tensors.set(tensor, tensorOf(shard, tensor));
  }
  return {
    source: index.name,
    tensors,
    metadata: {},
    values: async (tensor) => {
      const shard = shardOf(tensor);
      if (shard === undefined) bad(index.name, tensorField(tensor), 'not in weight_map', 'is it the right model?');
      return shard.values(tensor);
    },
  };
}
