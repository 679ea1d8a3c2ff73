// A finished training run opened again: its model, parameters, pairs and batches, as a streamed objective.

import { EcifError } from '../../array/errors.ts';
import type { Rng } from '../../array/rng.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { Dataset } from '../../data/dataset.ts';
import { decodePartitions, type Partition } from '../../data/partitions.ts';
import { partitionDrawer, type Sampler } from '../../data/sampler.ts';
import type { Device } from '../../device/open.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { loadCheckpoint } from '../../models/clip/train-checkpoint.node.ts';
import { streamOf } from '../../models/clip/train-streams.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import type { OptionValues } from '../args.ts';
import type { PART_OPTIONS } from './data-options.ts';
import { type AskedPairs, openPairs, otherPairs } from './data-run.ts';
import { readBytes } from '../files.ts';
import { type ReadyPairs, readyPairs } from './pairs.ts';
import type { Progress } from '../progress.ts';
import { datasetHash, readRun, requirePictures, runFile } from './run-folder.ts';
import { settingsIn } from './run-paths.ts';
import type { FinalNorms } from '../train/end.ts';
import { openRunModel, type RunModel } from '../train/model.ts';
import type { TrainSettings } from '../train/options.ts';

/** Pairs that a run is judged by. */
export interface EvaluationPairs {
  readonly dataset: Dataset;
  readonly pairs: ReadyPairs;
  readonly loss: StreamedLoss<Adapter, unknown>;
}

/** A trained run. */
export interface OpenedRun {
  readonly settings: TrainSettings;
  readonly model: RunModel;
  readonly dataset: Dataset;
  readonly theta: Adapter;
  /** Steps of the optimizer that led to θ̂. */
  readonly steps: number;
  /** Whether it was trained on until the gradient was as small as was asked for. */
  readonly stationary: boolean;
  /** What training minimised, over the partitions that it met. */
  readonly loss: StreamedLoss<Adapter, unknown>;
  /** The same pairs over the partitions that scores are averaged over. */
  readonly swept: StreamedLoss<Adapter, unknown>;
  /** A hash of what the model sees of the pairs. */
  contents(): Promise<string>;
  /** Other pairs, read as the settings of the run say. */
  read(data: string, part: OptionValues<typeof PART_OPTIONS>): Promise<Pick<AskedPairs, 'dataset' | 'dropped'>>;
  /**
   * The objective of other pairs, listed somewhere or at hand, without L2, in batches as large as those of training, which
   * are the same for every question to the run.
   */
  evaluation(
    data: string | Dataset,
    part: OptionValues<typeof PART_OPTIONS>,
  ): Promise<EvaluationPairs & { readonly dropped: readonly string[] }>;
  close(): void;
}

/** The partitions that training met. */
function recordedPartitions(folder: string, count: number): Partition[] {
  const path = runFile(folder, 'partitions');
  const found = decodePartitions(path, readBytes(path));
  if (found.count !== count) {
    throw new EcifError(`${path}: partitions of ${found.count} pairs, the run has ${count}; is the folder of one run?`);
  }
  return found.partitions;
}

const drawn = (
  sampler: Sampler,
  { rows }: Dataset,
  size: number,
  { many, stream }: { many: number; stream(i: number): Rng },
): Partition[] => {
  const draw = partitionDrawer(sampler, rows, size);
  return Array.from({ length: many }, (_, i) => draw(stream(i)));
};

/**
 * Opens a run folder.
 * @param partitions random ones to average scores over instead of those of training; 0 for those
 * @throws EcifError for a run that is not done, or whose pairs or weights have changed
 */
export async function openTrained(
  folder: string,
  device: Device,
  { partitions, seed, 'cache-mb': cache }: { partitions: number; seed: number; 'cache-mb': number },
  progress: Progress,
): Promise<OpenedRun> {
  const record = readRun(folder);
  if (record.status !== 'done') {
    const diverged = record.status === 'diverged';
    const fix = diverged ? 'train anew with a smaller --rate' : `finish it with ecif train --resume --out ${folder}`;
    throw new EcifError(`${folder}: the run is ${record.status}; ${fix}`);
  }
  const settings = { ...settingsIn(folder, record), 'cache-mb': cache };
  const { dataset } = await openPairs(settings, progress, record.dataset.dropped ?? []);
  if (datasetHash(dataset) !== record.dataset.sha256) {
    throw new EcifError(`${dataset.source}: other pairs than the run was trained on; restore them`);
  }
  const model = await openRunModel(settings, device);
  if (model.weights !== record.weights) {
    throw new EcifError(`${folder}: the model is not the one the run was trained on; restore its weights`);
  }
  const start = model.start();
  const { state, centre } = await loadCheckpoint(runFile(folder, 'theta'), start, device);
  disposeTree(start);
  const closers: (() => void)[] = [];
  const ready = (pairs: Dataset): Promise<ReadyPairs> => readyPairs(model, pairs, cache * 2 ** 20);
  const taskOf = async (pairs: ReadyPairs, name: string) => {
    const task = await model.task(pairs, `${folder}/${name}-${process.pid}.tmp`, progress);
    closers.push(() => task.close());
    return task;
  };
  const trained = await ready(dataset);
  requirePictures(dataset.source, record.dataset.pictures, await trained.pictures());
  const task = await taskOf(trained, 'frozen-score');
  const { sampler, batch: size } = settings;
  const loss: StreamedLoss<Adapter, unknown> = {
    model: task.still,
    partitions: recordedPartitions(folder, dataset.rows.length),
    batch: (rows) => task.plain(rows),
    l2: settings.l2,
    centre: centre ?? undefined,
  };
  const random = { many: partitions, stream: (i: number) => streamOf(seed, 'score-partition', i) };
  const read: OpenedRun['read'] = (data, part) => openPairs(otherPairs(settings, data, part), progress);
  return {
    ...{ settings, model, dataset, theta: state.theta, steps: state.step, loss },
    stationary: (record.norms as Partial<FinalNorms> | undefined)?.stationarity?.reached ?? false,
    swept: partitions === 0 ? loss : { ...loss, partitions: drawn(sampler, dataset, size, random) },
    contents: () => trained.contents(),
    read,
    evaluation: async (data, part) => {
      const { dataset: other, dropped } =
        typeof data === 'string' ? await read(data, part) : { dataset: data, dropped: [] };
      if (other.rows.length < 2) throw new EcifError(`${other.source}: one pair; a contrastive loss needs two or more`);
      const pairs = await ready(other);
      const { still, plain } = await taskOf(pairs, 'frozen-validation');
      const batches = drawn('random', other, size, { many: 1, stream: () => streamOf(settings.seed, 'evaluation') });
      return {
        ...{ dataset: other, dropped, pairs },
        loss: { model: still, partitions: batches, batch: (rows) => plain(rows), l2: 0 },
      };
    },
    close: () => closers.forEach((close) => close()),
  };
}
