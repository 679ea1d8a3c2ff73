// Extreme eigenvalues of a symmetric operator by Lanczos iteration, with a constant number of live vectors.
import { Held, requireFinite, type Operator, type Space } from './space.ts';
import { diagonalizeTridiagonal } from './symmetric-eigen.ts';

/** Options of {@link extremeEigenvalues}. */
export interface ExtremeOptions {
  /** Which end must converge; default 'largest'. Both are always reported. */
  which?: 'largest' | 'smallest' | 'both' | undefined;
  /** Stop when the error bound is below tolerance·max|eigenvalue|; default 1e-6. */
  tolerance?: number | undefined;
  /** Default 100. */
  maxIterations?: number | undefined;
  /** Aborts between iterations, rejecting with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A Ritz value: some eigenvalue lies within `error` of `value`. */
export interface RitzValue {
  value: number;
  error: number;
}

/** Result of {@link extremeEigenvalues}. */
export interface ExtremeResult {
  /** Approached from below. */
  largest: RitzValue;
  /** Approached from above. */
  smallest: RitzValue;
  /** Number of products. */
  iterations: number;
  converged: boolean;
}

/**
 * Largest and smallest eigenvalue of a symmetric operator given by its products (for the scale of `lissa`).
 *
 * @param space the vectors' space.
 * @param apply v ↦ A·v.
 * @param start any vector with a part in every eigenvector, e.g. random normal; kept by the caller.
 * @param options see {@link ExtremeOptions}.
 * @returns both ends of the spectrum seen from `start`, with error bounds.
 * @throws NumericsError when `start` is zero or a product is NaN or infinite.
 * @example const { largest } = await extremeEigenvalues(space, apply, start); // scale = largest.value + largest.error
 */
export async function extremeEigenvalues<V>(
  space: Space<V>,
  apply: Operator<V>,
  start: V,
  { which = 'largest', tolerance = 1e-6, maxIterations = 100, signal }: ExtremeOptions = {},
): Promise<ExtremeResult> {
  const held = new Held(space);
  const diagonal: number[] = [];
  const off: number[] = [];
  try {
    let [beta] = (await space.dots([[start, start]])).map(Math.sqrt);
    requireFinite('extremeEigenvalues', '1/‖start‖', 1 / beta, 0);
    let v = held.combine([1 / beta], [start]);
    let old = v;
    for (;;) {
      signal?.throwIfAborted();
      const k = diagonal.length;
      const av = await held.apply(apply, v);
      const [alpha] = await space.dots([[v, av]]);
      const u = k === 0 ? held.combine([1, -alpha], [av, v]) : held.combine([1, -alpha, -beta], [av, v, old]);
      held.drop(av);
      if (k > 0) held.drop(old);
      const [uu] = await space.dots([[u, u]]);
      requireFinite('extremeEigenvalues', 'the Lanczos vector', alpha + uu, k);
      beta = Math.sqrt(uu);
      diagonal.push(alpha);
      const ends = ritzEnds(diagonal, off, beta);
      const size = Math.max(Math.abs(ends.largest.value), Math.abs(ends.smallest.value));
      const high = which === 'smallest' || ends.largest.error <= tolerance * size;
      const low = which === 'largest' || ends.smallest.error <= tolerance * size;
      const exhausted = beta <= Number.EPSILON * size;
      const converged = exhausted || (high && low);
      if (converged || k + 1 >= maxIterations) return { ...ends, iterations: k + 1, converged };
      off.push(beta);
      [old, v] = [v, held.combine([1 / beta], [u])];
      held.drop(u);
    }
  } finally {
    held.end();
  }
}

/** Extreme eigenvalues of the Lanczos tridiagonal; the bound of each is β·|last component of its eigenvector|. */
function ritzEnds(diagonal: readonly number[], off: readonly number[], beta: number) {
  const d = Float64Array.from(diagonal);
  const lastComponents = new Float64Array(d.length);
  lastComponents[d.length - 1] = 1;
  diagonalizeTridiagonal(d, Float64Array.from([...off, 0]), lastComponents, 1);
  let lo = 0;
  let hi = 0;
  for (let i = 1; i < d.length; i++) {
    if (d[i] < d[lo]) lo = i;
    if (d[i] > d[hi]) hi = i;
  }
  return {
    largest: { value: d[hi], error: beta * Math.abs(lastComponents[hi]) },
    smallest: { value: d[lo], error: beta * Math.abs(lastComponents[lo]) },
  };
}
