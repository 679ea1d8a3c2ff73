// ecif convex: a small exact problem, every removal estimator against retraining, with the bounds.

import { type ConvexFile, parseConvex, placeConvex } from '../ecif/convex-file.ts';
import { priorBounds, type PriorBounds } from '../ecif/bounds.ts';
import { type EstimateTable, estimateAll } from '../ecif/estimators.ts';
import { batchLoss } from '../models/model.ts';
import { totalLoss } from '../ecif/objective.ts';
import { removalOf } from '../ecif/removal.ts';
import { minimise } from '../ecif/retrain.ts';
import { segOf } from '../ecif/seg.ts';
import { curvatureAt } from '../ecif/solver.ts';
import type { Device } from '../device/open.ts';
import { defineCommand } from './command.ts';
import { withDevice } from './devices.ts';
import { readText } from './files.ts';
import { printable, table } from './format.ts';

/** What the command finds. */
interface ConvexResult extends EstimateTable {
  readonly name: string;
  readonly device: string;
  readonly gradientNorm: number;
  readonly removed: readonly number[];
  readonly prior: PriorBounds;
}

async function solve(file: ConvexFile, device: Device): Promise<ConvexResult> {
  const { problem, start, validation } = placeConvex(file, device);
  const { theta, gradientNorm } = await minimise(totalLoss(problem), start);
  const h = await curvatureAt(totalLoss(problem), theta);
  const seg = segOf(file.batches, file.remove);
  const removal = removalOf(problem, theta, seg, h);
  const table = await estimateAll(problem, removal, seg, (t) => batchLoss(problem.model, t, validation));
  const prior = await priorBounds(problem, theta, seg);
  return { name: file.name, device: device.name, gradientNorm, removed: [...new Set(file.remove)], prior, ...table };
}

const figure = (x: number | null): string => {
  if (x === null) return '–';
  return x !== 0 && (Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3) ? x.toExponential(2) : x.toPrecision(4);
};

function describe(result: ConvexResult): string {
  const { name, device, removed, gradientNorm, change, evaluationChange, prior, estimates } = result;
  const rows = [
    ['estimator', 'error / change', 'L_val change', 'distance', 'P1', 'P2', 'P3'],
    ...estimates.map(({ rung, parameterError, evaluationChange: delta, distance, certificates: { p1, p2, p3 } }) => [
      rung,
      ...[parameterError, delta, distance, p1, p2, p3].map(figure),
    ]),
    ['retraining', '0', figure(evaluationChange), '0', '', '', ''],
  ];
  return [
    `${printable(name)} on ${device}: pair${removed.length === 1 ? '' : 's'} ${removed.join(', ')} removed`,
    `θ̂ has gradient ${figure(gradientNorm)}; retraining moves it by ${figure(change)}`,
    '',
    table(rows),
    '',
    'error / change: distance to retraining over what retraining changes, 1 is doing nothing.',
    'P1, P2, P3: certified bounds on the distance, from the edited model alone; – where they say nothing.',
    `Known before the edit, for corrected: ${figure(prior.lipschitz)} by Lipschitz constant, ${figure(prior.selfConcordant)} by self-concordance.`,
  ].join('\n');
}

export const convex = defineCommand({
  name: 'convex',
  summary: 'a small exact problem: every removal estimator against retraining, with the bounds',
  example: 'ecif convex proofs-tests/vectors/convex-1.json',
  options: {},
  operands: { label: 'PROBLEM', help: 'a file of kind convex', least: 1, most: 1 },
  run: (_values, { device, operands: [path] }) => {
    const { problem } = parseConvex(path, readText(path));
    return withDevice(device, async (opened) => {
      const json = await solve(problem, opened);
      return { json, text: describe(json), ok: true };
    });
  },
});
