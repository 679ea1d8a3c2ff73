// ecif score: the influence of every training pair on the loss of evaluation pairs.

import { oneLine } from '../../array/messages.ts';
import { defineCommand } from '../command.ts';
import { onDevice } from '../devices.ts';
import { bytes, columns, table } from '../format.ts';
import type { EndPair } from './ends.ts';
import { requireSolverUse, SCORE_OPTIONS } from './options.ts';
import { runScoring, type ScoreRecord } from './run.ts';

/** How the solves went, in a few words. */
function solvesText({ curvature, solves }: ScoreRecord): string {
  const { method } = curvature;
  const matrix = curvature.curvature === 'hessian' ? 'Hessian' : 'Gauss-Newton matrix';
  const name = method === 'identity' ? 'identity in place of the curvature' : `${method} on the ${matrix}`;
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

/**
 * What is left of the gradient, which influence takes for 0: much where going on to the optimum would change the loss of
 * a target by more than removing a pair does as a rule, the root of the mean square of its scores.
 */
function gradientText({ gradientNorm, stationary, targets, ends }: ScoreRecord): string {
  const power = (x: number): string => Math.abs(x).toExponential(1);
  const norm = `${gradientNorm.toExponential(2)} at θ̂, taken for 0`;
  const known = targets.flatMap(({ name, left }) => {
    const typical = ends.find(({ target }) => target === name)?.typical;
    return typical === undefined ? [] : [{ left, typical, share: Math.abs(left) / typical }];
  });
  if (known.length === 0) return norm;
  const { left, typical, share } = known.reduce((worst, one) => (one.share > worst.share ? one : worst));
  const change = `the loss by ${power(left)}, removing a pair by ${power(typical)} as a rule`;
  if (!(share > 1)) return `${norm}; the rest of the way moves ${change}`;
  const fix = stationary ? 'a smaller --to-stationarity' : '--to-stationarity';
  return `${norm}, which it is NOT: the rest of the way moves ${change}; train with ${fix}`;
}

/** How many signs are settled. */
function signsText({ ends, partitions }: ScoreRecord): [string, string][] {
  if (ends.length === 0) return [];
  if (partitions === 1) return [['signs', 'one partition does not tell how far they are settled; give --partitions N']];
  const unsettled = ends.reduce((sum, one) => sum + (one.unsettled ?? 0), 0);
  return [['signs', `${unsettled} not settled by ${partitions} partitions (Student's t, 95 %)`]];
}

function describe(record: ScoreRecord): string {
  const { out, pairs, parameters, partitions, targets, seconds, rows, warning } = record;
  const about = targets.length === 1 ? `loss ${targets[0].loss.toPrecision(5)}` : `${targets.length} targets`;
  const facts = columns([
    ['scores', `${oneLine(out)}, ${rows} rows, ${bytes(record.bytes)}`],
    ['of', `${pairs} pairs over ${partitions} partition${partitions === 1 ? '' : 's'}, ${parameters} parameters`],
    ['about', about],
    ['curvature', solvesText(record)],
    ...(warning === null ? [] : ([['warning', oneLine(warning)]] as [string, string][])),
    ['gradient', gradientText(record)],
    ...signsText(record),
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
  run: (values, context) => {
    const { operands, given, progress } = context;
    const [folder] = operands;
    requireSolverUse(values, given);
    return onDevice(context, async (device) => {
      const json = await runScoring(folder, values, device, progress);
      return { json, text: describe(json), ok: true };
    });
  },
});
