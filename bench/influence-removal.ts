// A tenth of the pairs removed by ECIF and by Newton, against training again from the same start by the same recipe.

import { distance } from '../src/array/vector.ts';
import { editTolerance } from '../src/cli/remove/options.ts';
import { streamedRemoval, withoutRows } from '../src/ecif/streamed-removal.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { prefixRows } from '../src/models/clip/prefix.ts';
import { gradientNorm } from '../src/models/streamed.ts';
import { readFlat } from './errors.ts';
import { settleEmoji, trainEmoji, type TrainedEmoji, type Training } from './influence-training.ts';
import { format, note, print, type Row, target } from './report.ts';
import { compare, median } from './timing.ts';

/** Relative residual of the solves of an edit, that of `ecif remove`, and others that are tried by Newton's. */
const TOLERANCE = editTolerance({ rung: 'newton' });
const TRIED = [0.01, 0.1, 0.3, 0.5];

/** Mean of recall among the first 5 in both directions on pairs that were kept out, in percent. */
async function accuracy({ problem, heldOut }: TrainedEmoji, theta: Adapter): Promise<number> {
  const pairs = ecif.scope(() => prefixRows(problem.pairs, heldOut));
  const s = ecif.scope(() => ecif.similarities(problem.model, theta, pairs));
  const { textToImage, imageToText } = ecif.retrieval(await s.data(), heldOut.length);
  ecif.disposeTree([pairs, s]);
  return 50 * (textToImage.r5 + imageToText.r5);
}

type Estimate = (removal: ecif.Removal<Adapter>) => Promise<Adapter>;

const NEWTON: Estimate = (removal) => ecif.removeByNewton(removal);
const ESTIMATES: readonly (readonly [string, Estimate])[] = [
  ['ECIF', (removal) => ecif.removeLinear(removal, 'corrected')],
  ['Newton', NEWTON],
  ['rescaled', async (removal) => (await ecif.removeRescaled(removal)).theta],
];
/** Those that are to be so many times as fast as training again. */
const [FAST, TIMES] = [['ECIF', 'Newton'], 13];

/** An edit with all that it needs: products linearised, the gradient of what is lost, the solve; and products it took. */
async function editBy(
  { loss, theta }: TrainedEmoji,
  removed: readonly number[],
  estimate: Estimate,
  tolerance: number,
): Promise<{ theta: Adapter; iterations: number }> {
  const opened: ecif.IterativeSolver<Adapter>[] = [];
  const solverAt = (of: typeof loss, x: Adapter): ecif.IterativeSolver<Adapter> => {
    opened.push(ecif.cgSolver(of, x, { tolerance }));
    return opened[opened.length - 1];
  };
  const h = solverAt(loss, theta);
  const removal = streamedRemoval(loss, theta, removed, h, (of, x) => Promise.resolve(solverAt(of, x)));
  const edited = await estimate(removal);
  h.dispose();
  const records = opened.flatMap(({ history }) => history);
  return { theta: edited, iterations: records.reduce((sum, { iterations }) => sum + iterations, 0) };
}

/** Sets of pairs that are removed, each drawn by a seed of its own. */
const DRAWS = [6, 7, 8, 9, 10];

/** Where a model is, seen from that trained again. */
interface Place {
  /** ‖θ̃ − θ*‖/‖θ* − θ̂‖ */
  readonly error: number;
  /** ‖∇F(θ̃)‖ */
  readonly norm: number;
  /** Points of accuracy less those of training again. */
  readonly gap: number;
}

/** An edit of one draw; its time is the median of several. */
interface Edit extends Place {
  readonly ms: number;
}

/** One set of pairs removed in every way. */
interface Draw {
  readonly again: Training;
  readonly onward: Training;
  readonly nothing: Place;
  readonly settled: Place;
  readonly accuracy: number;
  readonly edits: readonly Edit[];
  /** Newton's step by the residual it is solved to, with its products. */
  readonly tried: readonly (Place & { readonly iterations: number })[];
}

/** Milliseconds of a training. */
const msOf = ({ ms }: Training): number => ms.epochs + ms.settling;

