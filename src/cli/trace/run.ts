// One tracing run: from a trained run and queries to the training pairs behind its answers, and what removing them does.

import { join } from 'node:path';
import { Flat } from '../../autodiff/flat.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import {
  type Answer,
  type AnswerGradient,
  answersOf,
  questionGradients,
  type Questions,
} from '../../ecif/questions.ts';
import { drawProbes, noiseOf } from '../../ecif/relative.ts';
import { batchesLeft, removeByRung } from '../../ecif/rungs.ts';
import { DENSE_UP_TO } from '../../ecif/solver.ts';
import { removalScores } from '../../ecif/streamed-removal.ts';
import type { SweepPlan } from '../../ecif/streamed-scores.ts';
import { knownGradients, rankSources, type Source, sourcesOf } from '../../ecif/trace.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { isObject } from '../../models/clip/formats/fields.ts';
import type { TracedQuery, TracedSource, TraceRecord } from '../../report/records.ts';
import { UsageError } from '../args.ts';
import { type OutputKind, requireOutput, writeText } from '../files.ts';
import { countdown, type Progress } from '../progress.ts';
import { placesOf } from '../runs/run-paths.ts';
import { type RungSolvers, rungSolvers } from '../solve/rung-solvers.ts';
import { type EvaluationPairs, type OpenedRun, openTrained } from '../runs/opened-run.ts';
import { solverSettings } from '../score/options.ts';
import { solveAll } from '../solve/solve-all.ts';
import { signatureOf } from '../solve/signature.ts';
import type { TraceSettings } from './options.ts';
import { chooseQueries, querySet, type QuerySet } from './queries.ts';
import { readTruth } from '../runs/truth.ts';
import { ownVersion } from '../versions.ts';

const TRACE: OutputKind = {
  ...{ what: 'record of ecif trace', ending: '.json' },
  is: (text) => {
    try {
      const found = JSON.parse(text) as unknown;
      return isObject(found) && found.command === 'trace';
    } catch {
      return false;
    }
  },
};

/** A trace that is under way. */
interface Tracing {
  readonly folder: string;
  readonly settings: TraceSettings;
  readonly run: OpenedRun;
  readonly set: QuerySet;
  readonly evaluation: EvaluationPairs;
  /** Which training pairs are known to be swapped; null where nothing is known. */
  readonly truth: readonly boolean[] | null;
  readonly device: Device;
  readonly progress: Progress;
}

/** Probes for relative scores, with H⁻¹ of each: unit vectors for few parameters, random ones for many. */
async function probesOf({ folder, settings, run, device, progress }: Tracing) {
  const { probes: count, seed, tolerance } = settings;
  const { theta } = run;
  const flat = new Flat(theta);
  const exact = flat.size <= DENSE_UP_TO;
  const { probes } = drawProbes(theta, { probes: exact ? 0 : count, seed });
  const accuracy = exact ? Math.min(tolerance, Math.max(1e-8, 1024 * flat.device.epsilon)) : tolerance;
  const solving = { ...solverSettings(settings), tolerance: accuracy };
  const asked = { ...solving, for: 'probes', count: probes.length };
  const signature = (await signatureOf(folder, run, null, asked, device)).slice(0, 16);
  const place = { settings: solving, folder: join(folder, 'solutions'), signature };
  const { solved } = await solveAll(run.loss, theta, probes, place, progress);
  const noise = noiseOf(theta, { accuracy });
  return { exact, probes, solved, noise };
}

/** H⁻¹·∇ of the loss of each chosen query, kept for another time. */
async function solvedQueries(
  { folder, settings, run, set, evaluation, device, progress }: Tracing,
  chosen: readonly number[],
  answers: readonly AnswerGradient<Adapter>[],
): Promise<readonly Adapter[]> {
  const asked = { ...solverSettings(settings), for: 'trace', chosen, candidates: [...set.candidates] };
  const signature = (await signatureOf(folder, run, evaluation, asked, device)).slice(0, 16);
  const right = answers.map(({ gradient }) => gradient);
  const place = { settings, folder: join(folder, 'solutions'), signature };
  return (await solveAll(run.loss, run.theta, right, place, progress)).solved;
}

/** Predictions that are listed; the truth is added where it is not among them. */
const LISTED = 5;

function predictionsOf({ set: { dataset, candidates } }: Tracing, { probabilities }: Answer, truth: number) {
  const order = [...candidates.keys()].toSorted((a, b) => probabilities[b] - probabilities[a] || a - b);
  const listed = order.slice(0, LISTED);
  return (listed.includes(truth) ? listed : [...listed, truth]).map((c) => ({
    caption: dataset.rows[candidates[c]].caption,
    probability: probabilities[c],
    right: c === truth,
  }));
}

