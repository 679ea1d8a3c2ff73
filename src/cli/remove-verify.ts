// Training again without the removed pairs, by the recipe of the run, to judge an edit by.

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { EcifError } from '../array/errors.ts';
import { distance } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import { withoutRows } from '../ecif/streamed-removal.ts';
import type { Adapter } from '../models/clip/lora.ts';
import { loadCheckpoint } from '../models/clip/train-checkpoint.node.ts';
import { gradientNorm } from '../models/streamed.ts';
import type { RemovalRecord } from '../report/records.ts';
import { measureAt } from './measures.ts';
import { readIds } from './pair-ids.ts';
import type { Progress } from './progress.ts';
import { readRun, runFile } from './run-folder.ts';
import { settingsIn } from './run-paths.ts';
import type { EvaluationPairs, OpenedRun } from './score-model.ts';
import type { TrainSettings } from './train-options.ts';
import { runTraining } from './train-run.ts';

/** Names, in the folder of an edit, of the ids that training again leaves out, and of its run. */
export const [WITHOUT_FILE, RETRAINED] = ['without.json', 'retrained'] as const;

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

const idsIn = (edit: string): string => JSON.stringify(readIds(join(edit, WITHOUT_FILE)));

/**
 * The run of another edit in the folder beside this one that was trained without the same pairs, by the same recipe and
 * on the same device; null where there is none.
 */
function trainedBeside(dir: string, settings: TrainSettings, device: Device): string | null {
  const place = dirname(resolve(dir));
  const own = idsIn(dir);
  const isSame = (edit: string): boolean => {
    const run = join(edit, RETRAINED);
    if (edit === resolve(dir) || !existsSync(runFile(run, 'run')) || idsIn(edit) !== own) return false;
    const record = readRun(run);
    const same = record.status === 'done' && record.device === device.name;
    return same && recipeOf(settingsIn(run, record)) === recipeOf(settings);
  };
  const found = readdirSync(place)
    .map((name) => join(place, name))
    .find((edit) => {
      try {
        return isSame(edit);
      } catch (error) {
        // What cannot be read is no such run.
        if (error instanceof EcifError) return false;
        throw error;
      }
    });
  return found === undefined ? null : join(found, RETRAINED);
}

/**
 * Trains again, or goes on with it, in the folder of an edit, and compares; an edit beside it that took out the same
 * pairs spares it that.
 * @param rows the removed pairs
 * @returns the part of the edit's record that says so
 */
export async function verifyEdit(
  { folder, dir, rows, editSeconds }: { folder: string; dir: string; rows: readonly number[]; editSeconds: number },
  run: OpenedRun,
  evaluation: EvaluationPairs | null,
  device: Device,
  progress: Progress,
): Promise<NonNullable<RemovalRecord['retrained']>> {
  const own = join(dir, RETRAINED);
  const begun = existsSync(runFile(own, 'run'));
  const recipe = { ...settingsIn(folder, readRun(folder)), without: join(dir, WITHOUT_FILE) };
  const out = (begun ? null : trainedBeside(dir, recipe, device)) ?? own;
  const which = `without ${rows.length} pair${rows.length === 1 ? '' : 's'}, in ${out}`;
  progress.line(out === own ? `training again ${which}` : `trained again before ${which}`);
  const record = out === own ? await runTraining({ ...recipe, out, resume: begun }, device, progress) : readRun(out);
  const { steps, end } = record.seconds as { steps: number; end: number };
  const load = async (from: string): Promise<Adapter> =>
    (await loadCheckpoint(runFile(from, 'theta'), run.theta, device)).state.theta;
  const [edited, retrained] = [await load(dir), await load(out)];
  const { norm } = await gradientNorm(withoutRows(run.loss, rows), retrained);
  const measures = evaluation === null ? null : await measureAt(run, evaluation, retrained, progress);
  const error = await errorOf(edited, retrained, run.theta);
  disposeTree([edited, retrained]);
  return { seconds: steps + end, gradient: norm, measures, error, speedup: (steps + end) / editSeconds };
}
