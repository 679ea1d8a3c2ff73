// One training run: from its settings to its folder, begun or resumed.

import { existsSync } from 'node:fs';
import { EcifError } from '../../array/errors.ts';
import { makeFolder } from '../../array/whole-file.node.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { type Checkpoint, countOf, loadCheckpoint, saveCheckpoint } from '../../models/clip/train-checkpoint.node.ts';
import { DivergedError, type StepRecord, train, type TrainState } from '../../models/clip/train.ts';
import { rateAt } from '../../models/schedule.ts';
import type { SettleProgress } from '../../models/settle.ts';
import { openPairs } from '../runs/data-run.ts';
import { writeText } from '../files.ts';
import { keepCheckpoint } from './kept-checkpoints.ts';
import type { FolderLock } from '../runs/lock.ts';
import { readyPairs } from '../runs/pairs.ts';
import type { Progress } from '../progress.ts';
import {
  cutLog,
  datasetHash,
  firstLoss,
  lockOfRun,
  logStep,
  readRun,
  requireFresh,
  runFile,
  type RunRecord,
  writeRun,
} from '../runs/run-folder.ts';
import { requireBatch, requireContrast, type RunBatches, runBatches } from './batches.ts';
import { RunClock, type RunSeconds, secondsIn } from './clock.ts';
import { runEnd } from './end.ts';
import { openRunModel, type RunModel } from './model.ts';
import type { TrainSettings } from './options.ts';
import { crowdText, recordPartitions } from './partitions.ts';
import { firstRecord, requireSame } from './record.ts';
import type { RunTask } from './task.ts';

/** A run and everything it is made of. */
interface Run {
  readonly settings: TrainSettings;
  readonly folder: string;
  readonly device: Device;
  readonly model: RunModel;
  readonly task: RunTask;
  readonly ids: readonly string[];
  /** `run.json` before the first step. */
  readonly record: RunRecord;
  readonly batches: RunBatches;
  readonly centre: Adapter | undefined;
  readonly progress: Progress;
}

/** Seconds between two lines of progress. */
const QUIET = 5;

/** Says now and then how far the steps are, with the time they will take. */
function stepTeller({ progress, batches: { steps } }: Run, first: number): (record: StepRecord) => void {
  let told = -Infinity;
  let timed: { step: number; at: number } | null = null;
  return ({ step, loss, norm }) => {
    const now = performance.now() / 1000;
    // The first step compiles kernels, so speed is counted from its end.
    timed ??= { step, at: now };
    if (now - told < QUIET && step !== steps && step !== first + 1) return;
    told = now;
    const left = step > timed.step ? ((steps - step) * (now - timed.at)) / (step - timed.step) : null;
    const rest = left === null ? '' : `  ${Math.ceil(left)} s left`;
    progress.status(`step ${step}/${steps}  loss ${loss.toFixed(4)}  gradient ${norm.toExponential(1)}${rest}`);
  };
}

/** Writes where the run is, and the time that it took to get there. */
async function checkpoint(
  { settings, folder, centre, record }: Run,
  clock: RunClock,
  state: TrainState<Adapter>,
  settled?: SettleProgress,
): Promise<void> {
  const notes = { seed: String(settings.seed), streams: 'counted by step' };
  if (settings['keep-checkpoints'] && settled === undefined) await keepCheckpoint(folder, state, notes);
  await saveCheckpoint(runFile(folder, 'checkpoint'), { state, centre: centre ?? null, notes, settled });
  writeRun(folder, { ...record, seconds: clock.now() });
}

/** The error, with the pairs of a batch that diverged by their ids. */
const named = (error: unknown, ids: readonly string[]): unknown =>
  error instanceof DivergedError
    ? new DivergedError(error.record, error.rows, [...error.rows].map((row) => JSON.stringify(ids[row])).join(', '))
    : error;

/** Steps to the end of the epochs, with their log and checkpoints. */
async function runSteps(run: Run, state: TrainState<Adapter>, clock: RunClock): Promise<Adapter> {
  const { settings, folder, task, batches, centre, ids } = run;
  const { steps, epochOf, rows } = batches;
  const { schedule: kind, rate, warmup } = settings;
  const tell = stepTeller(run, state.step);
  try {
    return await train({ ...task, rows }, state, {
      steps,
      centre,
      l2: settings.l2 / (2 * ids.length),
      decay: settings.optimizer === 'adamw' ? settings.decay : 0,
      clip: settings.clip > 0 ? settings.clip : undefined,
      rate: (step) => rateAt({ kind, rate, warmup, steps }, step),
      checkpointEvery: settings['checkpoint-every'],
      onStep: (record) => {
        logStep(folder, { ...record, epoch: epochOf(record.step - 1) });
        tell(record);
      },
      onCheckpoint: (at) => checkpoint(run, clock, at),
    });
  } catch (error) {
    throw named(error, ids);
  }
}

/** Where the run begins: its checkpoint, or step 0; with the time that it took to get there. */
async function stateOf({
  folder,
  settings,
  model,
  device,
  batches: { steps },
}: Run): Promise<Pick<Checkpoint, 'state' | 'settled'> & { readonly seconds: RunSeconds }> {
  const start = model.start();
  const path = runFile(folder, 'checkpoint');
  if (!settings.resume || !existsSync(path)) return { state: { step: 0, theta: start }, seconds: secondsIn(null) };
  const { state, settled } = await loadCheckpoint(path, start, device);
  disposeTree(start);
  if (state.step > steps) throw new EcifError(`${path}: step ${state.step} of ${steps}; is it of another run?`);
  return { state, settled, seconds: secondsIn(readRun(folder).seconds) };
}

