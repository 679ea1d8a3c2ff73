// The training loop: batches in recorded order through the trainer, checkpoints on the way, a stop at the first NaN.

import { NumericsError } from '../../array/errors.ts';
import { disposeTree, readAll } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { Trainer, type TrainerOptions } from '../fit.ts';
import type { Model } from '../model.ts';
import type { AdamState } from '../optimizer.ts';

/** What is trained, and on what: everything is a function of the step, so that a run can begin at any. */
export interface TrainTask<T, B> {
  readonly device: Device;
  /** The model of a step, with whatever is dropped in it. */
  model(step: number): Model<T, B>;
  /** The pairs of a step. */
  rows(step: number): Uint32Array;
  /** These pairs on the device, as the step sees them; given back after it. */
  batch(rows: Uint32Array, step: number): Promise<B>;
}

/** A run between two steps. */
export interface TrainState<T> {
  /** Steps taken. */
  readonly step: number;
  readonly theta: T;
  readonly optimizer?: AdamState<T> | undefined;
}

/** One step as it went. */
export interface StepRecord {
  /** From 1. */
  readonly step: number;
  /** Per pair and direction. */
  readonly loss: number;
  /** Length of the gradient before clipping. */
  readonly norm: number;
  readonly rate: number;
}

/** Settings of {@link train}. */
export interface TrainOptions<T> extends Omit<TrainerOptions<T>, 'optimizer'> {
  /** Steps in all, those of earlier runs among them. */
  readonly steps: number;
  /** Step size by step, from 0. */
  rate(step: number): number;
  /** Told of every step. */
  onStep?(record: StepRecord): void;
  /** Given the state every `checkpointEvery` steps and after the last. */
  onCheckpoint?(state: TrainState<T>): Promise<void>;
  readonly checkpointEvery?: number;
}

/** A loss or gradient that is no number, with the batch that made it. */
export class DivergedError extends NumericsError {
  override name = 'DivergedError';
  readonly record: StepRecord;
  readonly rows: Uint32Array;

  /** @param names the pairs of the batch, for the message */
  constructor(record: StepRecord, rows: Uint32Array, names: string = [...rows].join(', ')) {
    const what = `loss ${record.loss} and gradient norm ${record.norm} at step ${record.step}`;
    super(`train: ${what}, on the batch of pairs ${names}; lower the rate, clip the gradient or check these pairs`);
    this.record = record;
    this.rows = rows;
  }
}

/** One step, its numbers read. */
async function stepOf<T, B>(
  task: TrainTask<T, B>,
  trainer: Trainer<T>,
  step: number,
  rate: number,
): Promise<StepRecord> {
  const rows = task.rows(step);
  const batch = await task.batch(rows, step);
  const made = trainer.step(task.model(step), batch, rows.length, rate);
  disposeTree(batch);
  const [[loss], [norm]] = await readAll([made.loss, made.norm]);
  disposeTree(made);
  await task.device.tick();
  const record = { step: step + 1, loss, norm, rate };
  if (!Number.isFinite(loss) || !Number.isFinite(norm)) throw new DivergedError(record, rows);
  return record;
}

/**
 * Trains on from a state. Equal tasks, states and options give equal parameters, bit for bit on one device, wherever
 * the run was cut.
 * @param state taken over
 * @returns the trained parameters
 * @throws DivergedError at the first loss or gradient that is no number, with its batch
 */
export async function train<T, B>(task: TrainTask<T, B>, state: TrainState<T>, options: TrainOptions<T>): Promise<T> {
  const { steps, rate, onStep, onCheckpoint, checkpointEvery = Infinity, ...rest } = options;
  const trainer = new Trainer(state.theta, { ...rest, optimizer: state.optimizer });
  try {
    for (let step = state.step; step < steps; step++) {
      const record = await stepOf(task, trainer, step, rate(step));
      onStep?.(record);
      const taken = step + 1;
      if (onCheckpoint !== undefined && (taken === steps || taken % checkpointEvery === 0)) {
        await onCheckpoint({ step: taken, theta: trainer.theta, optimizer: trainer.optimizer });
      }
    }
    return trainer.theta;
  } finally {
    trainer.dispose();
  }
}
