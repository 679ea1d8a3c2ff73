// One scoring run: from a trained run and evaluation pairs to a file with every pair's scores.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { norm } from '../../array/vector.ts';
import { Flat } from '../../autodiff/flat.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { Dataset } from '../../data/dataset.ts';
import { encodePartitions } from '../../data/partitions.ts';
import { parseShard } from '../../data/score-shard.ts';
import type { TableSummary } from '../../data/score-writer.node.ts';
import type { Device } from '../../device/open.ts';
import type { SolveRecord, SolverRecord } from '../../ecif/curvature/index.ts';
import { drawProbes, noiseOf, requireProbes, type SolvedProbes } from '../../ecif/relative.ts';
import type { SweepPlan } from '../../ecif/streamed-scores.ts';
import { type Target, targetGradients } from '../../ecif/targets.ts';
import { treeSpace } from '../../linalg/tree-space.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { objectiveOf } from '../../models/streamed.ts';
import { UsageError } from '../args.ts';
import { writeText } from '../files.ts';
import type { Progress } from '../progress.ts';
import { endsOf, type TargetEnds } from './ends.ts';
import { requireScoresOutput, SCORES_FILE } from './files.ts';
import { type OpenedRun, openTrained } from '../runs/opened-run.ts';
import { EXACT_UP_TO, type ScoreSettings, solverSettings } from './options.ts';
import { solveAll, type Solutions } from '../solve/solve-all.ts';
import { sweep } from './sweep.ts';
import { signatureOf } from '../solve/signature.ts';
import { ownVersion } from '../versions.ts';

/** What is known of a scoring run before its file is whole; the same for all shards but for the time. */
export interface ScoreFacts {
  readonly options: Readonly<Record<string, unknown>>;
  readonly device: string;
  readonly version: string;
  /** Tells one question to the run from another. */
  readonly signature: string;
  readonly pairs: number;
  readonly parameters: number;
  /** Partitions that scores are averaged over. */
  readonly partitions: number;
  readonly targets: readonly {
    readonly name: string;
    readonly pairs: number;
    readonly loss: number;
    /** By how much the loss would fall, to first order, if training went on to where ∇L is 0. */
    readonly left: number;
  }[];
  readonly curvature: SolverRecord;
  readonly solves: readonly SolveRecord[];
  /** What is doubtful about the solves. */
  readonly warning: string | null;
  /** ‖∇L(θ̂)‖ of the training objective; influence takes it for 0. */
  readonly gradientNorm: number;
  /** Whether the run was trained on until the gradient was as small as was asked for. */
  readonly stationary: boolean;
  readonly seconds: { readonly solve: number; readonly sweep: number };
  /** Ids of validation pairs left out because their pictures are bad. */
  readonly dropped: readonly string[];
}