/** Opens dataset, model and caches. */
async function openRun(
  settings: TrainSettings,
  lock: FolderLock,
  device: Device,
  progress: Progress,
  given: ReadonlySet<string>,
): Promise<Run> {
  const { folder } = lock;
  if (settings.resume) lock.take();
  else requireFresh(folder);
  const before = settings.resume ? (readRun(folder).dataset.dropped ?? []) : undefined;
  const { dataset, dropped, truth, listed, kept } = await openPairs(settings, progress, before);
  const ids = dataset.rows.map(({ id }) => id);
  requireContrast(dataset);
  if (given.has('batch')) requireBatch(settings.batch, dataset.source, listed.length);
  const batches = runBatches(dataset.source, settings, listed, kept);
  const { perEpoch } = batches;
  const model = await openRunModel(settings, device);
  const crowd = crowdText(settings, listed);
  // Pictures are looked at before the folder is made, so that bad ones leave nothing behind.
  const pairs = await readyPairs(model, dataset, settings['cache-mb'] * 2 ** 20);
  const about = {
    dataset: { pairs: ids.length, sha256: datasetHash(dataset), pictures: await pairs.pictures(), dropped },
    ...(truth === null ? {} : { noise: { swapped: truth.swapped } }),
    ...(crowd === null ? {} : { crowd }),
  };
  const record = firstRecord({ settings, device, model, batches }, about);
  if (settings.resume) requireSame(folder, dataset.source, record, device);
  else {
    makeFolder(folder);
    lock.take();
    requireFresh(folder);
    writeRun(folder, record);
  }
  if (truth !== null) writeText(runFile(folder, 'truth'), truth.text);
  if (crowd !== null) progress.line(crowd);
  progress.line(`${ids.length} pairs, ${perEpoch} ${perEpoch === 1 ? 'batch' : 'batches'} an epoch, on ${device.name}`);
  const task = await model.task(pairs, `${folder}/frozen.tmp`, progress);
  return {
    ...{ settings, folder, device, model, task, ids, batches, record, progress },
    centre: settings.toward === 'start' ? model.start() : undefined,
  };
}

/**
 * Runs, or goes on with, a training run.
 * @param given names of options that were asked for, and are refused where the pairs cannot meet them
 * @returns the record that is in `run.json`
 * @throws DivergedError at the first loss that is no number, naming the ids of its batch
 */
export async function runTraining(
  settings: TrainSettings,
  device: Device,
  progress: Progress,
  given: ReadonlySet<string> = new Set(),
): Promise<RunRecord> {
  const folder = settings.out as string;
  if (settings.resume) {
    const before = readRun(folder);
    if (before.status === 'done') {
      progress.line(`${folder}: the run is done; nothing is left to do`);
      return before;
    }
  }
  const lock = lockOfRun(folder);
  try {
    return await trainOpened(await openRun(settings, lock, device, progress, given));
  } finally {
    lock.free();
  }
}

/** Trains from where the run is to its end. */
async function trainOpened(run: Run): Promise<RunRecord> {
  const { folder, settings, record, progress } = run;
  const { steps, recorded } = run.batches;
  try {
    const partitions = recorded();
    await recordPartitions(folder, settings.resume, run.ids.length, partitions);
    const { state, settled, seconds: before } = await stateOf(run);
    const clock = new RunClock(before);
    writeRun(folder, { ...record, seconds: before });
    cutLog(folder, state.step);
    if (state.step > 0) progress.line(`resumed after step ${state.step} of ${steps}`);
    if (settled !== undefined) {
      progress.line(`resumed after ${settled.lbfgs} L-BFGS iterations and ${settled.newton} Newton steps`);
    }
    const trained = await runSteps(run, state, clock);
    clock.turn();
    const end = {
      ...{ ...run, steps, partitions, settled, pairs: run.ids.length, firstLoss: firstLoss(folder) },
      start: () => run.model.start(),
      checkpoint: (at: Adapter, reached: SettleProgress) => checkpoint(run, clock, { step: steps, theta: at }, reached),
    };
    const { theta, norms } = await runEnd(end, trained).catch((error: unknown) => {
      throw named(error, run.ids);
    });
    const seconds = clock.now();
    const parameters = countOf(theta);
    await run.model.save(theta, folder);
    const notes = { what: 'trained parameters, and what L2 pulls to, in the precision of the device' };
    const centre = run.centre ?? null;
    await saveCheckpoint(runFile(folder, 'theta'), { state: { step: steps, theta }, centre, notes });
    const done: RunRecord = { ...record, status: 'done', parameters, norms, seconds, resumedAt: state.step };
    writeRun(folder, done);
    disposeTree(theta);
    return done;
  } catch (error) {
    if (error instanceof DivergedError) {
      const batch = [...error.rows].map((row) => run.ids[row]);
      writeRun(folder, { ...record, status: 'diverged', diverged: { ...error.record, batch } });
    }
    throw error;
  } finally {
    run.task.close();
  }
}
