// ecif convex: a small exact problem, every removal estimator against retraining, with the bounds.

import { oneLine } from '../array/messages.ts';
import { type ConvexFile, parseConvex, placeConvex } from '../ecif/convex-file.ts';
import { priorBounds, type PriorBounds } from '../ecif/bounds.ts';
import { type Stationarity, stationarityOf } from '../ecif/diagnostics.ts';
import { type EstimateTable, estimateAll } from '../ecif/estimators.ts';
import { batchLoss } from '../models/model.ts';
import { totalLoss } from '../ecif/objective.ts';
import { type PairRow, pairTable } from '../ecif/pair-table.ts';
import { removalOf } from '../ecif/removal.ts';
import { minimise } from '../ecif/retrain.ts';
import { segOf } from '../ecif/seg.ts';
import { curvatureAt } from '../ecif/solver.ts';
import type { Tensor } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import type { Bilinear } from '../models/bilinear.ts';
import { defineCommand } from './command.ts';
import { withDevice } from './devices.ts';
import { readText } from './files.ts';
import { table } from './format.ts';
import type { Progress } from './progress.ts';

/** What the command finds. */
interface ConvexResult extends EstimateTable {
  readonly name: string;
  readonly device: string;
  readonly removed: readonly number[];
  readonly stationarity: Stationarity;
  readonly prior: PriorBounds;
  /** Every pair, the most harmful first. */
  readonly pairs: readonly (PairRow & { readonly id: number })[];
}

async function solve(file: ConvexFile, device: Device, progress: Progress): Promise<ConvexResult> {
  const { problem, start, validation } = placeConvex(file, device);
  const { theta } = await minimise(totalLoss(problem), start);
  const h = await curvatureAt(totalLoss(problem), theta);
  const seg = segOf(file.batches, file.remove);
  const removal = removalOf(problem, theta, seg, h);
  const evaluation = (t: Bilinear): Tensor => batchLoss(problem.model, t, validation);
  const table = await estimateAll(problem, removal, seg, evaluation, (rung) => progress.status(rung));
  const rows = await pairTable(problem, theta, h, evaluation);
  const pairs = rows.map((row) => {
    const ids = file.batches[row.batch];
    const [sameText, sameImage] = [row.sameText.map((i) => ids[i]), row.sameImage.map((i) => ids[i])];
    return { id: ids[row.position], ...row, sameText, sameImage };
  });
  return {
    ...{ name: file.name, device: device.name, removed: [...new Set(file.remove)] },
    stationarity: await stationarityOf(problem, theta, h),
    prior: await priorBounds(problem, theta, seg),
    ...table,
    pairs: pairs.toSorted((a, b) => a.score - b.score),
  };
}

const figure = (x: number | null): string => {
  if (x === null) return '–';
  return x !== 0 && (Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3) ? x.toExponential(2) : x.toPrecision(4);
};

/** Pairs at either end of the list. */
const LISTED = 4;

function pairLines({ pairs }: ConvexResult): string[] {
  const shown = pairs.length <= 2 * LISTED ? pairs : [...pairs.slice(0, LISTED), ...pairs.slice(-LISTED)];
  const marks = (p: ConvexResult['pairs'][number]): string =>
    [
      ...(p.unreliable ? ['Neg not linear'] : []),
      ...(p.sameText.length > 0 ? [`text as ${p.sameText.join(', ')}`] : []),
      ...(p.sameImage.length > 0 ? [`image as ${p.sameImage.join(', ')}`] : []),
    ].join('; ');
  const rows = shown.map((p) => [
    `pair ${p.id}`,
    ...[p.score, p.positive, p.negative, p.t2i, p.i2t, p.relative, p.self].map(figure),
    marks(p),
  ]);
  const head = ['', 'score', 'positive', 'negative', 't2i', 'i2t', 'relative', 'self', 'note'];
  return [
    table([head, ...rows]),
    shown.length < pairs.length
      ? `score: predicted change of L_val if the pair is removed; the ${LISTED} lowest (harmful) and highest (valuable) of ${pairs.length}.`
      : 'score: predicted change of L_val if the pair is removed; negative is harmful, positive valuable.',
  ];
}

function describe(result: ConvexResult): string {
  const { name, device, removed, stationarity, change, evaluationChange, prior, estimates } = result;
  const rows = [
    ['estimator', 'error / change', 'L_val change', 'distance', 'P1', 'P2', 'P3'],
    ...estimates.map(({ rung, parameterError, evaluationChange: delta, distance, certificates: { p1, p2, p3 } }) => [
      rung,
      ...[parameterError, delta, distance, p1, p2, p3].map(figure),
    ]),
    ['retraining', '0', figure(evaluationChange), '0', '', '', ''],
  ];
  return [
    `${oneLine(name)} on ${device}: pair${removed.length === 1 ? '' : 's'} ${removed.join(', ')} removed`,
    `θ̂ has gradient ${figure(stationarity.gradientNorm)}, worth a move of ${figure(stationarity.distance)}; retraining moves it by ${figure(change)}`,
    '',
    table(rows),
    '',
    'error / change: distance to retraining over what retraining changes, 1 is doing nothing.',
    'P1, P2, P3: certified bounds on the distance, from the edited model alone; – where they say nothing.',
    `Known before the edit, for corrected: ${figure(prior.lipschitz)} by Lipschitz constant, ${figure(prior.selfConcordant)} by self-concordance.`,
    '',
    ...pairLines(result),
  ].join('\n');
}

export const convex = defineCommand({
  name: 'convex',
  summary: 'a small exact problem: every removal estimator against retraining, with the bounds',
  example: 'ecif convex proofs-tests/vectors/convex-1.json',
  options: {},
  operands: { label: 'PROBLEM', help: 'a file of kind convex', least: 1, most: 1 },
  run: (_values, { device, operands: [path], progress }) => {
    const { problem } = parseConvex(path, readText(path));
    return withDevice(device, async (opened) => {
      const json = await solve(problem, opened, progress);
      return { json, text: describe(json), ok: true };
    });
  },
});
