// Training again without groups of pairs of a run: what was predicted of it, and what came of it.

import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { NumericsError } from '../../array/errors.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { removeByRung } from '../../ecif/rungs.ts';
import type { CurvesRecord, ModelMeasures } from '../../report/records.ts';
import { UsageError } from '../args.ts';
import { type AskedGroups, askedGroups, type Group, groupsOf } from './groups.ts';
import type { CurvesSettings } from './options.ts';
import { correlationsOf, curvesOf, type FoundGroup, measureOf, predictionsOf } from './results.ts';
import { beginWhole } from '../remove/edits.ts';
import { requireWritable, writeText } from '../files.ts';
import { meanLoss, measureAt } from '../evaluate/measures.ts';
import { numbersOf, scoresOf } from '../score/pair-scores.ts';
import { countdown, type Progress } from '../progress.ts';
import { leftNotes } from '../remove/run.ts';
import { leftOut, thetaIn, trainAgain, trainedBefore, WITHOUT_FILE } from '../remove/verify.ts';
import { scored } from '../report/records.ts';
import { readRecord } from '../report/run.ts';
import { CURVES_FOLDER, curvesRecordPath } from '../runs/run-folder.ts';
import { type RungSolvers, rungSolvers } from '../solve/rung-solvers.ts';
import { type EvaluationPairs, type OpenedRun, openTrained } from '../runs/opened-run.ts';
import { signatureOf } from '../solve/signature.ts';
import { ownVersion } from '../versions.ts';

/** Curves that are under way. */
interface Curving {
  readonly folder: string;
  readonly settings: CurvesSettings;
  readonly run: OpenedRun;
  readonly evaluation: EvaluationPairs;
  /** Of the model trained on all pairs. */
  readonly before: ModelMeasures;
  /** The score of every pair. */
  readonly scores: Float64Array;
  readonly device: Device;
  readonly progress: Progress;
}

/** A group with the folder in which it is trained without. */
interface PlacedGroup extends Group {
  readonly dir: string;
}

const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The columns that are asked of the scores, by their names. */
async function columnsOf(
  path: string,
  { by }: AskedGroups,
  { target }: CurvesSettings,
  { dataset }: OpenedRun,
): Promise<Map<string, Float64Array>> {
  const others = by.filter((name) => name !== 'score').map((name) => ({ name, option: '--by' }));
  const asked = [{ name: 'score', option: '--scores' }, ...others];
  const values = await numbersOf(path, asked, target, dataset);
  return new Map(asked.map(({ name }, i) => [name, values[i]]));
}

/** Says where the scores are about other pairs than the models are measured by, as far as the record of the scores tells. */
function scoreNotes(path: string, { target, validation }: CurvesSettings, { loss }: ModelMeasures): string[] {
  const { targets = [] } = readRecord(`${path}.json`, scored) ?? {};
  const then = (target === undefined ? targets[0] : targets.find(({ name }) => name === target))?.loss ?? loss;
  if (Math.abs(then - loss) <= 1e-3 * Math.abs(loss)) return [];
  const found = `the loss of theirs is ${then.toPrecision(4)}, that of ${validation} ${loss.toPrecision(4)}`;
  return [`the scores are about other validation pairs: ${found}`];
}

/** Gives every group a folder that no other group has, with the list of the pairs to train without. */
async function placed({ folder, run, device }: Omit<Curving, 'before'>, group: Group): Promise<PlacedGroup> {
  const ids = leftOut(
    run,
    group.rows.map((row) => run.dataset.rows[row].id),
  );
  const signature = await signatureOf(folder, run, null, { for: 'curves', without: ids }, device);
  const dir = join(folder, CURVES_FOLDER, `${group.rows.length}-${signature.slice(0, 12)}`);
  if (existsSync(dir)) return { ...group, dir };
  const place = beginWhole(dir);
  try {
    writeText(join(place.part, WITHOUT_FILE), text(ids));
    place.finish();
  } finally {
    place.abandon();
  }
  return { ...group, dir };
}

/** The validation loss after an edit in memory, null where none is asked for. */
async function editedLoss(
  { settings: { rung, steps }, run, evaluation }: Curving,
  { name, rows }: Group,
  { h, solverAt }: RungSolvers,
): Promise<{ readonly loss: number; readonly seconds: number } | null> {
  if (rung === 'none') return null;
  const began = performance.now();
  const { theta } = await removeByRung(run.loss, run.theta, rows, rung, { h, solverAt, steps });
  const seconds = (performance.now() - began) / 1000;
  const loss = await meanLoss(evaluation, theta);
  disposeTree(theta);
  if (Number.isFinite(loss)) return { loss, seconds };
  throw new NumericsError(`curves: the edit without ${name} is no number; raise --damping, or take another --rung`);
}

