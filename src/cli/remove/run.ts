// One removal: from a trained run and the pairs to take out of it to the folder of an edited model.

import { join, resolve } from 'node:path';
import { NumericsError } from '../../array/errors.ts';
import { distance } from '../../array/vector.ts';
import { Flat } from '../../autodiff/flat.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { batchesLeft, type EditedModel, removeByRung } from '../../ecif/rungs.ts';
import { removalScores, withoutRows } from '../../ecif/streamed-removal.ts';
import { targetGradients } from '../../ecif/targets.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { saveCheckpoint } from '../../models/clip/train-checkpoint.node.ts';
import { gradientNorm } from '../../models/streamed.ts';
import type { RemovalRecord } from '../../report/records.ts';
import { UsageError } from '../args.ts';
import { beginWhole, editInForce, putInForce, readEdit, writeEdit } from './edits.ts';
import { writeText } from '../files.ts';
import { measureAt } from '../evaluate/measures.ts';
import { rowsOfIds } from '../runs/pair-ids.ts';
import type { Progress } from '../progress.ts';
import { editTolerance, type RemoveSettings } from './options.ts';
import { requireSelection, selectRows } from './select.ts';
import { leftOut, verifyEdit, WITHOUT_FILE } from './verify.ts';
import { runFile } from '../runs/run-folder.ts';
import { rungSolvers } from '../solve/rung-solvers.ts';
import { type EvaluationPairs, type OpenedRun, openTrained } from '../runs/opened-run.ts';
import { ITERATIVE, solverSettings } from '../score/options.ts';
import { solveAll } from '../solve/solve-all.ts';
import { signatureOf } from '../solve/signature.ts';
import { ownVersion } from '../versions.ts';

/** An edit that is asked for. */
interface Asked {
  readonly folder: string;
  readonly settings: RemoveSettings;
  readonly run: OpenedRun;
  readonly evaluation: EvaluationPairs | null;
  /** Rows of all pairs that the edit takes out. */
  readonly rows: readonly number[];
  readonly signature: string;
  readonly device: Device;
  readonly progress: Progress;
}

