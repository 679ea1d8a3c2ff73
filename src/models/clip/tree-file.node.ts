// Trees of named tensors in one safetensors file, in the precision of their device, and back.

import { EcifError } from '../../array/errors.ts';
import { keep, type Tensor, tensor } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { fileSource, saveFile } from './files.node.ts';
import { finiteValues, openSafetensors, requireTensors, type TensorToWrite, writeSafetensors } from './safetensors.ts';

/** Tensors by name. */
export type Named = Readonly<Record<string, Tensor>>;

/** Writes trees under their names, whole or not at all; `/` stands between the names of tree and tensor. */
export async function saveTrees(
  path: string,
  trees: Readonly<Record<string, Named>>,
  notes: Readonly<Record<string, string>> = {},
): Promise<void> {
  const tensors: TensorToWrite[] = [];
  for (const [tree, leaves] of Object.entries(trees)) {
    for (const [name, one] of Object.entries(leaves)) {
      const values = await one.data();
      const dtype = values instanceof Float64Array ? 'F64' : 'F32';
      tensors.push({ name: `${tree}/${name}`, shape: one.shape, values, dtype });
    }
  }
  await saveFile(path, writeSafetensors(tensors, notes));
}

/**
 * Reads trees of one form.
 * @param like a tree of the form
 * @param needed names of trees that must be there; others are read where they are whole
 * @throws EcifError that names the file and the tensor
 */
export async function loadTrees(
  path: string,
  like: Named,
  needed: readonly string[],
  device: Device,
): Promise<{ trees: Record<string, Named>; notes: Readonly<Record<string, string>> }> {
  const source = await fileSource(path);
  try {
    const file = await openSafetensors(source);
    const shapes = (tree: string): [string, readonly number[]][] =>
      Object.entries(like).map(([name, { shape }]) => [`${tree}/${name}`, shape]);
    requireTensors(file, new Map(needed.flatMap(shapes)));
    const present = new Set(Array.from(file.tensors.keys(), (name) => name.slice(0, name.indexOf('/'))));
    const trees: Record<string, Named> = {};
    for (const tree of present) {
      requireTensors(file, new Map(shapes(tree)));
      const leaves: [string, Tensor][] = [];
      for (const [name, shape] of shapes(tree)) {
        leaves.push([name.slice(tree.length + 1), keep(tensor(device, await finiteValues(file, name), shape))]);
        await device.tick();
      }
      trees[tree] = Object.fromEntries(leaves);
    }
    return { trees, notes: file.metadata };
  } finally {
    await source.close();
  }
}

/** A note that must be a whole number ≥ 0. */
export function wholeNote(path: string, notes: Readonly<Record<string, string>>, name: string): number {
  const value = Number(notes[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new EcifError(`${path}: ${name}: found ${String(notes[name])}; is this a checkpoint of a run?`);
}