/** Removes one set: training again, training on, the edits in turn, each the median of seven after one that compiles its kernels. */
async function removed(trained: TrainedEmoji, seed: number): Promise<Draw> {
  const { problem, loss, theta } = trained;
  const count = loss.partitions[0].reduce((n, rows) => n + rows.length, 0);
  const rows = [...ecif.createRng(seed).permutation(count)].slice(0, Math.round(count / 10));
  const without = withoutRows(loss, rows);
  const again = await trainEmoji(problem, without);
  const onward = await settleEmoji(without, theta);
  const [before, truth] = [await readFlat(theta), await readFlat(again.theta)];
  const kept = await accuracy(trained, again.theta);
  const place = async (edited: Adapter): Promise<Place> => ({
    error: distance(await readFlat(edited), truth) / distance(before, truth),
    norm: (await gradientNorm(without, edited)).norm,
    gap: Number(((await accuracy(trained, edited)) - kept).toFixed(6)),
  });
  const found = await Promise.all([place(theta), place(onward.theta)]);
  const once = (estimate: Estimate, tolerance = TOLERANCE): ReturnType<typeof editBy> =>
    editBy(trained, rows, estimate, tolerance);
  const timings = await compare(
    ESTIMATES.map(([name, estimate]) => ({
      name,
      run: async () => ecif.disposeTree((await once(estimate)).theta),
    })),
    { rounds: 7, warmup: 1, patience: 500 },
  );
  const edits: Edit[] = [];
  for (const [i, [, estimate]] of ESTIMATES.entries()) {
    const { theta: edited } = await once(estimate);
    edits.push({ ms: timings[i].median, ...(await place(edited)) });
    ecif.disposeTree(edited);
  }
  const tried: Draw['tried'][number][] = [];
  for (const tolerance of TRIED) {
    const { theta: edited, iterations } = await once(NEWTON, tolerance);
    tried.push({ iterations, ...(await place(edited)) });
    ecif.disposeTree(edited);
  }
  ecif.disposeTree([again.theta, onward.theta]);
  return { again, onward, nothing: found[0], settled: found[1], accuracy: kept, edits, tried };
}

/** Every edit beside training again: time, parameters, gradient, accuracy, of every draw. */
export async function removalRows(trained: TrainedEmoji, name: string): Promise<Row[]> {
  const section = `removal of 10 %, ${name}`;
  const draws: Draw[] = [];
  for (const seed of DRAWS) draws.push(await removed(trained, seed));
  /** A line with the number of every draw. */
  const each = (what: string, of: (draw: Draw) => number, unit = ''): Row => {
    const values = draws.map(of);
    return note(section, what, `${values.map(format).join(', ')}${unit}`, Object.fromEntries(values.entries()));
  };
  const rows = [
    each('training again', ({ again }) => msOf(again) / 1000, ' s'),
    each('training again: its epochs', ({ again }) => again.ms.epochs / 1000, ' s'),
    each('training again: iterations of L-BFGS then', ({ again }) => again.iterations.lbfgs),
    each('training on from θ̂', ({ onward }) => msOf(onward) / 1000, ' s'),
    each('training on from θ̂: error of the change of θ', ({ settled }) => settled.error),
    each('‖∇F‖, trained again', ({ again }) => again.norm),
    each('‖∇F‖, nothing edited', ({ nothing }) => nothing.norm),
    each('accuracy, trained again', ({ accuracy: kept }) => kept, ' %'),
    each('accuracy, nothing edited, less that', ({ nothing }) => nothing.gap, ' points'),
  ];
  for (const [i, [how]] of ESTIMATES.entries()) {
    const middle = median(draws.map(({ again, edits }) => msOf(again) / edits[i].ms));
    const what = `${how}: training again / edit, median`;
    rows.push(
      FAST.includes(how)
        ? target(section, what, middle, '≥', TIMES, '×')
        : note(section, what, `${format(middle)}×`, { middle }),
      each(`${how}: training again / edit`, ({ again, edits }) => msOf(again) / edits[i].ms, '×'),
      each(`${how}: training on from θ̂ / edit`, ({ onward, edits }) => msOf(onward) / edits[i].ms, '×'),
      each(`${how}: seconds`, ({ edits }) => edits[i].ms / 1000),
      each(`${how}: error of the change of θ`, ({ edits }) => edits[i].error),
      each(`${how}: accuracy less that of training again`, ({ edits }) => edits[i].gap, ' points'),
      each(`${how}: ‖∇F‖`, ({ edits }) => edits[i].norm),
    );
  }
  for (const [i, tolerance] of TRIED.entries()) {
    rows.push(
      each(`Newton, solved to ${tolerance}: error of the change of θ`, ({ tried }) => tried[i].error),
      each(`Newton, solved to ${tolerance}: products`, ({ tried }) => tried[i].iterations),
    );
  }
  return rows.map(print);
}
