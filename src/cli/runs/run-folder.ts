// The folder of a training run: what it was asked, how it went, and what came of it.

import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import type { Dataset } from '../../data/dataset.ts';
import { isObject } from '../../models/clip/formats/fields.ts';
import type { StepRecord } from '../../models/clip/train.ts';
import { type OptionValue, UsageError } from '../args.ts';
import { readBytes, readText, writeText, writing } from '../files.ts';
import { FolderLock } from './lock.ts';

/** Files of a run. */
export const RUN_FILES = {
  run: 'run.json',
  log: 'log.jsonl',
  partitions: 'partitions.bin',
  checkpoint: 'checkpoint.safetensors',
  theta: 'theta.safetensors',
  truth: 'truth.csv',
} as const;

/** Contents of `run.json`. */
export interface RunRecord {
  readonly status: 'running' | 'done' | 'diverged';
  readonly options: Readonly<Record<string, OptionValue>>;
  readonly dataset: {
    readonly pairs: number;
    readonly sha256: string;
    /** A hash of the bytes of all pictures; not in records of older versions. */
    readonly pictures?: string;
    /** Ids of pairs left out because their pictures are bad. */
    readonly dropped?: readonly string[];
  };
  readonly device: string;
  /** Tells the weights that were begun with from others. */
  readonly weights: string;
  readonly [field: string]: unknown;
}

/** Tells lists of pairs apart: ids, paths and captions in their order. */
export const datasetHash = ({ rows }: Dataset): string =>
  createHash('sha256')
    .update(JSON.stringify(rows.map(({ id, image, caption }) => [id, image, caption])))
    .digest('hex');

/**
 * Refuses pictures that are not those of a run.
 * @param recorded the hash in its record; a run without one takes any
 * @throws EcifError
 */
export function requirePictures(source: string, recorded: string | undefined, now: string | undefined): void {
  if (recorded === undefined || recorded === now) return;
  throw new EcifError(`${source}: other pictures than the run was trained on, under the same names; restore them`);
}

/** The path of a file of a run. */
export const runFile = (folder: string, file: keyof typeof RUN_FILES): string => join(folder, RUN_FILES[file]);

/** The folder of a run in which `ecif curves` trains again, and the record of what came of it. */
export const CURVES_FOLDER = 'curves';
export const curvesRecordPath = (folder: string): string => join(folder, CURVES_FOLDER, 'curves.json');

/**
 * Refuses the folder of a new run where a run is already, or something that is no folder; makes nothing.
 * @throws UsageError that says where else to write
 */
export function requireFresh(folder: string): void {
  if (existsSync(runFile(folder, 'run'))) {
    throw new UsageError(`${folder}: holds a run already; give --resume to go on with it, or another --out`);
  }
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new UsageError(`${folder}: is a file, no folder; give another --out`);
  }
}

/** The lock of a run folder, which one training at a time holds. */
export const lockOfRun = (folder: string): FolderLock =>
  new FolderLock(folder, 'train.lock', (path, holder) => {
    return new UsageError(`${folder}: process ${holder} trains in it; wait for that, or remove ${path} if it is gone`);
  });

/**
 * The record of a run.
 * @throws UsageError for a folder without one
 */
export function readRun(folder: string): RunRecord {
  const path = runFile(folder, 'run');
  if (!existsSync(path))
    throw new UsageError(`${folder}: no run, ${RUN_FILES.run} is not there; name the folder of ecif train`);
  try {
    const record = JSON.parse(readText(path)) as Partial<RunRecord>;
    if (isObject(record.options) && isObject(record.dataset)) return record as RunRecord;
  } catch (error) {
    if (error instanceof EcifError) throw error;
  }
  throw new EcifError(`${path}: not the record of a run; begin the run anew`);
}

/** Writes `run.json`, whole or not at all. */
export function writeRun(folder: string, record: RunRecord): void {
  writeText(runFile(folder, 'run'), `${JSON.stringify(record, null, 2)}\n`);
}

/** Adds a line to `log.jsonl`. */
export function logStep(folder: string, record: StepRecord & { readonly epoch: number }): void {
  const path = runFile(folder, 'log');
  writing(path, () => appendFileSync(path, `${JSON.stringify(record)}\n`));
}

/** The mean loss of a pair in the first step, null where the log does not tell. */
export function firstLoss(folder: string): number | null {
  const [line] = readBytes(runFile(folder, 'log')).toString('utf8').split('\n', 1);
  return line === '' ? null : (JSON.parse(line) as StepRecord).loss;
}

/** Cuts the log back to the steps of a checkpoint. */
export function cutLog(folder: string, steps: number): void {
  const path = runFile(folder, 'log');
  const lines = existsSync(path) ? readBytes(path).toString('utf8').split('\n').slice(0, steps) : [];
  writing(path, () => writeFileSync(path, lines.map((line) => `${line}\n`).join('')));
}

/** Files that say how a model reads texts and pictures. */
const INPUT_FILES = [
  'vocab.json',
  'merges.txt',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'preprocessor_config.json',
  'bpe_simple_vocab_16e6.txt.gz',
  'bpe_simple_vocab_16e6.txt',
];

/** Copies them from the folder of a configuration. */
export function copyInputs(config: string, folder: string): void {
  for (const name of INPUT_FILES) {
    const from = join(dirname(config), name);
    const to = join(folder, basename(name));
    if (existsSync(from)) writing(to, () => writeFileSync(to, readFileSync(from)));
  }
}
