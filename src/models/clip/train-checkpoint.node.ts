// Checkpoints: parameters and optimizer state of a run in one safetensors file, in the precision of their device.

import { EcifError } from '../../array/errors.ts';
import { sizeOf } from '../../array/shape.ts';
import { keep, type Tensor, tensor } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { fileSource, saveFile } from './files.node.ts';
import { openSafetensors, requireTensors, type Safetensors } from './safetensors.ts';
import type { TrainState } from './train.ts';

type Named = Readonly<Record<string, Tensor>>;

const PARTS = ['theta', 'first', 'second', 'centre'] as const;

/** A checkpoint: the state, what L2 pulls to, and words about the run. */
export interface Checkpoint {
  readonly state: TrainState<Named>;
  readonly centre: Named | null;
  readonly notes: Readonly<Record<string, string>>;
}

/** A safetensors file of numbers in the precision they come in. */
function encode(
  tensors: readonly (readonly [string, readonly number[], Float32Array | Float64Array])[],
  metadata: unknown,
) {
  let end = 0;
  const entries = tensors.map(([name, shape, values]) => {
    const begin = end;
    end += values.byteLength;
    return [name, { dtype: values instanceof Float64Array ? 'F64' : 'F32', shape, data_offsets: [begin, end] }];
  });
  const json = new TextEncoder().encode(JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(entries) }));
  const head = new Uint8Array(Math.ceil(json.length / 8) * 8).fill(0x20);
  head.set(json);
  const bytes = new Uint8Array(8 + head.length + end);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(head.length), true);
  bytes.set(head, 8);
  let at = 8 + head.length;
  for (const [, , values] of tensors) {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += values.byteLength;
  }
  return bytes;
}

/**
 * Writes a checkpoint, whole or not at all.
 * @param notes words about the run, such as its seed
 */
export async function saveCheckpoint(path: string, { state, centre, notes }: Checkpoint): Promise<void> {
  const { step, theta, optimizer } = state;
  const trees = [theta, optimizer?.first, optimizer?.second, centre ?? undefined];
  const tensors: [string, readonly number[], Float32Array | Float64Array][] = [];
  for (const [i, tree] of trees.entries()) {
    for (const [name, one] of Object.entries(tree ?? {})) {
      tensors.push([`${PARTS[i]}/${name}`, one.shape, (await one.data()) as Float32Array | Float64Array]);
    }
  }
  const metadata = { ...notes, step: String(step), count: String(optimizer?.count ?? 0) };
  await saveFile(path, encode(tensors, metadata));
}

/** The tensors of one part on a device; null where the file has none. */
async function readPart(file: Safetensors, part: string, device: Device): Promise<Named | null> {
  const names = [...file.tensors.keys()].filter((name) => name.startsWith(`${part}/`));
  const entries: [string, Tensor][] = [];
  for (const name of names) {
    const { shape } = file.tensors.get(name) as { shape: readonly number[] };
    entries.push([name.slice(part.length + 1), keep(tensor(device, await file.values(name), shape))]);
    await device.tick();
  }
  return names.length === 0 ? null : Object.fromEntries(entries);
}

function wholeNote(file: Safetensors, name: string): number {
  const value = Number(file.metadata[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new EcifError(`${file.source}: ${name}: found ${String(file.metadata[name])}; is this a checkpoint of a run?`);
}

/**
 * Reads a checkpoint to a device.
 * @param like shapes of the parameters
 * @throws EcifError for a file that holds no checkpoint of these parameters
 */
export async function loadCheckpoint(path: string, like: Named, device: Device): Promise<Checkpoint> {
  const source = await fileSource(path);
  try {
    const file = await openSafetensors(source);
    const [step, count] = [wholeNote(file, 'step'), wholeNote(file, 'count')];
    const needed = ['theta', 'first', 'second'].flatMap((part) =>
      Object.entries(like).map(([name, { shape }]) => [`${part}/${name}`, shape] as const),
    );
    requireTensors(file, new Map(needed));
    const [theta, first, second, centre] = await Promise.all(PARTS.map((part) => readPart(file, part, device)));
    if (theta === null || first === null || second === null) {
      throw new EcifError(`${path}: no parameters in it; is this a checkpoint of a run?`);
    }
    return { state: { step, theta, optimizer: { count, first, second } }, centre, notes: file.metadata };
  } finally {
    await source.close();
  }
}

/** Numbers in all parameters. */
export const countOf = (theta: Named): number => Object.values(theta).reduce((n, { shape }) => n + sizeOf(shape), 0);
