// What the curvature, its damping and a gradient that is not 0 do to the error of a removal, on a small model of two towers.

import { distance } from '../src/array/vector.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { readFlat } from './errors.ts';
import { format, note, print, type Row } from './report.ts';

const SECTION = 'what the error of a removal depends on';
const [PAIRS, WIDTH, DECAY, REMOVED] = [96, 6, 8, [20, 60]];

type Towers = { readonly text: ecif.Tensor; readonly image: ecif.Tensor };

/** Pairs whose images are mixtures of their captions, and towers of one layer each. */
function problem(): { loss: ecif.StreamedLoss<Towers, ecif.PairBatch>; start: Towers } {
  const [device, rng] = [new CpuDevice(), ecif.createRng(3)];
  const normal = (rows: number, columns: number, scale = 1): ecif.Tensor =>
    ecif.tensor(
      device,
      Float64Array.from({ length: rows * columns }, () => scale * rng.normal()),
      [rows, columns],
    );
  const text = normal(PAIRS, WIDTH);
  const image = ecif.add(ecif.matmul(text, normal(WIDTH, WIDTH, 0.5)), normal(PAIRS, WIDTH, 0.3));
  const start = { text: normal(WIDTH, 8, 0.4), image: normal(WIDTH, 8, 0.4) };
  const pick = (x: ecif.Tensor, rows: Uint32Array): ecif.Tensor =>
    ecif.gather(x, ecif.tensor(device, Int32Array.from(rows), [rows.length], 'int'));
  const model: ecif.Model<Towers, ecif.PairBatch> = {
    embed: (theta, pairs) => ({
      u: ecif.l2Normalize(ecif.tanh(ecif.matmul(pairs.text, theta.text))),
      v: ecif.l2Normalize(ecif.tanh(ecif.matmul(pairs.image, theta.image))),
    }),
    scale: () => 5,
  };
  const batch = (rows: Uint32Array): Promise<ecif.PairBatch> =>
    Promise.resolve(ecif.scope(() => ({ text: pick(text, rows), image: pick(image, rows) })));
  const partitions = [ecif.drawPartition(rng, PAIRS, 16)];
  return { loss: { model, partitions, batch, l2: DECAY, centre: start }, start };
}

/** Errors of the exact gradient's step from one θ̂, by curvature and damping, against training again; null where it is not positive definite. */
async function errorsAt(
  loss: ecif.StreamedLoss<Towers, ecif.PairBatch>,
  theta: Towers,
): Promise<[string, number | null][]> {
  const without = ecif.withoutRows(loss, REMOVED);
  const { theta: again } = await ecif.settle(without, theta, { tolerance: 1e-8 });
  const [truth, from] = [await readFlat(again), await readFlat(theta)];
  const found: [string, number | null][] = [];
  for (const curvature of ['hessian', 'gauss-newton'] as const) {
    const dense = await ecif.denseOf(loss, theta, { curvature });
    for (const damping of [0, DECAY, 4 * DECAY]) {
      const name = `${curvature === 'hessian' ? 'Hessian' : 'Gauss-Newton'}${damping === 0 ? '' : ` + ${damping / DECAY} δ`}`;
      if (dense.spectrum[0] + damping <= 0) {
        found.push([name, null]);
        continue;
      }
      const solver = dense.solver(damping);
      const removal = ecif.streamedRemoval(loss, theta, REMOVED, solver, () => Promise.resolve(solver));
      const edited = await readFlat(await ecif.removeLinear(removal, 'exact'));
      found.push([name, distance(edited, truth) / distance(from, truth)]);
    }
    dense.dispose();
  }
  return found;
}

/** One row for each curvature and damping, at a θ̂ that is stationary and at some that are less so. */
export async function effectRows(): Promise<Row[]> {
  const { loss, start } = problem();
  const rows: Row[] = [];
  for (const tolerance of [1e-8, 0.1, 1, 4]) {
    const { theta, gradientNorm } = await ecif.settle(loss, start, { tolerance });
    for (const [name, error] of await errorsAt(loss, theta)) {
      const what = `‖∇L(θ̂)‖ ${gradientNorm.toExponential(0)}, ${name}: error`;
      rows.push(print(note(SECTION, what, error === null ? 'indefinite' : format(error), { error, gradientNorm })));
    }
  }
  return rows;
}
