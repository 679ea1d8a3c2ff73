// Scores of all pairs: one solve and one sweep, timed beside one gradient of the total loss and checked pair by pair.

import * as ecif from '../src/index.ts';
import { dot } from '../src/array/vector.ts';
import { readFlat } from './errors.ts';
import { DENSE, DENSE_UP_TO, type ConvexData, type Placed, places } from './convex-problem.ts';
import { compare, type Timing } from './timing.ts';

type Bilinear = ecif.Bilinear;

/** What was measured of one problem on one device; times in milliseconds, see {@link timeOf}. */
export interface ScoreTimes {
  readonly gradient: number;
  readonly sweep: number;
  /** Curvature, solve and sweep: all that the scores need but training. */
  readonly scores: number;
  /** The same without a dense Hessian at any size. */
  readonly iterative: number;
  /** Solves that all scores took. */
  readonly solves: number;
  /** Largest difference to −∇L_val·(positiveIF + negativeIF) of sampled pairs, relative to the largest. */
  readonly error: number;
  readonly values: Float64Array;
}

/** A solver and how often it was asked. */
function counted<T>(h: ecif.CurvatureSolver<T>): { solver: ecif.CurvatureSolver<T>; count: () => number } {
  let solves = 0;
  const solve = (b: T): Promise<T> => {
    solves++;
    return h.solve(b);
  };
  return { solver: { solve, dispose: () => h.dispose() }, count: () => solves };
}

/** H⁻¹·∇L_val. */
export async function solved(
  { evaluation }: Placed,
  theta: Bilinear,
  h: ecif.CurvatureSolver<Bilinear>,
): Promise<Bilinear> {
  const g = ecif.scope(() => ecif.grad(evaluation)(theta));
  const w = await h.solve(g);
  ecif.disposeTree(g);
  return w;
}

/** Everything from θ̂ to the scores of all pairs. */
export async function scoreAll(
  placed: Placed,
  theta: Bilinear,
  options: ecif.SolverOptions = DENSE,
): Promise<{ scores: readonly ecif.PairScore[]; solves: number }> {
  const { solver, count } = counted(await ecif.curvatureAt(placed.total, theta, options));
  const w = await solved(placed, theta, solver);
  const scores = await ecif.pairScores(placed.problem, theta, w, 'corrected');
  ecif.disposeTree(w);
  solver.dispose();
  return { scores, solves: count() };
}

/** The score of one pair from its two influences: a gradient and a solve each. */
export async function scoreAlone(
  { problem }: Placed,
  theta: Bilinear,
  seg: ecif.Seg,
  h: ecif.CurvatureSolver<Bilinear>,
  gradVal: Float64Array,
): Promise<number> {
  const influences = [
    await ecif.positiveIF(problem, theta, seg, h),
    await ecif.negativeIF(problem, theta, seg, 'corrected', h),
  ];
  let score = 0;
  for (const influence of influences) score -= dot(gradVal, await readFlat(influence));
  ecif.disposeTree(influences);
  return score;
}

/** A gradient on the host. */
export async function gradientOf(f: (theta: Bilinear) => ecif.Tensor, theta: Bilinear): Promise<Float64Array> {
  const g = ecif.scope(() => ecif.grad(f)(theta));
  const values = await readFlat(g);
  ecif.disposeTree(g);
  return values;
}

/** Compares the scores of some pairs, spread over the batches, with those computed alone; throws where they differ. */
async function checkScores(
  placed: Placed,
  theta: Bilinear,
  data: ConvexData,
  values: Float64Array,
  sample: number,
): Promise<number> {
  const h = await ecif.curvatureAt(placed.total, theta, DENSE);
  const gradVal = await gradientOf(placed.evaluation, theta);
  const peak = values.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  let worst = 0;
  for (let i = 0; i < sample; i++) {
    const id = Math.floor(((i + 0.37) * data.pairs) / sample);
    const alone = await scoreAlone(placed, theta, ecif.segOf(places(data), [id]), h, gradVal);
    worst = Math.max(worst, Math.abs(alone - values[id]) / peak);
  }
  h.dispose();
  const limit = theta.w.device.epsilon > 1e-10 ? 1e-3 : 1e-8;
  if (!(worst <= limit)) throw new Error(`scores of ${data.pairs} pairs are off by ${worst} of the largest`);
  return worst;
}

/** On the CPU, which has one thread, the median of the CPU time: other programs do not enter it. Else the best time. */
export const timeOf =
  ({ kind }: ecif.Device) =>
  (t: Timing): number =>
    kind === 'cpu' ? t.cpu : t.best;

/** How much to measure. */
export interface Effort {
  /** Rounds of gradient and sweep; scores take half as many. */
  readonly rounds: number;
  /** Pairs whose scores are computed alone. */
  readonly sample: number;
}

/** Times gradient, sweep and all scores at θ̂ on one device. */
export async function scoreTimes(
  placed: Placed,
  theta: Bilinear,
  data: ConvexData,
  { rounds, sample }: Effort,
): Promise<ScoreTimes> {
  const h = await ecif.curvatureAt(placed.total, theta, { denseUpTo: 0 });
  const w = await solved(placed, theta, h);
  h.dispose();
  const [gradient, sweep] = await compare(
    [
      { name: 'gradient', run: async () => void (await gradientOf(placed.total, theta)) },
      { name: 'sweep', run: async () => void (await ecif.pairScores(placed.problem, theta, w, 'corrected')) },
    ],
    { rounds, patience: 250 },
  );
  ecif.disposeTree(w);
  const { scores: all, solves } = await scoreAll(placed, theta);
  const ways: ecif.SolverOptions[] = theta.w.size <= DENSE_UP_TO ? [DENSE, { denseUpTo: 0 }] : [DENSE];
  const [scores, iterative = scores] = await compare(
    ways.map((way) => ({ name: 'scores', run: async () => void (await scoreAll(placed, theta, way)) })),
    { rounds: Math.ceil(rounds / 2), warmup: 0, patience: 250 },
  );
  const values = Float64Array.from(all, ({ score }) => score);
  const time = timeOf(theta.w.device);
  return {
    ...{ gradient: time(gradient), sweep: time(sweep), scores: time(scores), iterative: time(iterative) },
    solves,
    error: await checkScores(placed, theta, data, values, sample),
    values,
  };
}