/** What removing the sources against a query does to it, in memory. */
async function removalOf(
  { settings: { rung, steps }, run }: Tracing,
  asked: Questions<Adapter, unknown>,
  { against, along, before }: { against: readonly Source[]; along: Adapter; before: Answer },
  solvers: RungSolvers,
): Promise<TracedQuery['removal']> {
  const rows = against.map(({ row }) => row).sort((a, b) => a - b);
  if (rung === 'none' || rows.length === 0 || batchesLeft(run.loss, rows).whole === 0) return null;
  const [change] = await removalScores(run.loss, run.theta, rows, [along]);
  const { theta } = await removeByRung(run.loss, run.theta, rows, rung, {
    ...{ h: solvers.h, solverAt: solvers.solverAt, steps },
  });
  const [after] = await answersOf(asked, theta);
  disposeTree(theta);
  const [{ truth }] = asked.questions;
  return {
    ids: against.map(({ row }) => run.dataset.rows[row].id),
    rung,
    predictedLoss: before.loss + change,
    editedLoss: after.loss,
    probabilityBefore: before.probabilities[truth],
    probabilityAfter: after.probabilities[truth],
  };
}

/** A source as people know it. */
function sourceOf({ run: { dataset }, truth }: Tracing, { row, score, relative }: Source): TracedSource {
  const { id, caption, label } = dataset.rows[row];
  return { id, caption, relative, score, label, swapped: truth?.[row] ?? null };
}

/** Traces the chosen queries: a solve each, one sweep for all, and an edit each. */
async function traceChosen(
  tracing: Tracing,
  base: Omit<Questions<Adapter, unknown>, 'questions'>,
  chosen: readonly number[],
): Promise<TracedQuery[]> {
  const { settings, run, set, progress } = tracing;
  const questions = chosen.map((q) => set.questions[q]);
  const answers = await questionGradients({ ...base, questions }, run.theta);
  const targets = await solvedQueries(tracing, chosen, answers);
  const { exact, probes, solved, noise } = await probesOf(tracing);
  const known = exact ? await knownGradients(run.theta, answers, noise) : {};
  const plan: SweepPlan<Adapter> = { targets, probes: { exact, probes, solved, ...known } };
  const sources = await sourcesOf(run.loss, run.theta, plan, countdown(progress, 'sweep: batch'));
  const solvers = rungSolvers(run.loss, run.theta, { ...settings, rung: settings.rung as 'rescaled' }, progress);
  const tell = countdown(progress, 'edits:');
  const traced: TracedQuery[] = [];
  try {
    for (const [i, answer] of answers.entries()) {
      const { row, truth } = questions[i];
      const ranked = rankSources(sources[i], settings.top, settings.by);
      const one = { ...base, questions: [questions[i]] };
      const edited = { against: ranked.against, along: targets[i], before: answer };
      const { id, caption, label } = set.dataset.rows[row];
      traced.push({
        ...{ id, caption, label, loss: answer.loss, mistaken: answer.mistaken },
        predictions: predictionsOf(tracing, answer, truth),
        against: ranked.against.map((source) => sourceOf(tracing, source)),
        for: ranked.for.map((source) => sourceOf(tracing, source)),
        removal: await removalOf(tracing, one, edited, solvers),
      });
      if (settings.rung !== 'none') tell(i + 1, answers.length);
    }
  } finally {
    solvers.close();
    disposeTree([answers.map(({ gradient }) => gradient), targets, probes, solved]);
  }
  return traced;
}

/**
 * Traces the answers of a trained run to its training pairs.
 * @param folder the run
 * @returns the record that is in `trace.json`
 */
export async function runTrace(
  folder: string,
  settings: TraceSettings,
  device: Device,
  progress: Progress,
): Promise<TraceRecord> {
  const began = performance.now();
  if (settings.queries === undefined) throw new UsageError('trace: no queries; give --queries DATA');
  const out = settings.out ?? join(folder, 'trace.json');
  if (settings.out !== undefined) requireOutput(out, TRACE);
  const run = await openTrained(folder, device, { ...settings, partitions: 0 }, progress);
  try {
    const { dataset: queries } = await run.read(settings.queries, settings);
    const set = querySet(queries, settings.against, run.settings.templates.split('|')[0]);
    const evaluation = await run.evaluation(set.dataset, settings);
    const { loss } = evaluation;
    const base = { model: loss.model, batch: loss.batch, candidates: set.candidates, size: run.settings.batch };
    progress.status(`asking about ${set.questions.length} pictures, ${set.candidates.length} candidates`);
    const answers = await answersOf({ ...base, questions: set.questions }, run.theta);
    const chosen = chooseQueries(queries, answers, settings);
    const truth = readTruth(folder, undefined, run.dataset);
    const tracing = { folder, settings, run, set, evaluation, truth, device, progress };
    const record: TraceRecord = {
      ...{ command: 'trace', options: { ...settings, run: folder }, device: device.name, version: ownVersion() },
      ...placesOf(folder, { queries: settings.queries }),
      queries: chosen.length === 0 ? [] : await traceChosen(tracing, base, chosen),
      asked: answers.length,
      mistaken: answers.filter(({ mistaken }) => mistaken).length,
      seconds: (performance.now() - began) / 1000,
    };
    writeText(out, `${JSON.stringify(record, null, 2)}\n`);
    return record;
  } finally {
    disposeTree(run.theta);
    run.close();
  }
}
