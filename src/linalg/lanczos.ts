// Lanczos with full reorthogonalisation (Arnoldi's iteration of a symmetric operator): many eigenpairs at once.
import { NumericsError } from '../array/errors.ts';
import { Held, requireFinite, type Operator, type Space } from './space.ts';
import { diagonalizeTridiagonal } from './symmetric-eigen.ts';

/** Options of {@link lanczos}. */
export interface LanczosOptions {
  /** Dimension of the Krylov space, which is the number of products and of vectors kept. */
  steps: number;
  /** A residual below this times the largest entry of T ends an invariant space; default 1e-10, more in float32. */
  tolerance?: number | undefined;
  /** Called after each product. */
  onIteration?: ((iteration: number) => void) | undefined;
  /** Aborts between iterations, rejecting with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Ritz pairs: eigenpairs of the operator restricted to a Krylov space. */
export interface LanczosResult<V> {
  /** Orthonormal vectors of the space, the caller's to release. */
  basis: V[];
  /** Ritz values, ascending. */
  values: Float64Array;
  /** Row k holds the coordinates of the k-th Ritz vector in `basis`; square. */
  coordinates: Float64Array;
  /** Some eigenvalue lies within errors[k] of values[k]. */
  errors: Float64Array;
}

/** T in progress. */
interface Tridiagonal {
  readonly diagonal: number[];
  readonly off: number[];
}

/**
 * Builds an orthonormal basis of a Krylov space of a symmetric operator, every vector made orthogonal to all before it,
 * twice. Where the space is invariant it goes on with a new vector, so that as many steps as dimensions give the whole
 * spectrum, repeated eigenvalues included.
 *
 * @param space the vectors' space.
 * @param apply v ↦ A·v.
 * @param draw makes a random vector, which the algorithm releases.
 * @param options see {@link LanczosOptions}.
 * @returns the basis and the Ritz pairs in its coordinates.
 * @throws NumericsError when a product is NaN or infinite, or a drawn vector lies in the space that is already there.
 * @example const { basis, values } = await lanczos(space, apply, () => flat.normal(rng), { steps: 20 });
 */
export async function lanczos<V>(
  space: Space<V>,
  apply: Operator<V>,
  draw: () => V,
  { steps, tolerance = 1e-10, onIteration, signal }: LanczosOptions,
): Promise<LanczosResult<V>> {
  const held = new Held(space);
  try {
    const basis: V[] = [];
    const t: Tridiagonal = { diagonal: [], off: [] };
    let next: V = await fresh(space, held, basis, draw);
    let beta = 0;
    while (basis.length < steps) {
      signal?.throwIfAborted();
      basis.push(next);
      const av = await held.apply(apply, next);
      const { rest, dots } = await orthogonalized(space, held, basis, av);
      const alpha = dots[dots.length - 1];
      const [rr] = await space.dots([[rest, rest]]);
      requireFinite('lanczos', 'the residual', rr + alpha, basis.length);
      beta = Math.sqrt(rr);
      t.diagonal.push(alpha);
      onIteration?.(basis.length);
      if (basis.length === steps) break;
      const largest = [...t.diagonal, ...t.off].reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      const invariant = beta <= tolerance * largest;
      t.off.push(invariant ? 0 : beta);
      next = invariant ? await fresh(space, held, basis, draw) : held.combine([1 / beta], [rest]);
      held.drop(rest);
    }
    return { basis: basis.map((v) => held.give(v)), ...ritzPairs(t, beta) };
  } finally {
    held.end();
  }
}

/** Coefficients of a vector along each vector of a basis, with one wait. */
export const krylovDots = <V>(space: Space<V>, basis: readonly V[], v: V): Promise<number[]> =>
  space.dots(basis.map((each) => [each, v] as const));

/** v less its part in the span of the basis, in two rounds, and the sum of both rounds' coefficients; consumes v. */
async function orthogonalized<V>(
  space: Space<V>,
  held: Held<V>,
  basis: readonly V[],
  v: V,
): Promise<{ rest: V; dots: number[] }> {
  let rest = v;
  const dots = basis.map(() => 0);
  for (let round = 0; round < 2 && basis.length > 0; round++) {
    const found = await krylovDots(space, basis, rest);
    found.forEach((c, i) => (dots[i] += c));
    rest = held.replace(rest, held.combine([1, ...found.map((c) => -c)], [rest, ...basis]));
  }
  return { rest, dots };
}

/** A unit vector orthogonal to the basis. */
async function fresh<V>(space: Space<V>, held: Held<V>, basis: readonly V[], draw: () => V): Promise<V> {
  const drawn = held.own(draw());
  const [before] = await space.dots([[drawn, drawn]]);
  const { rest } = await orthogonalized(space, held, basis, drawn);
  const [after] = await space.dots([[rest, rest]]);
  if (!(after > 1e-12 * before)) {
    throw new NumericsError(
      `lanczos: a drawn vector lies in the space of the ${basis.length} before it; ask for at most as many steps as there are dimensions`,
    );
  }
  return held.replace(rest, held.combine([1 / Math.sqrt(after)], [rest]));
}

/** Eigenpairs of T, ascending, with the bounds β·|last coordinate|. */
function ritzPairs({ diagonal, off }: Tridiagonal, beta: number) {
  const m = diagonal.length;
  const d = Float64Array.from(diagonal);
  const rows = new Float64Array(m * m);
  for (let i = 0; i < m; i++) rows[i * m + i] = 1;
  diagonalizeTridiagonal(d, Float64Array.from([...off, 0]), rows, m);
  const order = Array.from(d.keys()).sort((i, j) => d[i] - d[j]);
  const coordinates = new Float64Array(m * m);
  order.forEach((from, to) => coordinates.set(rows.subarray(from * m, (from + 1) * m), to * m));
  return {
    values: Float64Array.from(order, (i) => d[i]),
    coordinates,
    errors: Float64Array.from(order, (_, k) => beta * Math.abs(coordinates[k * m + m - 1])),
  };
}