/** What is predicted of a group, and what training again without it does. */
async function findOut(curving: Curving, group: PlacedGroup, solvers: RungSolvers): Promise<FoundGroup> {
  const { folder, run, evaluation, before, scores, device, progress } = curving;
  const { name, curve, end, by, share, rows, dir } = group;
  const edit = await editedLoss(curving, group, solvers);
  const { out, seconds } = await trainAgain({ folder, dir }, rows.length, device, progress);
  const theta = await thetaIn(out, run, device);
  const measures = await measureAt(run, evaluation, theta, progress);
  disposeTree(theta);
  return {
    ...{ name, curve, end, by, share, pairs: rows.length, measures, seconds },
    predicted: rows.reduce((sum, row) => sum + scores[row], 0),
    edited: edit === null ? null : edit.loss - before.loss,
    actual: measures.loss - before.loss,
    retrained: relative(resolve(folder), resolve(out)),
    editSeconds: edit?.seconds ?? null,
  };
}

/** Every group, with the time that is left. */
async function findAll(curving: Curving, groups: readonly PlacedGroup[]): Promise<FoundGroup[]> {
  const { folder, settings, run, device, progress } = curving;
  const left = new Set(
    groups.filter(({ dir }) => trainedBefore({ folder, dir }, device) === null).map(({ dir }) => dir),
  );
  const of = left.size;
  const tell = countdown(progress, 'trained again:');
  const solvers = rungSolvers(run.loss, run.theta, { ...settings, rung: settings.rung as 'newton' }, progress);
  try {
    const found: FoundGroup[] = [];
    for (const group of groups) {
      found.push(await findOut(curving, group, solvers));
      if (left.delete(group.dir)) tell(of - left.size, of);
    }
    return found;
  } finally {
    solvers.close();
  }
}

/**
 * Trains a run again without groups of its pairs, and writes `predicted.json` and `curves.json` into its folder; what was
 * trained before is taken as it is.
 * @param folder the run
 * @returns the record that is in `curves/curves.json`
 */
export async function runCurves(
  folder: string,
  settings: CurvesSettings,
  device: Device,
  progress: Progress,
): Promise<CurvesRecord> {
  const began = performance.now();
  if (settings.validation === undefined) throw new UsageError('curves: no validation pairs; give --validation DATA');
  const asked = askedGroups(settings);
  const run = await openTrained(folder, device, { ...settings, partitions: 0 }, progress);
  try {
    const pairs = run.dataset.rows.length;
    const path = scoresOf('curves', folder, settings.scores);
    const columns = await columnsOf(path, asked, settings, run);
    const groups = groupsOf(asked, settings, columns, pairs);
    for (const { rows } of groups) leftNotes('curves', run, rows);
    const outs = ['predicted.json', 'curves.json'].map((name) => join(folder, name));
    outs.forEach(requireWritable);
    const evaluation = await run.evaluation(settings.validation, settings);
    const before = await measureAt(run, evaluation, run.theta, progress);
    const measure = measureOf(settings.measure, before);
    const notes = scoreNotes(path, settings, before);
    notes.forEach((note) => progress.line(note));
    const scores = columns.get('score') as Float64Array;
    const curving = { folder, settings, run, evaluation, before, scores, device, progress };
    const placedGroups: PlacedGroup[] = [];
    for (const group of groups) placedGroups.push(await placed(curving, group));
    const found = await findAll(curving, placedGroups);
    const predictions = predictionsOf(found, settings.rung);
    const record: CurvesRecord = {
      ...{ command: 'curves', options: { ...settings, run: folder }, device: device.name, version: ownVersion() },
      seconds: (performance.now() - began) / 1000,
      ...{ pairs, before, notes, correlations: correlationsOf(predictions) },
      groups: found.map(({ curve: _curve, ...group }) => group),
    };
    writeText(outs[0], text(predictions));
    writeText(outs[1], text(curvesOf(found, measure, record)));
    writeText(curvesRecordPath(folder), text(record));
    return record;
  } finally {
    disposeTree(run.theta);
    run.close();
  }
}
