// One scoring run: from a trained run and evaluation pairs to a file with every pair's scores.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRng } from '../array/rng.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import type { Dataset } from '../data/dataset.ts';
import { encodePartitions } from '../data/partitions.ts';
import { type Occurrence, OCCURRENCE_COLUMNS, occurrenceCells } from '../data/score-columns.ts';
import { openScoreRun } from '../data/score-run.node.ts';
import { parseShard } from '../data/score-shard.ts';
import type { TableSummary } from '../data/score-writer.node.ts';
import type { Device } from '../device/open.ts';
import type { SolveRecord, SolverRecord } from '../ecif/curvature/index.ts';
import { batchPlaces, type StreamedBatch, streamScores, type SweepPlan } from '../ecif/streamed-scores.ts';
import { type Target, type TargetGradient, targetGradients } from '../ecif/targets.ts';
import type { Adapter } from '../models/clip/lora.ts';
import { gradientNorm } from '../models/streamed.ts';
import { UsageError } from './args.ts';
import { writeText } from './files.ts';
import type { Progress } from './progress.ts';
import { datasetHash, runFile } from './run-folder.ts';
import { endsOf, type TargetEnds } from './score-ends.ts';
import { type OpenedRun, openTrained } from './score-model.ts';
import type { ScoreSettings } from './score-options.ts';
import { solveAll, type Solutions } from './score-solve.ts';
import { ownVersion } from './versions.ts';

/** What is known of a scoring run, also written beside its file. */
export interface ScoreRecord {
  readonly out: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly device: string;
  readonly version: string;
  readonly pairs: number;
  readonly parameters: number;
  readonly partitions: number;
  readonly targets: readonly { readonly name: string; readonly pairs: number; readonly loss: number }[];
  readonly curvature: SolverRecord;
  readonly solves: readonly SolveRecord[];
  /** ‖∇L(θ̂)‖ of the training objective; influence takes it for 0. */
  readonly gradientNorm: number;
  readonly seconds: { readonly solve: number; readonly sweep: number };
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Ids of validation pairs left out because their pictures are bad. */
  readonly dropped: readonly string[];
  /** By target; none of a shard, whose file is not averaged. */
  readonly ends: readonly TargetEnds[];
}

/** The targets that the settings ask for. */
function targetsOf({ rows, source }: Dataset, which: ScoreSettings['targets']): Target[] {
  if (which === 'all') return [{ name: 'validation', rows: null }];
  if (which === 'pairs') return rows.map(({ id }, i) => ({ name: id, rows: new Set([i]) }));
  const classes = new Map<string, Set<number>>();
  rows.forEach(({ label }, i) => {
    if (label !== undefined && label !== null) classes.set(label, (classes.get(label) ?? new Set()).add(i));
  });
  if (classes.size === 0)
    throw new UsageError(`${source}: no labels; add a column label, or leave out --targets classes`);
  return Array.from(classes, ([name, members]) => ({ name, rows: members }));
}

/**
 * Tells one question about a run from another: settings that matter, parameters, pairs, batches, device.
 * @param evaluation pairs that the question is about, null where it is about none
 */
export function signatureOf(
  folder: string,
  run: OpenedRun,
  evaluation: Dataset | null,
  asked: Readonly<Record<string, unknown>>,
  device: Device,
): string {
  const judged = evaluation === null ? null : datasetHash(evaluation);
  return createHash('sha256')
    .update(JSON.stringify([asked, ownVersion(), device.name, datasetHash(run.dataset), judged]))
    .update(readFileSync(runFile(folder, 'theta')))
    .update(encodePartitions(run.dataset.rows.length, run.loss.partitions))
    .digest('hex');
}

/** The rows of a batch. */
const occurrencesOf = (
  { pairs }: StreamedBatch,
  { rows }: Dataset,
  targets: readonly TargetGradient<Adapter>[],
): Occurrence[] =>
  pairs.flatMap(({ row, partition, batch, position, scores, relative, self, cosine }) =>
    targets.map(({ name }, i) => ({
      ...{ row, partition, batch, position, id: rows[row].id, caption: rows[row].caption },
      ...scores[i],
      relative: relative.length === 0 ? null : relative[i].value,
      self: self?.value ?? null,
      clipscore: cosine,
      flag: null,
      target: name,
      error: null,
    })),
  );

