// L-BFGS with a strong-Wolfe line search; the two-loop recursion runs on inner products, so it waits once.
import { wolfeSearch } from './line-search.ts';
import {
  beginMinimization,
  finish,
  iterate,
  moveTo,
  probe,
  type Minimization,
  type MinimizeOptions,
  type MinimizeResult,
  type Point,
} from './minimize.ts';
import { Held, type Objective, type Space } from './space.ts';

/** Options of {@link lbfgs}; `gradientTolerance` defaults to 1e-8, `maxIterations` to 1000. */
export interface LbfgsOptions<V> extends MinimizeOptions<V> {
  /** Number of (s, y) pairs kept; default 10. */
  history?: number | undefined;
}

/** Iterations without a lower value or gradient after which the run is called stagnated. */
const PATIENCE = 40;

/**
 * Minimises a smooth function with limited-memory BFGS. The number of live vectors is bounded by the history.
 *
 * @param space the vectors' space.
 * @param objective x ↦ value and gradient.
 * @param x0 starting point, kept by the caller.
 * @param options see {@link LbfgsOptions}.
 * @returns the point reached, with the history of gradient norms.
 * @throws NumericsError when f or its gradient is not finite at x0.
 * @example const { x } = await lbfgs(float64Space, (x) => ({ value: f(x), gradient: df(x) }), x0);
 */
export async function lbfgs<V>(
  space: Space<V>,
  objective: Objective<V>,
  x0: V,
  options: LbfgsOptions<V> = {},
): Promise<MinimizeResult<V>> {
  const { history = 10, maxIterations = 1000, signal } = options;
  const held = new Held(space);
  try {
    const run = await beginMinimization('lbfgs', space, held, objective, x0, options, 1e-8);
    const memory = new Memory(space, held, history);
    const status = await iterate(run, { maxIterations, patience: PATIENCE, signal }, () => advance(run, memory));
    return finish(run, status);
  } finally {
    held.end();
  }
}

/** One iteration; false when not even steepest descent finds a step. */
async function advance<V>(run: Minimization<V>, memory: Memory<V>): Promise<boolean> {
  const { held } = run;
  const from = run.at;
  const fresh = memory.size === 0;
  const d = memory.direction(from);
  const [slope] = await run.space.dots([[from.gradient, d]]);
  let last = null as (Point<V> & { t: number; slope: number }) | null;
  const step = async (t: number) => {
    if (last !== null) dropPoint(held, last);
    last = await probe(run, d, t);
    return last;
  };
  const first = fresh ? Math.min(1, 1 / from.norm) : 1;
  const hit = slope < 0 ? await wolfeSearch(step, { t: 0, value: from.value, slope }, first, run.noise()) : null;
  held.drop(d);
  if (hit === null) {
    if (last !== null) dropPoint(held, last);
    memory.clear();
    return fresh ? false : advance(run, memory);
  }
  moveTo(run, hit);
  await memory.push(from, hit);
  dropPoint(held, from);
  return true;
}

function dropPoint<V>(held: Held<V>, point: Point<V>): void {
  held.drop(point.x, point.gradient);
}

/** A kept pair; sy[j] = s·y_j and yy[j] = y·y_j over the current pairs, sg = s·g, yg = y·g at the current gradient. */
interface Pair<V> {
  s: V;
  y: V;
  sy: number[];
  yy: number[];
  sg: number;
  yg: number;
}

/** The last pairs with all inner products the two-loop recursion needs. */
class Memory<V> {
  readonly #space: Space<V>;
  readonly #held: Held<V>;
  readonly #limit: number;
  #pairs: Pair<V>[] = [];

  constructor(space: Space<V>, held: Held<V>, limit: number) {
    this.#space = space;
    this.#held = held;
    this.#limit = limit;
  }

  get size(): number {
    return this.#pairs.length;
  }

  clear(): void {
    for (const pair of this.#pairs) this.#held.drop(pair.s, pair.y);
    this.#pairs = [];
  }

  /** Adds s = x' − x, y = g' − g unless its curvature is lost in rounding; refreshes products with g'. One wait. */
  async push(from: Point<V>, to: Point<V>): Promise<void> {
    if (this.#limit < 1) return;
    if (this.#pairs.length === this.#limit) this.#evict();
    const s = this.#held.combine([1, -1], [to.x, from.x]);
    const y = this.#held.combine([1, -1], [to.gradient, from.gradient]);
    const all = [...this.#pairs, { s, y, sy: [], yy: [], sg: 0, yg: 0 }];
    const dots = await this.#space.dots([
      [s, s],
      ...all.flatMap((pair): [V, V][] => [
        [pair.s, y],
        [pair.y, y],
        [pair.s, to.gradient],
        [pair.y, to.gradient],
      ]),
    ]);
    all.forEach((pair, i) => {
      const [sy, yy, sg, yg] = dots.slice(1 + 4 * i, 5 + 4 * i);
      pair.sy.push(sy);
      pair.yy.push(yy);
      Object.assign(pair, { sg, yg });
    });
    const newest = all[all.length - 1];
    newest.sy = [...this.#pairs.map(() => 0), newest.sy[0]];
    newest.yy = all.map((pair) => pair.yy[pair.yy.length - 1]);
    const usable = newest.sy[all.length - 1] > Number.EPSILON * Math.sqrt(dots[0] * newest.yy[all.length - 1]);
    if (usable) this.#pairs = all;
    else {
      this.#held.drop(s, y);
      for (const pair of this.#pairs) [pair.sy, pair.yy] = [pair.sy.slice(0, -1), pair.yy.slice(0, -1)];
    }
  }

  /** −H·g by the two-loop recursion, coefficients first, then one combination of 2m + 1 vectors. */
  direction(at: Point<V>): V {
    const pairs = this.#pairs;
    const m = pairs.length;
    if (m === 0) return this.#held.combine([-1], [at.gradient]);
    const alpha = new Array<number>(m).fill(0);
    for (let i = m - 1; i >= 0; i--) {
      let sq = pairs[i].sg;
      for (let j = i + 1; j < m; j++) sq -= alpha[j] * pairs[i].sy[j];
      alpha[i] = sq / pairs[i].sy[i];
    }
    const gamma = pairs[m - 1].sy[m - 1] / pairs[m - 1].yy[m - 1];
    const gain = new Array<number>(m).fill(0); // α − β of the recursion
    for (let i = 0; i < m; i++) {
      let yr = pairs[i].yg;
      for (let j = 0; j < m; j++) yr -= alpha[j] * pairs[i].yy[j];
      yr *= gamma;
      for (let j = 0; j < i; j++) yr += gain[j] * pairs[j].sy[i];
      gain[i] = alpha[i] - yr / pairs[i].sy[i];
    }
    const coeffs = [-gamma, ...gain.map((c) => -c), ...alpha.map((c) => gamma * c)];
    return this.#held.combine(coeffs, [at.gradient, ...pairs.map((p) => p.s), ...pairs.map((p) => p.y)]);
  }

  #evict(): void {
    const [oldest, ...rest] = this.#pairs;
    this.#held.drop(oldest.s, oldest.y);
    for (const pair of rest) [pair.sy, pair.yy] = [pair.sy.slice(1), pair.yy.slice(1)];
    this.#pairs = rest;
  }
}
