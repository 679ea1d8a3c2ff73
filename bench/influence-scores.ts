// Scores of all pairs once w is known: one forward-mode sweep beside a gradient for every pair and beside plain forward passes.

import { streamScores } from '../src/ecif/streamed-scores.ts';
import { termsOf } from '../src/ecif/sweep.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import type { Prefix } from '../src/models/clip/prefix.ts';
import { stacked } from '../src/models/stacked.ts';
import { growth } from './convex-growth.ts';
import { relativeError } from './errors.ts';
import { BATCH, emojiLoss, type EmojiStream } from './influence-problem.ts';
import type { TrainedEmoji } from './influence-training.ts';
import { format, note, print, type Row, target } from './report.ts';
import { compare, ratio, type Timing } from './timing.ts';

const SECTION = 'scores of all pairs';

/** Scores by row, from one sweep. */
async function bySweep(loss: EmojiStream, theta: Adapter, w: Adapter): Promise<Float64Array> {
  const scores = new Float64Array(loss.partitions.flat().reduce((n, rows) => n + rows.length, 0));
  for await (const { pairs } of streamScores(loss, theta, { targets: [w] }))
    for (const pair of pairs) scores[pair.row] = pair.scores[0].score;
  return scores;
}

/** Pos_n + Neg_n of every pair of a batch, (B). */
const termsTogether = (loss: EmojiStream, batch: Prefix) => (t: Adapter) =>
  Object.values(termsOf(ecif.similarities(loss.model, t, batch), 'corrected')).reduce((a, b) => ecif.add(a, b));

/** Scores by row, from a gradient of every pair; the forward pass of a batch is run once for all of its pairs. */
async function byGradients(loss: EmojiStream, theta: Adapter, w: Adapter): Promise<Float64Array> {
  const space = ecif.treeSpace<Adapter>();
  const scores = new Float64Array(loss.partitions.flat().reduce((n, rows) => n + rows.length, 0));
  for (const rows of loss.partitions.flat()) {
    const batch = await loss.batch(rows);
    const { value, pull, dispose } = ecif.vjp(termsTogether(loss, batch), theta);
    const gradients = Array.from(rows, (_, n) =>
      ecif.scope(() => {
        const unit = new Float64Array(rows.length);
        unit[n] = 1;
        return pull(ecif.tensor(value.device, unit));
      }),
    );
    const dots = await space.dots(gradients.map((g) => [g, w]));
    dots.forEach((x, n) => (scores[rows[n]] = x));
    dispose();
    ecif.disposeTree([value, gradients, batch]);
  }
  return scores;
}

/** A forward pass over the data: S of every batch, those of equal size laid together as in the sweep. */
async function forward(loss: EmojiStream, theta: Adapter): Promise<void> {
  const together = await stacked(loss);
  for (const rows of together.partitions.flat()) {
    const batch = await together.batch(rows);
    const s = ecif.scope(() => ecif.similarities(together.model, theta, batch));
    await s.data();
    ecif.disposeTree([batch, s]);
  }
}

/** Times of one size. */
interface Times {
  readonly pairs: number;
  readonly batch: number;
  readonly sweep: Timing;
  readonly gradients: Timing;
  readonly forward: Timing;
  readonly error: number;
}

async function measure({ problem, theta }: TrainedEmoji, w: Adapter, pairs: number, batch: number): Promise<Times> {
  const loss = emojiLoss(problem, pairs, batch, 1);
  let swept: Float64Array = new Float64Array();
  let expected: Float64Array = new Float64Array();
  const [sweep, forwards, gradients] = await compare(
    [
      { name: 'sweep', run: async () => void (swept = await bySweep(loss, theta, w)) },
      { name: 'forward', run: () => forward(loss, theta) },
      { name: 'gradients', run: async () => void (expected = await byGradients(loss, theta, w)) },
    ],
    { rounds: 3, warmup: 1, patience: 500 },
  );
  return { pairs, batch, sweep, gradients, forward: forwards, error: relativeError(swept, expected) };
}

/** Rows of one size. */
function rowsOf({ pairs, batch, sweep, gradients, forward: plain, error }: Times): Row[] {
  const name = `N ${pairs}, B ${batch}`;
  const limited = batch === BATCH;
  const faster = ratio(gradients, sweep);
  const passes = ratio(sweep, plain);
  const raw = { sweepMs: sweep.median, gradientsMs: gradients.median, forwardMs: plain.median };
  return [
    limited
      ? target(SECTION, `${name}: a gradient for each / sweep`, faster, '≥', 10, '×', raw)
      : note(SECTION, `${name}: a gradient for each / sweep`, `${format(faster)}×`, raw),
    limited
      ? target(SECTION, `${name}: sweep, in forward passes`, passes, '≤', 3, '')
      : note(SECTION, `${name}: sweep, in forward passes`, format(passes)),
    target(SECTION, `${name}: difference of the scores`, error, '≤', 1e-5, ''),
  ];
}

/** How both grow with one size. */
function growthRows(what: string, found: readonly Times[], size: (t: Times) => number): Row[] {
  const exponent = (time: (t: Times) => Timing): number =>
    growth(
      found.map(size),
      found.map((t) => time(t).median),
    );
  const [sweep, gradients] = [exponent((t) => t.sweep), exponent((t) => t.gradients)];
  return [
    note(SECTION, `sweep: exponent in ${what}`, format(sweep), { exponent: sweep }),
    note(SECTION, `a gradient for each: exponent in ${what}`, format(gradients), { exponent: gradients }),
  ];
}

/** The sweep against gradients and forward passes, for several N and B. */
export async function scoreRows(trained: TrainedEmoji): Promise<Row[]> {
  const rows: Row[] = [];
  const h = ecif.cgSolver(trained.loss, trained.theta, { tolerance: 1e-3 });
  const w = await h.solve(trained.gradient);
  const told = async (pairs: number, batch: number): Promise<Times> => {
    const found = await measure(trained, w, pairs, batch);
    rows.push(...rowsOf(found).map(print));
    return found;
  };
  const byPairs = [await told(64, BATCH), await told(128, BATCH), await told(256, BATCH)];
  const byBatch = [await told(128, 4), await told(128, 8), byPairs[1], await told(128, 32)];
  rows.push(...growthRows('N', byPairs, ({ pairs }) => pairs).map(print));
  rows.push(...growthRows('B', byBatch, ({ batch }) => batch).map(print));
  return rows;
}