/** Says how far a sweep is. */
function sweepTeller(progress: Progress, first: number, end: number): (done: number) => void {
  const began = performance.now();
  return (done) => {
    const left = ((performance.now() - began) / 1000 / (done - first)) * (end - done);
    progress.status(`scores: batch ${done} of ${end}  ${Math.ceil(left)} s left`);
  };
}

/** Writes the scores of every batch that is not yet written. */
async function sweep(
  run: OpenedRun,
  plan: SweepPlan<Adapter>,
  targets: readonly TargetGradient<Adapter>[],
  { out, signature, shard }: { out: string; signature: string; shard: string | undefined },
  progress: Progress,
): Promise<TableSummary> {
  const { dataset, loss, theta } = run;
  const output = await openScoreRun(out, {
    ...{ columns: OCCURRENCE_COLUMNS, signature, blocks: batchPlaces(loss).length },
    shard: shard === undefined ? undefined : parseShard(shard),
    average: { pairs: dataset.rows.length, targets: targets.map(({ name }) => name) },
  });
  try {
    const { end } = output.range;
    if (output.next > output.range.first) progress.line(`resumed after batch ${output.next} of ${end}`);
    const tell = sweepTeller(progress, output.next, end);
    for await (const batch of streamScores(loss, theta, plan, output.next, end)) {
      await output.append(occurrencesOf(batch, dataset, targets).map(occurrenceCells));
      tell(output.next);
    }
    return await output.finish();
  } finally {
    await output.close();
  }
}

/** Random probes: normal vectors, equal for equal seeds. */
function drawProbes(theta: Adapter, count: number, seed: number): Adapter[] {
  const [flat, rng] = [new Flat(theta), createRng(seed)];
  return Array.from({ length: count }, () => flat.normal(rng));
}

const planOf = (
  { solved }: Solutions,
  targets: number,
  probes: readonly Adapter[],
  form: ScoreSettings['form'],
): SweepPlan<Adapter> => ({
  form,
  targets: solved.slice(0, targets),
  ...(probes.length === 0 ? {} : { probes: { exact: false, probes, solved: solved.slice(targets) } }),
});

/**
 * Scores every pair of a trained run.
 * @param folder the run
 * @returns the record that is in `OUT.json`
 */
export async function runScoring(
  folder: string,
  settings: ScoreSettings,
  device: Device,
  progress: Progress,
): Promise<ScoreRecord> {
  const { validation, probes: count, seed, shard, form } = settings;
  if (validation === undefined) throw new UsageError('score: no evaluation pairs; give --validation DATA');
  const out = settings.out ?? join(folder, 'scores.parquet');
  if (shard !== undefined) parseShard(shard);
  const run = await openTrained(folder, device, settings, progress);
  try {
    const evaluation = await run.evaluation(validation, settings, seed);
    const { norm } = await gradientNorm(run.loss, run.theta);
    const targets = await targetGradients(evaluation.loss, run.theta, targetsOf(evaluation.dataset, settings.targets));
    const probes = drawProbes(run.theta, count, seed);
    const { out: _out, shard: _shard, top: _top, 'cache-mb': _cache, ...asked } = settings;
    const signature = signatureOf(folder, run, evaluation.dataset, asked, device);
    const right = [...targets.map(({ gradient }) => gradient), ...probes];
    const place = { settings, folder: join(folder, 'solutions'), signature: signature.slice(0, 16) };
    const solutions = await solveAll(run.loss, run.theta, right, place, progress);
    const began = performance.now();
    const plan = planOf(solutions, targets.length, probes, form);
    const { rows, bytes, sha256 } = await sweep(run, plan, targets, { out, signature, shard }, progress);
    const record: ScoreRecord = {
      ...{ out, options: { ...settings, run: folder }, device: device.name, version: ownVersion() },
      ...{ pairs: run.dataset.rows.length, parameters: new Flat(run.theta).size },
      partitions: run.loss.partitions.length,
      targets: targets.map(({ name, pairs, value }) => ({ name, pairs, loss: value })),
      ...{ curvature: solutions.about, solves: solutions.history, gradientNorm: norm },
      seconds: { solve: solutions.seconds, sweep: (performance.now() - began) / 1000 },
      ...{ rows, bytes, sha256, dropped: evaluation.dropped },
      ends: shard === undefined ? await endsOf(out, settings.top) : [],
    };
    writeText(`${out}.json`, `${JSON.stringify(record, null, 2)}\n`);
    disposeTree([right, solutions.solved, run.theta]);
    return record;
  } finally {
    run.close();
  }
}
