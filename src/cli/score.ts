// ecif score: the influence of every training pair on the loss of evaluation pairs.

import { oneLine } from '../array/messages.ts';
import { defineCommand } from './command.ts';
import { withDevice } from './devices.ts';
import { bytes, columns, table } from './format.ts';
import type { EndPair } from './score-ends.ts';
import { SCORE_OPTIONS, type ScoreSettings } from './score-options.ts';
import { runScoring, type ScoreRecord } from './score-run.ts';

/** How the solves went, in a few words. */
function solvesText({ curvature, solves }: ScoreRecord): string {
  const name = `${curvature.method} on the ${curvature.curvature === 'hessian' ? 'Hessian' : 'Gauss-Newton matrix'}`;
  const damping = `δ ${curvature.l2}${curvature.damping > 0 ? ` + ${curvature.damping}` : ''}`;
  const iterations = solves.reduce((sum, one) => sum + one.iterations, 0);
  const last = solves.at(-1)?.residuals.at(-1);
  const how = last === undefined ? '' : `, ${iterations} iterations to residual ${last.toExponential(1)}`;
  return `${name}, ${damping}${how}`;
}

/** Most targets whose ends are printed. */
const PRINTED = 8;

/** The pairs at either end, a table for each target. */
function endsText({ ends, targets }: ScoreRecord): string[] {
  const row = ({ id, caption, score, flag }: EndPair): string[] => [
    oneLine(id),
    score.toExponential(2),
    oneLine(caption.slice(0, 60)),
    flag ?? '',
  ];
  const shown = ends.filter(({ harmful }) => harmful.length > 0).slice(0, PRINTED);
  return shown.map(({ target, harmful, valuable }) => {
    const about = targets.length === 1 ? '' : ` for ${oneLine(target)}`;
    return table([
      [`most harmful${about}`, 'score', 'caption', ''],
      ...harmful.map(row),
      [`most valuable${about}`, '', '', ''],
      ...valuable.map(row),
    ]);
  });
}

function describe(record: ScoreRecord): string {
  const { out, pairs, parameters, partitions, targets, gradientNorm, seconds, rows } = record;
  const about = targets.length === 1 ? `loss ${targets[0].loss.toPrecision(5)}` : `${targets.length} targets`;
  const facts = columns([
    ['scores', `${oneLine(out)}, ${rows} rows, ${bytes(record.bytes)}`],
    ['of', `${pairs} pairs over ${partitions} partition${partitions === 1 ? '' : 's'}, ${parameters} parameters`],
    ['about', about],
    ['curvature', solvesText(record)],
    ['gradient', `${gradientNorm.toExponential(2)} at θ̂, taken for 0 (ecif train --to-stationarity makes it so)`],
    ['time', `${seconds.solve.toFixed(1)} s for the solves, ${seconds.sweep.toFixed(1)} s for the sweep`],
  ]);
  return [facts, ...endsText(record)].join('\n\n');
}

export const score = defineCommand({
  name: 'score',
  summary: 'score every training pair: the predicted change of the evaluation loss if it is removed',
  example: 'ecif score run --validation held-out.csv --out scores.parquet',
  options: SCORE_OPTIONS,
  operands: { label: 'RUN', help: 'folder of a finished ecif train', least: 1, most: 1 },
  run: (values, { device: kind, operands: [folder], progress }) =>
    withDevice(kind, async (device) => {
      progress.line(`device: ${device.name}; ${device.reason}`);
      const settings = Object.fromEntries(
        (Object.keys(SCORE_OPTIONS) as (keyof ScoreSettings)[]).map((name) => [name, values[name]]),
      ) as unknown as ScoreSettings;
      const json = await runScoring(folder, settings, device, progress);
      return { json, text: describe(json), ok: true };
    }),
});
