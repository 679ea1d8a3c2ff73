// Training again without the removed pairs, by the recipe of the run, to judge an edit by.

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { distance } from '../../array/vector.ts';
import { Flat } from '../../autodiff/flat.ts';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { Device } from '../../device/open.ts';
import { withoutRows } from '../../ecif/streamed-removal.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { loadCheckpoint } from '../../models/clip/train-checkpoint.node.ts';
import { settle } from '../../models/settle.ts';
import { stacked } from '../../models/stacked.ts';
import { gradientNorm } from '../../models/streamed.ts';
import type { RemovalRecord } from '../../report/records.ts';
import { readText, writeText } from '../files.ts';
import { measureAt } from '../evaluate/measures.ts';
import { readIds } from '../runs/pair-ids.ts';
import type { Progress } from '../progress.ts';
import { CURVES_FOLDER, readRun, runFile } from '../runs/run-folder.ts';
import { settingsIn } from '../runs/run-paths.ts';
import type { EvaluationPairs, OpenedRun } from '../runs/opened-run.ts';
import type { TrainSettings } from '../train/options.ts';
import { runTraining } from '../train/run.ts';

/** Names, in the folder of an edit, of the ids that training again leaves out, and of its run. */
export const [WITHOUT_FILE, RETRAINED] = ['without.json', 'retrained'] as const;

/** Name, in the folder of training again, of what training on from θ̂ took. */
const ONWARD_FILE = 'onward.json';

type Retrained = NonNullable<RemovalRecord['retrained']>;

/** Ids that training again leaves out: those of the edit, and those that the run left out itself. */
export const leftOut = ({ settings: { without } }: OpenedRun, removed: readonly string[]): string[] => [
  ...new Set([...(without === undefined ? [] : readIds(without)), ...removed]),
];

/** ‖edited − retrained‖/‖θ̂ − retrained‖. */
async function errorOf(edited: Adapter, retrained: Adapter, theta: Adapter): Promise<number> {
  const flat = new Flat(theta);
  const [a, b, c] = [await flat.toVector(edited), await flat.toVector(retrained), await flat.toVector(theta)];
  const [gap, whole] = [distance(a, b), distance(c, b)];
  return whole === 0 ? Number(gap > 0) : gap / whole;
}

/** A training run without its folder and the list of pairs that it leaves out, to tell recipes apart. */
const recipeOf = ({ out: _out, resume: _resume, without: _without, ...recipe }: TrainSettings): string =>
  JSON.stringify(Object.entries(recipe).toSorted(([a], [b]) => (a < b ? -1 : 1)));

const idsIn = (dir: string): string => JSON.stringify(readIds(join(dir, WITHOUT_FILE)));

/** Folders of a run that hold folders of pairs that were left out. */
const LEFT_OUT_IN = ['removals', CURVES_FOLDER];

/** Something of a run that leaves pairs out: its folder holds the list of their ids, and may hold training again. */
interface LeftOut {
  /** The run. */
  readonly folder: string;
  readonly dir: string;
}

/** Settings that train again without the pairs. */
const recipeFor = ({ folder, dir }: LeftOut): TrainSettings => ({
  ...settingsIn(folder, readRun(folder)),
  without: join(dir, WITHOUT_FILE),
});

/**
 * The finished run without the pairs, by the recipe and on the device: in its folder, or in that of something else of the
 * run, or beside it, that leaves the same pairs out; null where there is none.
 */
