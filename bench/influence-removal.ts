// A tenth of the pairs removed by ECIF and by Newton, against training again from the same start by the same recipe.

import { distance } from '../src/array/vector.ts';
import { streamedRemoval, withoutRows } from '../src/ecif/streamed-removal.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { prefixRows } from '../src/models/clip/prefix.ts';
import { gradientNorm } from '../src/models/streamed.ts';
import { readFlat } from './errors.ts';
import { trainEmoji, type TrainedEmoji } from './influence-training.ts';
import { format, note, print, type Row, target } from './report.ts';
import { compare } from './timing.ts';

/** Relative residual of the solves: what the linearisation leaves out is larger. */
const TOLERANCE = 0.1;

/** Mean of recall among the first 5 in both directions on pairs that were kept out, in percent. */
async function accuracy({ problem, heldOut }: TrainedEmoji, theta: Adapter): Promise<number> {
  const pairs = ecif.scope(() => prefixRows(problem.pairs, heldOut));
  const s = ecif.scope(() => ecif.similarities(problem.model, theta, pairs));
  const { textToImage, imageToText } = ecif.retrieval(await s.data(), heldOut.length);
  ecif.disposeTree([pairs, s]);
  return 50 * (textToImage.r5 + imageToText.r5);
}

/** An edited model and what it took. */
interface Edit {
  readonly name: string;
  readonly theta: Adapter;
  readonly ms: number;
}

/** The edits, each timed with all it needs: products at θ̂ linearised, gradients of what is lost, the solve. */
async function edits({ loss, theta: at }: TrainedEmoji, removed: readonly number[]): Promise<Edit[]> {
  const solverAt = (of: typeof loss, x: Adapter): ecif.IterativeSolver<Adapter> =>
    ecif.cgSolver(of, x, { tolerance: TOLERANCE });
  const once = async (edit: (removal: ecif.Removal<Adapter>) => Promise<Adapter>): Promise<Adapter> => {
    const h = solverAt(loss, at);
    const after = (of: typeof loss, x: Adapter): Promise<ecif.CurvatureSolver<Adapter>> =>
      Promise.resolve(solverAt(of, x));
    const edited = await edit(streamedRemoval(loss, at, removed, h, after));
    h.dispose();
    return edited;
  };
  // The first time compiles kernels that training has compiled long before.
  const run = async (name: string, edit: (removal: ecif.Removal<Adapter>) => Promise<Adapter>): Promise<Edit> => {
    const theta = await once(edit);
    const [timing] = await compare([{ name, run: async () => ecif.disposeTree(await once(edit)) }], {
      rounds: 3,
      warmup: 0,
      patience: 500,
    });
    return { name, theta, ms: timing.median };
  };
  return [
    await run('ECIF', (removal) => ecif.removeLinear(removal, 'corrected')),
    await run('ECIF, rescaled', async (removal) => (await ecif.removeRescaled(removal)).theta),
    await run('Newton', (removal) => ecif.removeByNewton(removal)),
  ];
}

/** Every edit beside training again: time, parameters, gradient, accuracy. */
export async function removalRows(trained: TrainedEmoji, name: string): Promise<Row[]> {
  const section = `removal of 10 %, ${name}`;
  const { problem, loss, theta, training } = trained;
  const count = loss.partitions[0].reduce((n, rows) => n + rows.length, 0);
  const removed = [...ecif.createRng(5).permutation(count)].slice(0, Math.round(count / 10));
  const without = withoutRows(loss, removed);
  const again = await trainEmoji(problem, without);
  const [before, truth] = [await readFlat(theta), await readFlat(again.theta)];
  const change = distance(before, truth);
  const retraining = again.ms.epochs + again.ms.settling;
  const kept = await accuracy(trained, again.theta);
  const steps = `${again.iterations.lbfgs} L-BFGS, ${again.iterations.newton} Newton`;
  const rows = [
    note(section, 'training again', `${format(retraining / 1000)} s (${steps})`, { ...again.ms }),
    note(section, 'training again: ‖∇F‖, once and again', `${format(training.norm)}, ${format(again.norm)}`),
    note(
      section,
      'accuracy before, and trained again',
      `${format(await accuracy(trained, theta))} %, ${format(kept)} %`,
    ),
    note(section, '‖∇F‖ after removal, nothing edited', format((await gradientNorm(without, theta)).norm)),
  ].map(print);
  for (const { name: how, theta: edited, ms } of await edits(trained, removed)) {
    const error = distance(await readFlat(edited), truth) / change;
    const gap = (await accuracy(trained, edited)) - kept;
    const { norm } = await gradientNorm(without, edited);
    rows.push(
      ...[
        target(section, `${how}: training again / edit`, retraining / ms, '≥', 13, '×', { ms }),
        note(section, `${how}: settling alone / edit`, `${format(again.ms.settling / ms)}×`),
        note(section, `${how}: error of the change of θ`, format(error), { error }),
        note(section, `${how}: accuracy less that of training again`, `${format(gap)} points`, { gap }),
        note(section, `${how}: ‖∇F‖ after removal`, format(norm), { norm }),
      ].map(print),
    );
    ecif.disposeTree(edited);
  }
  return rows;
}
