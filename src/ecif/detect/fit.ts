// How well each pair fits among all: its contrastive loss with every other pair as a negative, not only those of its batch.

import { createRng } from '../../array/rng.ts';
import { cosineOf, type UnitRows } from '../baselines/embeddings.ts';

/** Pairs that others are compared with at most, unless told. */
const MOST_CANDIDATES = 2048;

/** Number of embedded pairs. */
export const countOf = ({ width, u }: UnitRows): number => u.length / width;

/**
 * Rows that serve as negatives: all, or as many as are asked for, drawn at random.
 * @example const among = candidatesOf(50_000, { most: 1024, seed: 0 });
 */
export function candidatesOf(count: number, { most = MOST_CANDIDATES, seed = 0 } = {}): Uint32Array {
  if (count <= most) return Uint32Array.from({ length: count }, (_, i) => i);
  return Uint32Array.from(createRng(seed).permutation(count).subarray(0, most)).sort();
}

/** log Σ exp, given one at a time. */
function logSum(values: Float64Array): number {
  const top = values.reduce((a, b) => Math.max(a, b), -Infinity);
  return top + Math.log(values.reduce((sum, x) => sum + Math.exp(x - top), 0));
}

/**
 * The loss of a caption with a picture, each among the candidates, in both directions:
 * log Σ_j exp s·cos(u, v_j) + log Σ_j exp s·cos(u_j, v) − 2·s·cos(u, v), both sums with the pair itself in place of row `own`.
 * @param scale s = 1/τ
 * @param own row that neither half competes with; the pair's own
 */
export function lossAmong(
  { width, u, v }: UnitRows,
  scale: number,
  candidates: Uint32Array,
  { caption, picture, own }: { readonly caption: number; readonly picture: number; readonly own: number },
): number {
  const itself = scale * cosineOf(width, u, caption, v, picture);
  const rivals = candidates.filter((j) => j !== own);
  const pictures = Float64Array.from(rivals, (j) => scale * cosineOf(width, u, caption, v, j));
  const captions = Float64Array.from(rivals, (j) => scale * cosineOf(width, u, j, v, picture));
  const along = (rest: Float64Array): number => logSum(Float64Array.of(itself, ...rest)) - itself;
  return along(pictures) + along(captions);
}

/**
 * The loss of every pair among the candidates, in both directions.
 * @example const suspicion = lossesAmongAll(rows, 1 / 0.07);
 */
export function lossesAmongAll(
  rows: UnitRows,
  scale: number,
  candidates: Uint32Array = candidatesOf(countOf(rows)),
): Float64Array {
  return Float64Array.from({ length: countOf(rows) }, (_, n) =>
    lossAmong(rows, scale, candidates, { caption: n, picture: n, own: n }),
  );
}
