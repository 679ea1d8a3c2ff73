// The largest eigenpairs of the curvature by Lanczos (Arnoldi's iteration of a symmetric matrix), and δ for the rest.

import { createRng } from '../../array/rng.ts';
import { EcifError } from '../../array/errors.ts';
import { Flat } from '../../autodiff/flat.ts';
import { krylovDots, lanczos } from '../../linalg/lanczos.ts';
import { treeSpace } from '../../linalg/tree-space.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { curvatureOperator } from './products.ts';
import { conditionAt, type CurvatureKind, type Decomposition } from './record.ts';

/** Settings of {@link lanczosOf}. */
export interface LowRankOptions {
  /** Eigenpairs to keep, those of largest absolute value. */
  readonly rank: number;
  /** Products, and vectors kept; as many as parameters at most, 2·rank unless told. */
  readonly steps?: number;
  /** `gauss-newton` unless told. */
  readonly curvature?: CurvatureKind;
  /** What the curvature is outside of the eigenpairs: δ alone, or infinite, which drops that part; `decay` unless told. */
  readonly outside?: 'decay' | 'drop';
  /** 0 unless told. */
  readonly seed?: number;
  onIteration?(iteration: number): void;
}

/** Indices of the values of largest size, as many as `rank`. */
const leading = (values: Float64Array, rank: number): number[] =>
  Array.from(values.keys())
    .sort((i, j) => Math.abs(values[j]) - Math.abs(values[i]))
    .slice(0, rank);

/**
 * Low rank by Lanczos: the curvature on the span of its leading eigenvectors, δ or nothing outside. Of full rank it is
 * the curvature itself.
 * @throws EcifError for a rank that is none
 * @example const low = await lanczosOf(loss, theta, { rank: 50 }); await low.solver(0.1).solve(b);
 */
export async function lanczosOf<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: LowRankOptions,
): Promise<Decomposition<T>> {
  const { curvature = 'gauss-newton', outside = 'decay', seed = 0, rank } = options;
  const flat = new Flat(theta);
  const { epsilon } = flat.device;
  if (!(Number.isInteger(rank) && rank >= 1 && rank <= flat.size)) {
    throw new EcifError(`lanczos: rank ${rank} of ${flat.size} parameters; give a whole number in 1…${flat.size}`);
  }
  const steps = Math.min(flat.size, Math.max(rank, options.steps ?? 2 * rank));
  const space = treeSpace<T>();
  const rng = createRng(seed);
  const product = curvatureOperator(loss, theta, curvature);
  const { basis, values, coordinates } = await lanczos(space, product, () => flat.normal(rng), {
    steps,
    tolerance: Math.max(1e-10, 64 * epsilon),
    onIteration: (iteration) => options.onIteration?.(iteration),
  });
  const kept = leading(values, rank);
  const rest = outside === 'decay' && rank < flat.size ? [loss.l2] : [];
  const about = { method: 'lanczos', curvature, l2: loss.l2, settings: { rank, steps, outside, seed } };

  /** The coefficients in the basis of Σ over kept pairs of f(value)·y·yᵀ·b, b given by its own. */
  const filtered = (along: readonly number[], f: (value: number) => number): number[] => {
    const out = along.map(() => 0);
    for (const k of kept) {
      const row = coordinates.subarray(k * steps, (k + 1) * steps);
      const c = f(values[k]) * row.reduce((total, x, i) => total + x * along[i], 0);
      row.forEach((x, i) => (out[i] += c * x));
    }
    return out;
  };
  const made: Decomposition<T> = {
    about,
    epsilon,
    spectrum: Float64Array.from([...kept.map((k) => values[k]), ...rest]).sort(),
    solver: (damping = 0) => ({
      about: { ...about, damping },
      accuracy: epsilon * conditionAt(made, damping),
      solve: async (b) => {
        const along = await krylovDots(space, basis, b);
        const beyond = rest.length === 0 ? 0 : 1 / (loss.l2 + damping);
        return space.combine([beyond, ...filtered(along, (value) => 1 / (value + damping) - beyond)], [b, ...basis]);
      },
      dispose: () => undefined,
    }),
    dispose: () => space.release(...basis),
  };
  return made;
}