/** What is known of a scoring run, also written beside its file. */
export interface ScoreRecord extends ScoreFacts, TableSummary {
  readonly out: string;
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

/** The probes that the settings ask for; null for none. */
function probesOf(theta: Adapter, { probes, seed }: ScoreSettings): Omit<SolvedProbes<Adapter>, 'solved'> | null {
  if (probes === 0) return null;
  const { size } = new Flat(theta);
  if (probes === 'exact' && size > EXACT_UP_TO) {
    throw new UsageError(`--probes exact: ${size} parameters, at most ${EXACT_UP_TO}; give a number of probes`);
  }
  return drawProbes(theta, { probes: probes === 'exact' ? 0 : probes, seed });
}

/** What the sweep looks along. */
async function planOf(
  { solved, accuracy }: Solutions,
  gradients: readonly Adapter[],
  probes: Omit<SolvedProbes<Adapter>, 'solved'> | null,
  form: ScoreSettings['form'],
): Promise<SweepPlan<Adapter>> {
  const targets = solved.slice(0, gradients.length);
  if (probes === null) return { form, targets };
  const along = { ...probes, solved: solved.slice(gradients.length) };
  if (!probes.exact) return { form, targets, probes: along };
  const [theta] = gradients;
  const flat = new Flat(theta);
  const vectors: Float64Array[] = [];
  for (const gradient of gradients) vectors.push(await flat.toVector(gradient));
  const noise = noiseOf(theta, accuracy === null ? {} : { accuracy });
  return { form, targets, probes: { ...along, known: { gradients: vectors, noise } } };
}

/** Refuses what cannot be done before anything is read. */
async function requirePossible({ validation, probes, out, shard }: ScoreSettings): Promise<string> {
  if (validation === undefined) throw new UsageError('score: no evaluation pairs; give --validation DATA');
  if (probes !== 'exact') requireProbes(probes);
  if (shard !== undefined) parseShard(shard);
  if (out !== undefined) await requireScoresOutput(out);
  return validation;
}

/** What tells questions to a solver apart, and scores of a sweep. */
async function signaturesOf(
  folder: string,
  run: OpenedRun,
  evaluation: Parameters<typeof signatureOf>[2],
  settings: ScoreSettings,
  device: Device,
): Promise<{ solves: string; whole: string }> {
  const { targets, probes, form } = settings;
  const solves = await signatureOf(folder, run, evaluation, { ...solverSettings(settings), targets, probes }, device);
  const batches = encodePartitions(run.dataset.rows.length, run.swept.partitions);
  return {
    solves: solves.slice(0, 16),
    whole: createHash('sha256').update(`${solves} ${form}`).update(batches).digest('hex'),
  };
}

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
  const validation = await requirePossible(settings);
  const run = await openTrained(folder, device, settings, progress);
  try {
    return await scoreOpened(folder, run, { ...settings, validation }, device, progress);
  } finally {
    disposeTree(run.theta);
    run.close();
  }
}

/**
 * Scores every pair of a run that is open, which stays so.
 * @param place the file to write, by the signature of the question
 */
export async function scoreOpened(
  folder: string,
  run: OpenedRun,
  settings: ScoreSettings & { readonly validation: string },
  device: Device,
  progress: Progress,
  place: (signature: string) => string = () => settings.out ?? join(folder, SCORES_FILE),
): Promise<ScoreRecord> {
  const { shard, form } = settings;
  const probes = probesOf(run.theta, settings);
  const evaluation = await run.evaluation(settings.validation, settings);
  const { gradient } = await objectiveOf(run.loss)(run.theta);
  const targets = await targetGradients(evaluation.loss, run.theta, targetsOf(evaluation.dataset, settings.targets));
  const gradients = targets.map((target) => target.gradient);
  const right = [...gradients, ...(probes?.probes ?? [])];
  const signatures = await signaturesOf(folder, run, evaluation, settings, device);
  const out = place(signatures.whole);
  const kept = { settings, folder: join(folder, 'solutions'), signature: signatures.solves };
  const solutions = await solveAll(run.loss, run.theta, right, kept, progress);
  const left = await treeSpace<Adapter>().dots(gradients.map((_, i) => [solutions.solved[i], gradient]));
  const flat = new Flat(run.theta);
  const gradientNorm = norm(await flat.toVector(gradient));
  const began = performance.now();
  const facts = (): ScoreFacts => ({
    ...{ options: { ...settings, run: folder }, device: device.name, version: ownVersion() },
    signature: signatures.whole,
    ...{ pairs: run.dataset.rows.length, parameters: flat.size, partitions: run.swept.partitions.length },
    targets: targets.map(({ name, pairs, value }, i) => ({ name, pairs, loss: value, left: left[i] })),
    ...{ curvature: solutions.about, solves: solutions.history, warning: solutions.warning },
    ...{ gradientNorm, stationary: run.stationary, dropped: evaluation.dropped },
    seconds: { solve: solutions.seconds, sweep: (performance.now() - began) / 1000 },
  });
  const plan = await planOf(solutions, gradients, probes, form);
  const output = { out, signature: signatures.whole, shard, about: facts };
  const summary = await sweep(run, plan, targets, output, progress);
  const ends = shard === undefined ? await endsOf(out, settings.top) : [];
  const record: ScoreRecord = { out, ...facts(), ...summary, ends };
  writeText(`${out}.json`, `${JSON.stringify(record, null, 2)}\n`);
  disposeTree([right, gradient, solutions.solved]);
  return record;
}
