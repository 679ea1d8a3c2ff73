// Training again without the removed pairs, by the recipe of the run, to judge an edit by.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
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

/**
 * Trains again, or goes on with it, in the folder of an edit, and compares.
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
  const out = join(dir, RETRAINED);
  const recipe = settingsIn(folder, readRun(folder));
  const settings = { ...recipe, out, without: join(dir, WITHOUT_FILE), resume: existsSync(runFile(out, 'run')) };
  progress.line(`training again without ${rows.length} pair${rows.length === 1 ? '' : 's'}, in ${out}`);
  const record = await runTraining(settings, device, progress);
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
