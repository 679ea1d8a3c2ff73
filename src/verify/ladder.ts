// The ladder measured: every estimator on many random removals, its median error against retraining, and the bounds.

import { createRng } from '../array/rng.ts';
import { addScaled, distance } from '../array/vector.ts';
import { certificatesFrom, priorBoundsFrom } from '../ecif/bounds.ts';
import type { ConvexFile } from '../ecif/convex-file.ts';
import { RUNGS } from '../ecif/estimators.ts';
import type { Removal } from '../ecif/removal.ts';
import { type Cholesky, cholesky, choleskySolve } from '../linalg/cholesky.ts';
import { matVec } from '../linalg/dense.ts';
import { float64Space } from '../linalg/space.ts';
import { relatedPairs } from './instance.ts';
import { plainMinimum, type Quadratic } from './plain.ts';
import { plainProblem, type PlainProblem } from './setting.ts';

type Vector = Float64Array;

/** The grid of the ladder: every seed is a set of pairs, removed from at every τ, δ and |D*|. */
export const GRID = {
  pairs: 20,
  batches: 2,
  features: 4,
  temperatures: [0.1, 0.5, 1],
  decays: [0.01, 0.1, 1, 2, 10],
  removed: [1, 2, 4],
} as const;

/** Medians of reference: relative parameter error of each rung, and bound over error. */
export const REFERENCE = {
  ladder: {
    published: 238,
    'positives only': 0.55,
    corrected: 0.4,
    'exact gradient': 0.32,
    rescaled: 0.19,
    Neumann: 0.14,
    'Krylov 2': 0.08,
    Newton: 0.077,
    'two Newton steps': 0.0009,
  },
  bounds: { lipschitz: 778, selfConcordant: 9.2, p1: 5.8, p2: 1.6, p3: 1.24 },
} as const;

/** Medians of one run. */
export interface LadderResult {
  readonly removals: number;
  readonly ladder: Readonly<Record<string, number>>;
  /** Median bound over error of the corrected edit, where the bound exists, and how often it did. */
  readonly bounds: Readonly<Record<string, { readonly median: number; readonly share: number }>>;
  /** Bounds found below the error. */
  readonly violations: number;
}

/** A removal in closed form on the host, for the estimators of src/ecif. */
export function plainRemoval(plain: PlainProblem, theta: Vector, factor: Cholesky): Removal<Vector> {
  const [whole, left] = [plain.total(theta), plain.removal(1)(theta)];
  const lost = addScaled(whole.hessian, -1, left.hessian);
  const positives = plain.terms((gone) => ({ anchor: (k) => (gone(k) ? 1 : 0), candidate: () => 1 }));
  return {
    theta,
    space: float64Space,
    solve: (b) => Promise.resolve(choleskySolve(factor, b)),
    lostGradient: (form) => {
      const { gradient } = positives(theta, 1);
      return form === 'positives only' ? gradient : addScaled(gradient, 1, plain.negGradient(theta, form));
    },
    lostCurvature: () => ({
      product: (v) => matVec(lost, v, v.length),
      gradient: () => Promise.resolve(addScaled(whole.gradient, -1, left.gradient)),
      release: () => undefined,
    }),
    newtonStep: (at) => {
      const { gradient, hessian } = plain.removal(1)(at);
      return Promise.resolve(choleskySolve(cholesky(hessian, at.length), gradient));
    },
  };
}

/** What one removal says. */
interface Sample {
  readonly errors: Record<string, number>;
  readonly bounds: Record<string, number | null>;
}

async function sample(plain: PlainProblem, theta: Vector, whole: Quadratic, decay: number): Promise<Sample> {
  const removal = plainRemoval(plain, theta, cholesky(whole.hessian, theta.length));
  const after = plain.removal(1);
  const polished = plainMinimum(after, theta, 1e-11);
  const { gradient, hessian } = after(polished);
  const truth = addScaled(polished, -1, choleskySolve(cholesky(hessian, theta.length), gradient));
  const change = distance(truth, theta);
  const errors: Record<string, number> = {};
  for (const [rung, run] of Object.entries(RUNGS)) errors[rung] = distance(await run(removal), truth) / change;
  const edited = await RUNGS.corrected(removal);
  const error = distance(edited, truth);
  const terms = plain.features();
  const gap = addScaled(plain.negGradient(theta, 'exact'), -1, plain.negGradient(theta, 'corrected'));
  const bounds = {
    ...priorBoundsFrom({ ...after(theta), terms }, whole.hessian, gap, decay),
    ...certificatesFrom({ ...after(edited), terms }, decay),
  };
  return {
    errors,
    bounds: Object.fromEntries(Object.entries(bounds).map(([name, b]) => [name, b === null ? null : b / error])),
  };
}

/** All removals of one seed. */
async function* samplesOf(seed: number): AsyncGenerator<Sample> {
  const rng = createRng(seed);
  const { pairs, features } = GRID;
  const { text, image } = relatedPairs(rng, pairs, features, features);
  const order = [...rng.permutation(pairs)];
  const size = pairs / GRID.batches;
  const batches = Array.from({ length: GRID.batches }, (_, m) => order.slice(m * size, (m + 1) * size));
  for (const temperature of GRID.temperatures) {
    for (const delta of GRID.decays) {
      const base = { name: `ladder ${seed}`, temperature, delta, text, image, batches, validation: { text, image } };
      let theta: Vector | null = null;
      for (const count of GRID.removed) {
        const members = batches[rng.int(GRID.batches)];
        const remove = [...rng.permutation(size)].slice(0, count).map((i) => members[i]);
        const file: ConvexFile = { ...base, remove };
        const plain = plainProblem(file);
        theta ??= plainMinimum(plain.total, new Float64Array(features * features));
        yield sample(plain, theta, plain.total(theta), delta);
      }
    }
  }
}

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
};

/**
 * Runs the ladder over the grid.
 * @param seeds sets of pairs, 45 removals each
 * @param onSeed told after each
 */
export async function runLadder(seeds: number, seed: number, onSeed?: (done: number) => void): Promise<LadderResult> {
  const errors: Record<string, number[]> = {};
  const bounds: Record<string, number[]> = {};
  let removals = 0;
  for (let i = 0; i < seeds; i++) {
    for await (const one of samplesOf(seed * 1_000_003 + i)) {
      removals++;
      for (const [rung, error] of Object.entries(one.errors)) (errors[rung] ??= []).push(error);
      for (const [name, ratio] of Object.entries(one.bounds)) if (ratio !== null) (bounds[name] ??= []).push(ratio);
    }
    onSeed?.(i + 1);
  }
  const mapped = <R>(of: Record<string, number[]>, f: (v: number[]) => R): Record<string, R> =>
    Object.fromEntries(Object.entries(of).map(([name, v]) => [name, f(v)]));
  return {
    removals,
    ladder: mapped(errors, median),
    bounds: mapped(bounds, (v) => ({ median: median(v), share: v.length / removals })),
    violations: Object.values(bounds).reduce((n, v) => n + v.filter((ratio) => ratio < 1 - 1e-7).length, 0),
  };
}
