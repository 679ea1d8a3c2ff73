// Checkpoints: parameters and optimizer state of a run in one safetensors file, in the precision of their device.

import { EcifError } from '../../array/errors.ts';
import { sizeOf } from '../../array/shape.ts';
import type { Device } from '../../device/open.ts';
import type { SettleProgress } from '../settle.ts';
import { shown } from './formats/fields.ts';
import type { TrainState } from './train.ts';
import { loadTrees, type Named, saveTrees, wholeNote } from './tree-file.node.ts';

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
  const trees = { theta, ...(optimizer && { first: optimizer.first, second: optimizer.second }), ...(centre && { centre }) };
  const metadata = { ...notes, step: String(step), count: String(optimizer?.count ?? 0) };
  await saveTrees(path, trees, settled === undefined ? metadata : { ...metadata, settled: JSON.stringify(settled) });
}

/** How far training on to stationarity was, if the file says so. */
function settledOf(path: string, { settled }: Readonly<Record<string, string>>): SettleProgress | undefined {
  if (settled === undefined) return undefined;
  try {
    const found = JSON.parse(settled) as SettleProgress;
    const { region, rounding } = found;
    const numbers = [found.lbfgs, found.newton, rounding.floor, rounding.value, region?.radius ?? 0, region?.from ?? 0];
    if (numbers.every((x) => typeof x === 'number' && Number.isFinite(x) && x >= 0)) return found;
  } catch {
    // told below
  }
  throw new EcifError(`${path}: settled: found ${shown(settled)}; is this a checkpoint of a run?`);
}

/**
 * Reads a checkpoint to a device.
 * @param like shapes of the parameters
 * @throws EcifError for a file that holds no checkpoint of these parameters
 */
export async function loadCheckpoint(path: string, like: Named, device: Device): Promise<Checkpoint> {
  const { trees, notes } = await loadTrees(path, like, ['theta'], device);
  const { theta, first, second, centre } = trees as Partial<Record<string, Named>>;
  const [step, count] = [wholeNote(path, notes, 'step'), wholeNote(path, notes, 'count')];
  const optimizer = first === undefined || second === undefined ? undefined : { count, first, second };
  return {
    state: { step, theta: theta as Named, optimizer },
    centre: centre ?? null,
    notes,
    settled: settledOf(path, notes),
  };
}

/** Numbers in all parameters. */
export const countOf = (theta: Named): number => Object.values(theta).reduce((n, { shape }) => n + sizeOf(shape), 0);
