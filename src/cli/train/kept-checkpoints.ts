// Parameters on the way of a training run, one file for each checkpoint that was kept.

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import type { Checkpoint } from '../../ecif/baselines/index.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { loadCheckpoint, saveCheckpoint } from '../../models/clip/train-checkpoint.node.ts';
import type { TrainState } from '../../models/clip/train.ts';
import { rateAt } from '../../models/schedule.ts';
import type { TrainSettings } from './options.ts';

const placeOf = (folder: string): string => join(folder, 'checkpoints');
const NAME = /^step-(\d+)\.safetensors$/;

/** Keeps the parameters of a checkpoint in the folder of a run. */
export async function keepCheckpoint(
  folder: string,
  { step, theta }: TrainState<Adapter>,
  notes: Readonly<Record<string, string>>,
): Promise<void> {
  mkdirSync(placeOf(folder), { recursive: true });
  await saveCheckpoint(join(placeOf(folder), `step-${step}.safetensors`), {
    ...{ state: { step, theta }, centre: null, notes },
  });
}

/**
 * The parameters that a run kept on its way, in their order, each with the step size there; none where none were asked for.
 * @param like shapes of the parameters
 * @param steps of the whole run
 */
export async function readCheckpoints(
  folder: string,
  like: Adapter,
  { schedule: kind, rate, warmup }: Pick<TrainSettings, 'schedule' | 'rate' | 'warmup'>,
  steps: number,
  device: Device,
): Promise<Checkpoint<Adapter>[]> {
  const names = existsSync(placeOf(folder)) ? readdirSync(placeOf(folder)) : [];
  const found = names.flatMap((name) => {
    const step = NAME.exec(name)?.[1];
    return step === undefined ? [] : [{ name, step: Number(step) }];
  });
  const kept: Checkpoint<Adapter>[] = [];
  for (const { name, step } of found.toSorted((a, b) => a.step - b.step)) {
    const { state, centre } = await loadCheckpoint(join(placeOf(folder), name), like, device);
    if (centre !== null) disposeTree(centre);
    kept.push({ theta: state.theta, rate: rateAt({ kind, rate, warmup, steps }, step - 1) });
  }
  return kept;
}
