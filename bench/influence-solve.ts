// The one solve that scores need: iterations of conjugate gradients with and without EK-FAC, and what their products cost.

import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { gaussNewtonProduct, hessianProduct } from '../src/models/streamed.ts';
import type { TrainedEmoji } from './influence-training.ts';
import { format, note, print, type Row, target } from './report.ts';

const SECTION = 'one solve';
const TOLERANCE = 1e-3;
/** What EK-FAC is measured on, here and where it serves removals. */
export const EKFAC = { draws: 4 } as const;

/** A solve, its true residual by products that are made anew, and what it took. */
interface Solve {
  readonly record: ecif.SolveRecord;
  readonly residual: number;
  readonly ms: number;
}

async function solve(
  { loss, theta, gradient: b }: TrainedEmoji,
  options: ecif.CgSolverOptions<Adapter>,
): Promise<Solve> {
  const space = ecif.treeSpace<Adapter>();
  const solver = ecif.cgSolver(loss, theta, {
    tolerance: TOLERANCE,
    unfinished: 'keep',
    maxIterations: 200,
    ...options,
  });
  const begin = performance.now();
  const x = await solver.solve(b);
  const ms = performance.now() - begin;
  solver.dispose();
  const record = solver.history[solver.history.length - 1];
  const product = await (record.curvature === 'hessian' ? hessianProduct : gaussNewtonProduct)(loss)(theta, x);
  const rest = space.combine([1, -1], [b, product]);
  const [rr, bb] = await space.dots([
    [rest, rest],
    [b, b],
  ]);
  space.release(x, product, rest);
  return { record, residual: Math.sqrt(rr / bb), ms };
}

/** Both curvatures, each with EK-FAC and without, and the products of the first made anew every time. */
export async function solveRows(trained: TrainedEmoji): Promise<Row[]> {
  const begin = performance.now();
  const ekfac = await ecif.ekfacOf(trained.loss, trained.theta, EKFAC);
  const made = performance.now() - begin;
  const rows = [print(note(SECTION, 'EK-FAC, once', `${format(made)} ms`, { ms: made }))];
  const preconditioner = ekfac.solver();
  for (const curvature of ['auto', 'gauss-newton'] as const) {
    const name = curvature === 'auto' ? 'Hessian' : 'Gauss-Newton';
    const [plain, helped] = [await solve(trained, { curvature }), await solve(trained, { curvature, preconditioner })];
    const count = ({ record }: Solve): string => `${record.iterations} (${record.curvature})`;
    rows.push(
      ...[
        note(SECTION, `${name}: iterations to ${TOLERANCE} without EK-FAC`, count(plain), { ms: plain.ms }),
        target(SECTION, `${name}: iterations with EK-FAC`, helped.record.iterations, '≤', 30, '', {
          ms: helped.ms,
          curvature: helped.record.curvature,
        }),
        target(SECTION, `${name}: residual`, Math.max(plain.residual, helped.residual), '≤', 1.5 * TOLERANCE, ''),
      ].map(print),
    );
  }
  const [anew, kept] = [
    await solve(trained, { curvature: 'gauss-newton', products: 'streamed' }),
    await solve(trained, { curvature: 'gauss-newton', products: 'auto' }),
  ];
  rows.push(print(note(SECTION, 'products made anew / forward passes kept', `${format(anew.ms / kept.ms)}×`)));
  ekfac.dispose();
  return rows;
}
