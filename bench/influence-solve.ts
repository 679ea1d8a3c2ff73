// The one solve that scores need: iterations of conjugate gradients with preconditioners and without, and what their products cost.

import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { gaussNewtonProduct, hessianProduct } from '../src/models/streamed.ts';
import type { TrainedEmoji } from './influence-training.ts';
import { format, note, print, type Row, target } from './report.ts';

const SECTION = 'one solve';
const TOLERANCE = 1e-3;
/** What preconditioners are measured on. */
const DRAWN = { draws: 4 } as const;

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

/** A preconditioner, what it took to make, and how it is called. */
interface Made {
  readonly name: string;
  readonly preconditioner: ecif.RecordedSolver<Adapter> | undefined;
  readonly ms: number;
  dispose(): void;
}

/** Nothing, EK-FAC, and that of both matrices of a low-rank update together; of either kernels are compiled before. */
async function preconditioners({ loss, theta }: TrainedEmoji): Promise<Made[]> {
  const ekfac = async (): Promise<Omit<Made, 'ms'>> => {
    const made = await ecif.ekfacOf(loss, theta, DRAWN);
    return { name: 'with EK-FAC', preconditioner: made.solver(), dispose: () => made.dispose() };
  };
  const joint = async (): Promise<Omit<Made, 'ms'>> => {
    const made = await ecif.jointOf(loss, theta, DRAWN);
    return { name: 'with A and B jointly', preconditioner: made, dispose: () => made.dispose() };
  };
  const found: Made[] = [{ name: 'without', preconditioner: undefined, ms: 0, dispose: () => undefined }];
  for (const make of [ekfac, joint]) {
    (await make()).dispose();
    const begin = performance.now();
    const made = await make();
    found.push({ ...made, ms: performance.now() - begin });
  }
  return found;
}

/** One curvature with every preconditioner; the last one has a target. */
async function curvatureRows(trained: TrainedEmoji, curvature: 'auto' | 'gauss-newton', made: readonly Made[]) {
  const name = curvature === 'auto' ? 'Hessian' : 'Gauss-Newton';
  const rows: Row[] = [];
  const residuals: number[] = [];
  for (const { name: how, preconditioner, ms: making } of made) {
    const more = preconditioner === undefined ? {} : { preconditioner };
    const { record, residual, ms } = await solve(trained, { curvature, ...more });
    residuals.push(residual);
    const what = `${name}: iterations to ${TOLERANCE} ${how}`;
    const raw = { ms, making, curvature: record.curvature };
    rows.push(
      how === made[made.length - 1].name
        ? target(SECTION, what, record.iterations, '≤', 30, '', raw)
        : note(SECTION, what, `${record.iterations} (${record.curvature})`, raw),
      note(SECTION, `${name}: solve ${how}, what it needs made anew`, `${format(making + ms)} ms`),
    );
  }
  rows.push(target(SECTION, `${name}: residual`, Math.max(...residuals), '≤', 1.5 * TOLERANCE, ''));
  return rows.map(print);
}

/** Both curvatures, each with every preconditioner, and the products of one made anew every time. */
export async function solveRows(trained: TrainedEmoji): Promise<Row[]> {
  const made = await preconditioners(trained);
  const rows = made
    .slice(1)
    .map(({ name, ms }) => print(note(SECTION, `preconditioner ${name}, once`, `${format(ms)} ms`, { ms })));
  for (const curvature of ['auto', 'gauss-newton'] as const)
    rows.push(...(await curvatureRows(trained, curvature, made)));
  const [anew, kept] = [
    await solve(trained, { curvature: 'gauss-newton', products: 'streamed' }),
    await solve(trained, { curvature: 'gauss-newton', products: 'auto' }),
  ];
  rows.push(print(note(SECTION, 'products made anew / forward passes kept', `${format(anew.ms / kept.ms)}×`)));
  made.forEach((each) => each.dispose());
  return rows;
}