export function trainedBefore(which: LeftOut, device: Device): string | null {
  const { folder, dir } = which;
  const own = join(dir, RETRAINED);
  if (existsSync(runFile(own, 'run'))) return readRun(own).status === 'done' ? own : null;
  const [ids, recipe] = [idsIn(dir), recipeOf(recipeFor(which))];
  const isSame = (other: string): boolean => {
    const run = join(other, RETRAINED);
    if (other === resolve(dir) || !existsSync(runFile(run, 'run')) || idsIn(other) !== ids) return false;
    const record = readRun(run);
    const same = record.status === 'done' && record.device === device.name;
    return same && recipeOf(settingsIn(run, record)) === recipe;
  };
  const places = [dirname(resolve(dir)), ...LEFT_OUT_IN.map((name) => resolve(folder, name))];
  const found = [...new Set(places)]
    .filter((place) => existsSync(place))
    .flatMap((place) => readdirSync(place).map((name) => join(place, name)))
    .find((other) => {
      try {
        return isSame(other);
      } catch (error) {
        // What cannot be read is no such run.
        if (error instanceof EcifError) return false;
        throw error;
      }
    });
  return found === undefined ? null : join(found, RETRAINED);
}

/**
 * Trains again without the pairs that a folder lists, or goes on with it, unless that was done before.
 * @param count how many pairs it takes out
 * @returns where, and how long it took
 */
export async function trainAgain(
  which: LeftOut,
  count: number,
  device: Device,
  progress: Progress,
): Promise<{ readonly out: string; readonly seconds: number }> {
  const before = trainedBefore(which, device);
  const out = before ?? join(which.dir, RETRAINED);
  const what = `without ${count} pair${count === 1 ? '' : 's'}, in ${out}`;
  progress.line(before === null ? `training again ${what}` : `trained again before ${what}`);
  const resume = existsSync(runFile(out, 'run'));
  const record =
    before === null ? await runTraining({ ...recipeFor(which), out, resume }, device, progress) : readRun(out);
  const { steps, end } = record.seconds as { steps: number; end: number };
  return { out, seconds: steps + end };
}

/** The parameters in a folder of a run or an edit, as those of the run. */
export const thetaIn = async (from: string, { theta }: OpenedRun, device: Device): Promise<Adapter> =>
  (await loadCheckpoint(runFile(from, 'theta'), theta, device)).state.theta;

/**
 * Trains on from θ̂ without the pairs, as far as the run was to settle: what training again takes at the least. It is
 * kept in the folder of training again.
 */
async function trainOn(
  { loss, theta, settings }: OpenedRun,
  rows: readonly number[],
  out: string,
  progress: Progress,
): Promise<NonNullable<Retrained['onward']> | null> {
  const { 'to-stationarity': tolerance, iterations, 'newton-steps': newtonSteps } = settings;
  const kept = join(out, ONWARD_FILE);
  if (tolerance === undefined) return null;
  if (existsSync(kept)) return JSON.parse(readText(kept)) as NonNullable<Retrained['onward']>;
  const began = performance.now();
  const settled = await settle(await stacked(withoutRows(loss, rows)), theta, {
    ...{ tolerance, iterations, newtonSteps },
    onIteration: (method, i) => progress.status(`training on from the trained model: ${method} ${i}`),
  });
  const found = { seconds: (performance.now() - began) / 1000, gradient: settled.gradientNorm };
  disposeTree(settled.theta);
  writeText(kept, `${JSON.stringify(found)}\n`);
  return found;
}

/**
 * Trains again, or goes on with it, in the folder of an edit, and compares; what was trained before
 * without the same pairs spares it that.
 * @param rows the removed pairs
 * @returns the part of the edit's record that says so
 */
export async function verifyEdit(
  { folder, dir, rows, editSeconds }: { folder: string; dir: string; rows: readonly number[]; editSeconds: number },
  run: OpenedRun,
  evaluation: EvaluationPairs | null,
  device: Device,
  progress: Progress,
): Promise<Retrained> {
  const { out, seconds } = await trainAgain({ folder, dir }, rows.length, device, progress);
  const [edited, retrained] = [await thetaIn(dir, run, device), await thetaIn(out, run, device)];
  const { norm } = await gradientNorm(withoutRows(run.loss, rows), retrained);
  const measures = evaluation === null ? null : await measureAt(run, evaluation, retrained, progress);
  const error = await errorOf(edited, retrained, run.theta);
  disposeTree([edited, retrained]);
  const onward = await trainOn(run, rows, out, progress);
  return { seconds, gradient: norm, measures, error, speedup: seconds / editSeconds, onward };
}
