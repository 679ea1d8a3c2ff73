// Checkpoints: parameters and optimizer state of a run in one safetensors file, in the precision of their device.

import { EcifError } from '../../array/errors.ts';
import { sizeOf } from '../../array/shape.ts';
import { keep, type Tensor, tensor } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { fileSource, saveFile } from './files.node.ts';
import { shown } from './formats/fields.ts';
import type { SettleProgress } from '../settle.ts';
import { openSafetensors, requireTensors, type Safetensors, type TensorToWrite, writeSafetensors } from './safetensors.ts';
import type { TrainState } from './train.ts';

type Named = Readonly<Record<string, Tensor>>;

const PARTS = ['theta', 'first', 'second', 'centre'] as const;

/** A checkpoint: the state, what L2 pulls to, and words about the run. */
export interface Checkpoint {
  readonly state: TrainState<Named>;
  readonly centre: Named | null;
  readonly notes: Readonly<Record<string, string>>;
  /** How far training on to stationarity was, after the last step; the optimizer is no longer kept then. */
  readonly settled?: SettleProgress | undefined;
}

/**
 * Writes a checkpoint, whole or not at all.
 * @param notes words about the run, such as its seed
 */
export async function saveCheckpoint(path: string, { state, centre, notes, settled }: Checkpoint): Promise<void> {
  const { step, theta, optimizer } = state;
  const trees = [theta, optimizer?.first, optimizer?.second, centre ?? undefined];
  const tensors: TensorToWrite[] = [];
  for (const [i, tree] of trees.entries()) {
    for (const [name, one] of Object.entries(tree ?? {})) {
      const values = await one.data();
      const dtype = values instanceof Float64Array ? 'F64' : 'F32';
      tensors.push({ name: `${PARTS[i]}/${name}`, shape: one.shape, values, dtype });
    }
  }
  const metadata = { ...notes, step: String(step), count: String(optimizer?.count ?? 0) };
  const also = settled === undefined ? {} : { settled: JSON.stringify(settled) };
  await saveFile(path, writeSafetensors(tensors, { ...metadata, ...also }));
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

/** How far training on to stationarity was, if the file says so. */
function settledOf({ source, metadata }: Safetensors): SettleProgress | undefined {
  if (metadata.settled === undefined) return undefined;
  try {
    const found = JSON.parse(metadata.settled) as SettleProgress;
    const { region, rounding } = found;
    const numbers = [found.lbfgs, found.newton, rounding.floor, rounding.value, region?.radius ?? 0, region?.from ?? 0];
    if (numbers.every((x) => typeof x === 'number' && Number.isFinite(x) && x >= 0)) return found;
  } catch {
    // told below
  }
  throw new EcifError(`${source}: settled: found ${shown(metadata.settled)}; is this a checkpoint of a run?`);
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
    const settled = settledOf(file);
    const parts = settled === undefined ? ['theta', 'first', 'second'] : ['theta'];
    const needed = parts.flatMap((part) =>
      Object.entries(like).map(([name, { shape }]) => [`${part}/${name}`, shape] as const),
    );
    requireTensors(file, new Map(needed));
    const [theta, first, second, centre] = await Promise.all(PARTS.map((part) => readPart(file, part, device)));
    if (theta === null) throw new EcifError(`${path}: no parameters in it; is this a checkpoint of a run?`);
    const optimizer = first === null || second === null ? undefined : { count, first, second };
    return { state: { step, theta, optimizer }, centre, notes: file.metadata, settled };
  } finally {
    await source.close();
  }
}

/** Numbers in all parameters. */
export const countOf = (theta: Named): number => Object.values(theta).reduce((n, { shape }) => n + sizeOf(shape), 0);
