// Multimodal neighbours after LEMoN: does a caption fit the captions of similar pictures, and the picture those of similar captions?

import { EcifError } from '../../array/errors.ts';
import { cosineOf, embedRows, type UnitRows } from './embeddings.ts';
import type { Method } from './method.ts';

/** Settings of {@link lemonOf}. */
export interface LemonOptions {
  /** Neighbours k, fewer than pairs; 5 unless told. */
  readonly neighbours?: number;
  /** β and γ, weights of the neighbours in picture and in caption space; 5 unless told. */
  readonly weight?: number;
  /** τ₁: how fast a neighbour's say falls with its distance; 0.1 unless told. */
  readonly near?: number;
  /** τ₂: how fast it falls with the distance of its own caption from its own picture; 5 unless told. */
  readonly matched?: number;
}

/** The k rows nearest to row n, itself left out; ties by index. */
function nearest(distance: (j: number) => number, count: number, n: number, k: number): number[] {
  return Array.from({ length: count }, (_, j) => j)
    .filter((j) => j !== n)
    .map((j) => ({ j, d: distance(j) }))
    .sort((a, b) => a.d - b.d || a.j - b.j)
    .slice(0, k)
    .map(({ j }) => j);
}

/** The distance of every pair from its surroundings, the less the better. */
function distances({ width, u, v }: UnitRows, options: Required<LemonOptions>): Float64Array {
  const { neighbours, weight, near, matched } = options;
  const count = u.length / width;
  const between = (a: Float64Array, i: number, b: Float64Array, j: number): number => 1 - cosineOf(width, a, i, b, j);
  /** (1/k)·Σ over neighbours j of n in the space of `by` of d_in(n, j)·exp(−τ₁·d_by(n, j) − τ₂·d(u_j, v_j)). */
  const surroundings = (n: number, by: Float64Array, within: Float64Array): number =>
    nearest((j) => between(by, n, by, j), count, n, neighbours).reduce(
      (sum, j) =>
        sum + between(within, n, within, j) * Math.exp(-near * between(by, n, by, j) - matched * between(u, j, v, j)),
      0,
    ) / neighbours;
  return Float64Array.from(
    { length: count },
    (_, n) => between(u, n, v, n) + weight * (surroundings(n, v, u) + surroundings(n, u, v)),
  );
}

/**
 * −(d(u_n, v_n) + β·s_n + γ·s_m), d = 1 − cos: s_n compares the caption with those of the k pairs whose pictures are
 * nearest, s_m the picture with those of the k pairs whose captions are.
 */
export const lemonOf = ({ neighbours = 5, weight = 5, near = 0.1, matched = 5 }: LemonOptions = {}): Method => ({
  name: 'lemon',
  about: '−(1 − cos(u, v) + distances among neighbours)',
  needs: [],
  scores: async (task) => {
    if (neighbours >= task.count) {
      throw new EcifError(`lemon: ${neighbours} neighbours among ${task.count} pairs; ask for fewer`);
    }
    return distances(await embedRows(task), { neighbours, weight, near, matched }).map((d) => -d);
  },
});
