// Ranks with ties, and the correlations built on them.

import { type End, type Numbers, requireFinite, requireSameLength } from './input.ts';

/**
 * The pairs in the order of their scores; ties by index, the lower first.
 * @example orderBy([0.3, -1, 0.3], 'lowest'); // [1, 0, 2]
 */
export function orderBy(scores: Numbers, first: End): Uint32Array {
  requireFinite('orderBy', scores);
  const sign = first === 'lowest' ? 1 : -1;
  return Uint32Array.from({ length: scores.length }, (_, i) => i).sort(
    (a, b) => sign * (scores[a] - scores[b]) || a - b,
  );
}

/** Runs of equal values in an order, as [start, end) of each. */
export function* tiesIn(values: Numbers, order: Uint32Array): Generator<readonly [start: number, end: number]> {
  let start = 0;
  for (let i = 1; i <= order.length; i++) {
    if (i < order.length && values[order[i]] === values[order[start]]) continue;
    yield [start, i];
    start = i;
  }
}

/**
 * Ranks from the lowest up, equal values sharing the mean of theirs: rank(i) = #{j: x_j < x_i} + (#{j: x_j = x_i} + 1)/2.
 * @example midranks([10, 20, 10]); // [1.5, 3, 1.5]
 */
export function midranks(values: Numbers): Float64Array {
  const order = orderBy(values, 'lowest');
  const ranks = new Float64Array(order.length);
  for (const [start, end] of tiesIn(values, order))
    for (let i = start; i < end; i++) ranks[order[i]] = (start + end + 1) / 2;
  return ranks;
}

/**
 * Deviations from the mean, the largest made 1. Values are scaled first, which makes a constant list ±1 throughout: it
 * deviates by 0 exactly, and by 0/0 once scaled again.
 */
function deviations(values: Numbers): Float64Array {
  const scaled = largestToOne(Float64Array.from(values));
  const mean = scaled.reduce((t, v) => t + v, 0) / scaled.length;
  return largestToOne(scaled.map((v) => v - mean));
}

function largestToOne(values: Float64Array): Float64Array {
  const largest = values.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  return values.map((v) => v / largest);
}

/**
 * Pearson's r = Σ(x − x̄)(y − ȳ) / √(Σ(x − x̄)²·Σ(y − ȳ)²).
 * NaN where either side is constant: r is 0/0 there, and 0 would say that something was measured.
 * @throws ShapeError, NumericsError
 */
export function pearson(x: Numbers, y: Numbers): number {
  requireSameLength('pearson', x, y);
  requireFinite('pearson', x);
  requireFinite('pearson', y);
  const [a, b] = [deviations(x), deviations(y)];
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return Math.max(-1, Math.min(1, ab / Math.sqrt(aa * bb)));
}

/**
 * Spearman's ρ: Pearson's r of the midranks. NaN where either side is constant.
 * @example spearman([1, 2, 3], [10, 20, 15]); // 0.5
 */
export function spearman(x: Numbers, y: Numbers): number {
  requireSameLength('spearman', x, y);
  return pearson(midranks(x), midranks(y));
}

/** Sorts `order` by y, equal ones left as they stand; how many pairs had to change places. */
function swapsToSort(order: Uint32Array, y: Numbers): number {
  let swaps = 0;
  let [from, to] = [order, new Uint32Array(order.length) as Uint32Array];
  for (let width = 1; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      const [middle, end] = [Math.min(start + width, from.length), Math.min(start + 2 * width, from.length)];
      let [i, j] = [start, middle];
      for (let at = start; at < end; at++) {
        const left = j === end || (i < middle && y[from[i]] <= y[from[j]]);
        if (!left) swaps += middle - i;
        to[at] = left ? from[i++] : from[j++];
      }
    }
    [from, to] = [to, from];
  }
  return swaps;
}

/** Σ t(t − 1)/2 over the ties of an order, t their lengths. */
function tiedPairs(values: Numbers, order: Uint32Array): number {
  let sum = 0;
  for (const [start, end] of tiesIn(values, order)) sum += ((end - start) * (end - start - 1)) / 2;
  return sum;
}

/**
 * Kendall's τ-b = (C − D) / √((n₀ − n_x)(n₀ − n_y)): C and D pairs that agree and disagree in order, n₀ all pairs, n_x and
 * n_y those tied in x and in y. NaN where either side is constant. O(n log n).
 */
export function kendall(x: Numbers, y: Numbers): number {
  requireSameLength('kendall', x, y);
  const [rx, ry] = [midranks(x), midranks(y)];
  const all = (x.length * (x.length - 1)) / 2;
  // One number that orders by x, then by y: half ranks are multiples of 1/2 up to n.
  const joint = rx.map((r, i) => r * 4 * (x.length + 1) + ry[i]);
  const order = orderBy(joint, 'lowest');
  const [tiedX, tiedBoth] = [tiedPairs(rx, order), tiedPairs(joint, order)];
  const tiedY = tiedPairs(ry, orderBy(ry, 'lowest'));
  const disagreeing = swapsToSort(order, ry);
  const agreeing = all - tiedX - tiedY + tiedBoth - disagreeing;
  return (agreeing - disagreeing) / Math.sqrt((all - tiedX) * (all - tiedY));
}
