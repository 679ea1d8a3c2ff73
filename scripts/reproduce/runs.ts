// Training runs of the experiments, each a run folder of `ecif train`, made once and found again.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { EcifError } from '../../src/array/errors.ts';
import type { Progress } from '../../src/cli/progress.ts';
import { readRun, runFile, type RunRecord } from '../../src/cli/runs/run-folder.ts';
import type { FinalNorms } from '../../src/cli/train/end.ts';
import type { TrainSettings } from '../../src/cli/train/options.ts';
import { runTraining } from '../../src/cli/train/run.ts';
import { ownVersion } from '../../src/cli/versions.ts';
import { hashOfFile } from '../../src/data/score-files.node.ts';
import type { Device } from '../../src/device/open.ts';

/** A finished run. */
export interface Trained {
  readonly folder: string;
  readonly record: RunRecord;
  /** What a cell says of it. */
  readonly about: RunAbout;
}

/** A run as a cell names it. */
export interface RunAbout {
  /** Its folder, seen from the folder of results. */
  readonly run: string;
  /** SHA-256 of its run.json. */
  readonly sha256: string;
  readonly pairs: number;
  /** Of the steps and of what follows until the gradient is small. */
  readonly seconds: number;
  /** ‖∇F‖ at its end, and whether that is what was asked for. */
  readonly gradient: number;
  readonly settled: boolean;
}

/** Refuses a run that was made otherwise. */
function requireSame(folder: string, { options, versions }: RunRecord, settings: TrainSettings): void {
  const other = Object.entries({ ...settings, resume: false }).find(
    ([name, value]) => value !== undefined && options[name] !== value,
  );
  if (other !== undefined)
    throw new EcifError(`${folder}: a run of another ${other[0]}; remove it, or give another --out`);
  const { ecif } = versions as { ecif: string };
  if (ecif !== ownVersion())
    throw new EcifError(`${folder}: a run of version ${ecif}; remove it, or give another --out`);
}

/**
 * Trains, goes on with a run that was stopped, or takes one that is done.
 * @param out folder of all results
 * @throws EcifError for a folder with a run of other settings
 */
export async function trainRun(
  settings: TrainSettings,
  out: string,
  device: Device,
  progress: Progress,
): Promise<Trained> {
  const folder = settings.out as string;
  const there = existsSync(runFile(folder, 'run'));
  if (there) requireSame(folder, readRun(folder), settings);
  mkdirSync(dirname(folder), { recursive: true });
  const record = await runTraining({ ...settings, resume: there }, device, progress);
  const { gradientNorm, stationarity } = record.norms as FinalNorms;
  const { steps, end } = record.seconds as { steps: number; end: number };
  const sha256 = await hashOfFile(runFile(folder, 'run'));
  const settled = stationarity?.reached === true || stationarity?.status === 'rounding';
  const about = { run: relative(out, folder), sha256, pairs: record.dataset.pairs };
  return { folder, record, about: { ...about, seconds: steps + end, gradient: gradientNorm, settled } };
}
