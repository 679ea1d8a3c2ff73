// The end of a training run: on to stationarity where that was asked for, and the gradient of the objective.

import { disposeTree } from '../../autodiff/tensor.ts';
import type { Partition } from '../../data/partitions.ts';
import type { Device } from '../../device/open.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { DivergedError } from '../../models/clip/train.ts';
import { settle, type Settled, type SettleProgress } from '../../models/settle.ts';
import { stacked } from '../../models/stacked.ts';
import { gradientNorm, type StreamedLoss } from '../../models/streamed.ts';
import type { Progress } from '../progress.ts';
import type { TrainSettings } from './options.ts';
import type { RunTask } from './task.ts';

/** What the end of a run says of the objective. */
export interface FinalNorms {
  readonly objective: number;
  /** What it was before the first step, where it has grown since; null where it has not. */
  readonly grownFrom: number | null;
  readonly gradientNorm: number;
  /** Partitions of the objective it was measured over: all that were recorded, or the last of them. */
  readonly partitions: number;
  /** Partitions that training met. */
  readonly recorded: number;
  readonly stationarity: null | {
    readonly tolerance: number;
    readonly reached: boolean;
    readonly status: Settled<unknown>['status'];
    readonly iterations: { readonly lbfgs: number; readonly newton: number };
    /** Size of a gradient that is all rounding. */
    readonly floor: number;
  };
}

/** The part of a run that its end needs. */
export interface EndOfRun {
  readonly settings: TrainSettings;
  readonly steps: number;
  readonly task: RunTask;
  readonly partitions: readonly Partition[];
  readonly centre: Adapter | undefined;
  readonly device: Device;
  readonly progress: Progress;
  /** Pairs that are trained on, and their mean loss in the first step; null where there was none. */
  readonly pairs: number;
  readonly firstLoss: number | null;
  /** Parameters before the first step; new tensors at every call. */
  start(): Adapter;
  /** Where an earlier process was. */
  readonly settled: SettleProgress | undefined;
  checkpoint(theta: Adapter, settled: SettleProgress): Promise<void>;
}

/** Names the first batch whose loss or gradient is no number. */
async function refuse(
  { settings: { rate }, steps: step }: EndOfRun,
  loss: StreamedLoss<Adapter, unknown>,
  theta: Adapter,
  { value, norm }: { value: number; norm: number },
): Promise<never> {
  for (const rows of loss.partitions.flat()) {
    const found = await gradientNorm({ ...loss, partitions: [[rows]] }, theta);
    if (!Number.isFinite(found.value + found.norm)) {
      throw new DivergedError({ step, loss: found.value, norm: found.norm, rate }, rows);
    }
  }
  throw new DivergedError({ step, loss: value, norm, rate }, loss.partitions.flat()[0]);
}

/**
 * Partitions that the gradient is measured over. All weights trained from scratch, and not to stationarity, are no
 * optimum, and a sweep over every partition takes as long as their training: the last one says as much.
 */
function measuredOf({ settings, partitions }: EndOfRun): readonly Partition[] {
  const { 'from-scratch': scratch, 'to-stationarity': tolerance } = settings;
  return scratch !== undefined && tolerance === undefined ? partitions.slice(-1) : partitions;
}

/** The objective before the first step, where it has grown since; it is computed where the first batch gives reason to. */
async function grownFrom(
  { pairs, firstLoss, start }: EndOfRun,
  loss: StreamedLoss<Adapter, unknown>,
  objective: number,
): Promise<number | null> {
  if (firstLoss === null || objective <= 2 * pairs * firstLoss) return null;
  const theta = start();
  const { value } = await gradientNorm(loss, theta);
  disposeTree(theta);
  return objective > value ? value : null;
}

/**
 * Trains on to stationarity where that was asked for, and measures the gradient of the objective.
 * @param theta taken over
 */
export async function runEnd(run: EndOfRun, theta: Adapter): Promise<{ theta: Adapter; norms: FinalNorms }> {
  const { settings, task, centre, progress } = run;
  const { 'to-stationarity': tolerance, 'cache-mb': megabytes, l2, iterations, 'newton-steps': newtonSteps } = settings;
  const batch = (rows: Uint32Array): Promise<unknown> => task.plain(rows);
  const loss: StreamedLoss<Adapter, unknown> = { model: task.still, partitions: measuredOf(run), batch, l2, centre };
  const counts = { partitions: loss.partitions.length, recorded: run.partitions.length };
  progress.status(`gradient ${describeMeasured(counts)}`);
  const { value, norm } = await gradientNorm(loss, theta);
  if (!Number.isFinite(value + norm)) await refuse(run, loss, theta, { value, norm });
  if (tolerance === undefined) {
    const from = await grownFrom(run, loss, value);
    return { theta, norms: { objective: value, grownFrom: from, gradientNorm: norm, ...counts, stationarity: null } };
  }
  const settled = await settle(await stacked(loss), theta, {
    ...{ tolerance, iterations, newtonSteps, memory: megabytes * 2 ** 20 },
    progress: run.settled,
    onSegment: (at, reached) => run.checkpoint(at, reached),
    onIteration: (method, i, value, norm) =>
      progress.status(`${method} ${i}  objective ${value.toPrecision(8)}  gradient ${norm.toExponential(2)}`),
  });
  disposeTree(theta);
  const { value: objective, gradientNorm: reachedNorm, converged: reached, status, floor } = settled;
  const stationarity = { tolerance, reached, status, iterations: settled.iterations, floor };
  return {
    theta: settled.theta,
    norms: {
      ...{ objective, grownFrom: await grownFrom(run, loss, objective), gradientNorm: reachedNorm },
      ...{ ...counts, stationarity },
    },
  };
}

/** What the objective and its gradient were measured over, in words. */
export function describeMeasured({ partitions, recorded }: Pick<FinalNorms, 'partitions' | 'recorded'>): string {
  if (recorded > partitions) return `over the last of ${recorded} partitions`;
  return `over ${partitions} partition${partitions === 1 ? '' : 's'}`;
}

/** Warns of training that made the objective worse; null where it did not. */
export function describeGrowth({ objective, grownFrom: from }: Partial<FinalNorms>): string | null {
  if (objective === undefined || (from ?? null) === null) return null;
  return `the objective grew from ${(from as number).toPrecision(4)} to ${objective.toPrecision(4)}; lower --rate, or give --clip`;
}

/** How near to stationarity a run came, in words. */
export function describeStationarity({
  gradientNorm: norm,
  stationarity,
}: Pick<FinalNorms, 'gradientNorm' | 'stationarity'>): string {
  if (stationarity === null) return 'not asked for';
  const { reached, status, tolerance, floor, iterations } = stationarity;
  const asked = `asked for ${tolerance.toExponential(1)}`;
  const after = `after ${iterations.lbfgs} L-BFGS iterations and ${iterations.newton} Newton steps`;
  if (status === 'rounding') {
    const limit = `rounding of this device allows about ${floor.toExponential(0)}`;
    return `NO, reached ${norm.toExponential(0)}, ${limit}; ${asked}; ${after}; --device cpu goes further`;
  }
  return `${reached ? 'yes' : 'NO'}, ${status}: ${asked}, ${after}`;
}