const plural = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`;

/** What a removal leaves, in words; refuses one that leaves nothing to learn from. */
export function leftNotes(command: string, { dataset, loss }: OpenedRun, rows: readonly number[]): string[] {
  const count = dataset.rows.length;
  if (rows.length === count) throw new UsageError(`${command}: all ${count} pairs of the run; leave some`);
  const { empty, lone, whole } = batchesLeft(loss, rows);
  if (whole === 0) throw new UsageError(`${command}: no batch would keep two pairs, which a loss needs; remove fewer`);
  return [
    ...(lone === 0 ? [] : [`${plural(lone, 'batch keeps', 'batches keep')} one pair, whose loss is 0`]),
    ...(empty === 0 ? [] : [`${plural(empty, 'batch keeps', 'batches keep')} no pair and drops out`]),
  ];
}

/**
 * Rows to take out: those that are named, and those of the edit in force.
 * @param before the edit in force, null for none
 */
async function rowsToRemove(
  { folder, before }: { folder: string; before: string | null },
  settings: RemoveSettings,
  { dataset }: OpenedRun,
  progress: Progress,
): Promise<number[]> {
  const named = await selectRows(folder, settings, dataset);
  if (before === null) return named;
  const earlier = rowsOfIds(readEdit(before)?.removed.map(({ id }) => id) ?? [], dataset);
  progress.line(`together with ${plural(earlier.length, 'pair', 'pairs')} of the edit in force, ${before}`);
  return [...new Set([...named, ...earlier])].sort((a, b) => a - b);
}

/** Loss and recall before and after, and the loss to first order. */
async function measuresOf(asked: Asked, edited: Adapter): Promise<RemovalRecord['measures']> {
  const { folder, settings, run, evaluation, rows, device, progress } = asked;
  if (evaluation === null) return null;
  const [{ gradient }] = await targetGradients(evaluation.loss, run.theta, [{ name: 'validation', rows: null }]);
  const signature = await signatureOf(folder, run, evaluation, { ...solverSettings(settings), for: 'remove' }, device);
  const place = { settings, folder: join(folder, 'solutions'), signature: signature.slice(0, 16) };
  const { solved } = await solveAll(run.loss, run.theta, [gradient], place, progress);
  const [change] = await removalScores(run.loss, run.theta, rows, solved);
  disposeTree([gradient, solved]);
  const before = await measureAt(run, evaluation, run.theta, progress);
  return {
    before,
    predictedLoss: before.loss + change,
    edited: await measureAt(run, evaluation, edited, progress),
  };
}

/** The edited parameters, how they were found and in what time. */
async function editOf({ settings, run, rows, progress }: Asked): Promise<EditedModel<Adapter> & Solved> {
  const began = performance.now();
  const { rung, steps } = settings;
  progress.status(`${rung}: removing ${plural(rows.length, 'pair', 'pairs')}`);
  const solvers = rungSolvers(run.loss, run.theta, settings, progress);
  try {
    const edited = await removeByRung(run.loss, run.theta, rows, rung, {
      ...{ h: solvers.h, solverAt: solvers.solverAt, steps },
      onStep: (step, of) => progress.status(`Newton step ${step} of ${of}`),
    });
    return { ...edited, curvature: solvers.used(), seconds: (performance.now() - began) / 1000 };
  } finally {
    solvers.close();
  }
}

interface Solved {
  readonly curvature: string;
  readonly seconds: number;
}

/** Makes the edit and everything that is said of it. */
async function makeEdit(asked: Asked, notes: readonly string[], began: number) {
  const { folder, settings, run, rows, signature, device } = asked;
  const { theta, note, curvature, seconds: editSeconds } = await editOf(asked);
  const flat = new Flat(run.theta);
  const moved = distance(await flat.toVector(theta), await flat.toVector(run.theta));
  const without = withoutRows(run.loss, rows);
  const [before, after] = [await gradientNorm(without, run.theta), await gradientNorm(without, theta)];
  if (!Number.isFinite(moved + after.norm)) {
    throw new NumericsError(`remove: the edited model is no number; raise --damping, or take another --rung`);
  }
  const farther = after.norm > before.norm ? ['the edited model is farther from a minimum than θ̂'] : [];
  const record: RemovalRecord = {
    ...{ command: 'remove', options: { run: folder, ...settings }, device: device.name, version: ownVersion() },
    seconds: (performance.now() - began) / 1000,
    run: folder,
    removed: rows.map((row) => ({ id: run.dataset.rows[row].id, caption: run.dataset.rows[row].caption })),
    ...{ rung: settings.rung, curvature, moved, editSeconds, signature },
    tolerance: ITERATIVE.includes(settings.solver) ? editTolerance(settings) : null,
    gradient: { before: before.norm, after: after.norm },
    notes: [...notes, ...(note === null ? [] : [note]), ...farther],
    measures: await measuresOf(asked, theta),
    retrained: null,
  };
  return { theta, record: { ...record, seconds: (performance.now() - began) / 1000 } };
}

/**
 * The edit in a folder, null for none.
 * @throws UsageError for another one than is asked for
 */
function sameEdit(dir: string, signature: string, progress: Progress): RemovalRecord | null {
  const found = readEdit(dir);
  if (found === null) return null;
  if (found.signature !== signature) throw new UsageError(`${dir}: holds another edit; give another --out`);
  progress.line(`${dir}: the edit is there already`);
  return found;
}

/** Writes an edit, whole or not at all; one that another process wrote meanwhile is taken. */
async function writeWhole(asked: Asked, dir: string, notes: readonly string[], began: number): Promise<RemovalRecord> {
  const { run } = asked;
  const place = beginWhole(dir);
  try {
    const { theta, record } = await makeEdit(asked, notes, began);
    await run.model.save(theta, place.part);
    await saveCheckpoint(runFile(place.part, 'theta'), {
      state: { step: run.steps, theta },
      centre: run.loss.centre ?? null,
      notes: { what: 'parameters after a removal, and what L2 pulls to, in the precision of the device' },
    });
    const ids = leftOut(
      run,
      record.removed.map(({ id }) => id),
    );
    writeText(join(place.part, WITHOUT_FILE), `${JSON.stringify(ids, null, 2)}\n`);
    writeEdit(place.part, record);
    disposeTree(theta);
    if (place.finish()) return record;
    const there = sameEdit(dir, asked.signature, asked.progress);
    if (there === null) throw new UsageError(`${dir}: is there already; give another --out`);
    return there;
  } finally {
    place.abandon();
  }
}

/** An edit that is written, and where. */
export interface WrittenEdit {
  readonly dir: string;
  readonly record: RemovalRecord;
  /** Whether it is in force now. */
  readonly inForce: boolean;
}

/** Whether an edit is to be put in force: as asked for, and unless it is worse than none. */
const mayBeInForce = ({ gradient }: RemovalRecord, { 'dry-run': dry, force }: RemoveSettings): boolean =>
  !dry && (force || gradient.after <= gradient.before);

/**
 * Removes pairs from a trained run, without touching its own files but for `current.json`; an edit that is there already
 * is not made again, and its verification goes on where it was.
 * @param folder the run
 */
export async function runRemoval(
  folder: string,
  settings: RemoveSettings,
  device: Device,
  progress: Progress,
): Promise<WrittenEdit> {
  const began = performance.now();
  requireSelection(settings);
  if (settings.force && settings['dry-run']) {
    throw new UsageError('--force: nothing is put in force with --dry-run; leave one of them out');
  }
  const run = await openTrained(folder, device, { ...settings, partitions: 0 }, progress);
  try {
    const before = editInForce(folder);
    const rows = await rowsToRemove({ folder, before }, settings, run, progress);
    const notes = leftNotes('remove', run, rows);
    const evaluation = settings.validation === undefined ? null : await run.evaluation(settings.validation, settings);
    const { rung, steps } = settings;
    const solved = { ...solverSettings(settings), ...(evaluation === null ? { tolerance: null } : {}) };
    const question = { ...solved, 'edit-tolerance': editTolerance(settings), rows, rung, steps };
    const signature = await signatureOf(folder, run, evaluation, question, device);
    const dir = settings.out ?? join(folder, 'removals', `${rung}-${signature.slice(0, 8)}`);
    const asked = { folder, settings, run, evaluation, rows, signature, device, progress };
    let record = sameEdit(dir, signature, progress) ?? (await writeWhole(asked, dir, notes, began));
    if (mayBeInForce(record, settings)) putInForce(folder, dir, before);
    const now = editInForce(folder);
    const inForce = now !== null && resolve(now) === resolve(dir);
    if (settings.verify && record.retrained === null) {
      const { editSeconds } = record;
      const retrained = await verifyEdit({ folder, dir, rows, editSeconds }, run, evaluation, device, progress);
      record = { ...record, retrained };
      writeEdit(dir, record);
    }
    return { dir, record, inForce };
  } finally {
    disposeTree(run.theta);
    run.close();
  }
}
