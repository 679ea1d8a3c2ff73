// A tenth of the pairs removed by ECIF and by Newton, against training again from the same start by the same recipe.

import { distance } from '../src/array/vector.ts';
import { editTolerance } from '../src/cli/remove/options.ts';
import { streamedRemoval, withoutRows } from '../src/ecif/streamed-removal.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { prefixRows } from '../src/models/clip/prefix.ts';
import { gradientNorm } from '../src/models/streamed.ts';
import { readFlat } from './errors.ts';
import { DEFAULT, settleEmoji, trainEmoji, type TrainedEmoji, type Training } from './influence-training.ts';
import { format, note, print, type Row, target } from './report.ts';
import { compare } from './timing.ts';

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

const ESTIMATES: readonly (readonly [string, Estimate])[] = [
  ['ECIF', (removal) => ecif.removeLinear(removal, 'corrected')],
  ['ECIF, rescaled', async (removal) => (await ecif.removeRescaled(removal)).theta],
  ['Newton', (removal) => ecif.removeByNewton(removal)],
];
const NEWTON = ESTIMATES[2][1];

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

/** An edited model and what it took. */
interface Edit {
  readonly name: string;
  readonly theta: Adapter;
  readonly ms: number;
}

/** The edits, each timed; the first time compiles kernels that training has compiled long before, and does not count. */
async function edits(trained: TrainedEmoji, removed: readonly number[]): Promise<Edit[]> {
  const found: Edit[] = [];
  for (const [name, estimate] of ESTIMATES) {
    const once = (): ReturnType<typeof editBy> => editBy(trained, removed, estimate, TOLERANCE);
    const { theta } = await once();
    const [timing] = await compare([{ name, run: async () => ecif.disposeTree((await once()).theta) }], {
      rounds: 3,
      warmup: 0,
      patience: 500,
    });
    found.push({ name, theta, ms: timing.median });
  }
  return found;
}

/** Milliseconds of a training, and the iterations that it ended with, in words. */
const msOf = ({ ms }: Training): number => ms.epochs + ms.settling;
const inWords = (training: Training): string =>
  `${format(msOf(training) / 1000)} s (${training.iterations.lbfgs} L-BFGS, ${training.iterations.newton} Newton)`;

/** Where an edit is. */
interface Place {
  /** ‖θ̃ − θ*‖/‖θ* − θ̂‖ */
  readonly error: number;
  /** ‖∇F(θ̃)‖ */
  readonly norm: number;
}

/** What Newton's step makes of solves that are looser and tighter. */
async function toleranceRows(
  section: string,
  trained: TrainedEmoji,
  removed: readonly number[],
  place: (theta: Adapter) => Promise<Place>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const tolerance of TRIED) {
    const { theta, iterations } = await editBy(trained, removed, NEWTON, tolerance);
    const { error, norm } = await place(theta);
    ecif.disposeTree(theta);
    const what = `Newton, solved to ${tolerance}: error, ‖∇F‖, products`;
    rows.push(
      print(note(section, what, `${format(error)}, ${format(norm)}, ${iterations}`, { error, norm, iterations })),
    );
  }
  return rows;
}

/** Every edit beside training again: time, parameters, gradient, accuracy. */
export async function removalRows(trained: TrainedEmoji, name: string): Promise<Row[]> {
  const section = `removal of 10 %, ${name}`;
  const { problem, loss, theta, training } = trained;
  const count = loss.partitions[0].reduce((n, rows) => n + rows.length, 0);
  const removed = [...ecif.createRng(5).permutation(count)].slice(0, Math.round(count / 10));
  const without = withoutRows(loss, removed);
  const again = await trainEmoji(problem, without);
  const shorter = await trainEmoji(problem, without, DEFAULT);
  const onward = await settleEmoji(without, theta);
  const [before, truth] = [await readFlat(theta), await readFlat(again.theta)];
  const change = distance(before, truth);
  const place = async (edited: Adapter): Promise<Place> => ({
    error: distance(await readFlat(edited), truth) / change,
    norm: (await gradientNorm(without, edited)).norm,
  });
  const kept = await accuracy(trained, again.theta);
  const rows = [
    note(section, 'training again', inWords(again), { ...again.ms }),
    note(section, 'training again by ten epochs', `${format(msOf(shorter) / 1000)} s`, { ...shorter.ms }),
    note(section, 'training on from θ̂', inWords(onward), { ...onward.ms }),
    note(section, 'training again: ‖∇F‖, once and again', `${format(training.norm)}, ${format(again.norm)}`),
    note(section, 'training on from θ̂: error', format((await place(onward.theta)).error)),
    note(
      section,
      'accuracy before, and trained again',
      `${format(await accuracy(trained, theta))} %, ${format(kept)} %`,
    ),
    note(section, '‖∇F‖ after removal, nothing edited', format((await place(theta)).norm)),
  ].map(print);
  for (const { name: how, theta: edited, ms } of await edits(trained, removed)) {
    const { error, norm } = await place(edited);
    const gap = (await accuracy(trained, edited)) - kept;
    rows.push(
      ...[
        target(section, `${how}: training again / edit`, msOf(again) / ms, '≥', 13, '×', { ms }),
        note(section, `${how}: training again by ten epochs / edit`, `${format(msOf(shorter) / ms)}×`),
        note(section, `${how}: settling alone / edit`, `${format(again.ms.settling / ms)}×`),
        note(section, `${how}: training on from θ̂ / edit`, `${format(msOf(onward) / ms)}×`),
        note(section, `${how}: error of the change of θ`, format(error), { error }),
        note(section, `${how}: accuracy less that of training again`, `${format(gap)} points`, { gap }),
        note(section, `${how}: ‖∇F‖ after removal`, format(norm), { norm }),
      ].map(print),
    );
    ecif.disposeTree(edited);
  }
  ecif.disposeTree([again.theta, shorter.theta, onward.theta]);
  return [...rows, ...(await toleranceRows(section, trained, removed, place))];
}
