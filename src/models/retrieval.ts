// What a similarity matrix says about its pairs: recall in both directions, and the loss of every pair.

import type { Rng } from '../array/rng.ts';

/** Fractions of queries whose own partner is among the first 1 and 5 candidates. */
export interface Recall {
  readonly r1: number;
  readonly r5: number;
}

/** Recall of n captions against n pictures. */
export interface Retrieval {
  readonly pairs: number;
  readonly textToImage: Recall;
  readonly imageToText: Recall;
  /** What guessing gives: 1/n and 5/n. */
  readonly chance: Recall;
}

type At = (query: number, candidate: number) => number;

/** Candidates that are at least as similar as the partner; ties count against the model. */
function rankOf(at: At, n: number, query: number, partner: number): number {
  const own = at(query, partner);
  let rank = 0;
  for (let j = 0; j < n; j++) if (j !== partner && !(at(query, j) < own)) rank++;
  return rank;
}

function recall(at: At, n: number, partner: (query: number) => number): Recall {
  let [first, firstFive] = [0, 0];
  for (let k = 0; k < n; k++) {
    const rank = rankOf(at, n, k, partner(k));
    if (rank < 1) first++;
    if (rank < 5) firstFive++;
  }
  return { r1: first / n, r5: firstFive / n };
}

/**
 * Recall in both directions.
 * @param s similarities, row i caption i, column j picture j, (n, n)
 * @param partners picture of caption k; k itself unless told
 */
export function retrieval(s: ArrayLike<number>, n: number, partners?: ArrayLike<number>): Retrieval {
  const captionOf = new Uint32Array(n);
  const pictureOf = Uint32Array.from({ length: n }, (_, k) => partners?.[k] ?? k);
  pictureOf.forEach((picture, k) => (captionOf[picture] = k));
  return {
    pairs: n,
    textToImage: recall(
      (k, j) => s[k * n + j],
      n,
      (k) => pictureOf[k],
    ),
    imageToText: recall(
      (k, j) => s[j * n + k],
      n,
      (k) => captionOf[k],
    ),
    chance: { r1: 1 / n, r5: Math.min(1, 5 / n) },
  };
}

/** Recall when partners are drawn at random, the mean of `times` permutations: a control that chance predicts. */
export function shuffledRetrieval(s: ArrayLike<number>, n: number, rng: Rng, times: number): Retrieval {
  const runs = Array.from({ length: times }, () => retrieval(s, n, rng.permutation(n)));
  const mean = (pick: (run: Retrieval) => Recall): Recall => ({
    r1: runs.reduce((sum, run) => sum + pick(run).r1 / times, 0),
    r5: runs.reduce((sum, run) => sum + pick(run).r5 / times, 0),
  });
  return { ...runs[0], textToImage: mean((run) => run.textToImage), imageToText: mean((run) => run.imageToText) };
}

function logSumExp(at: (j: number) => number, n: number): number {
  let peak = -Infinity;
  for (let j = 0; j < n; j++) peak = Math.max(peak, at(j));
  let total = 0;
  for (let j = 0; j < n; j++) total += Math.exp(at(j) - peak);
  return peak + Math.log(total);
}

/** [LSE_j S_kj − S_kk] + [LSE_j S_jk − S_kk] for every pair k, in float64. */
export function pairLosses(s: ArrayLike<number>, n: number): Float64Array {
  return Float64Array.from({ length: n }, (_, k) => {
    const rows = logSumExp((j) => s[k * n + j], n);
    return rows + logSumExp((j) => s[j * n + k], n) - 2 * s[k * n + k];
  });
}

/** The caption most similar to picture k, its own left out. */
export function nearestOther(s: ArrayLike<number>, n: number, k: number): number {
  let best = k === 0 ? 1 : 0;
  for (let j = 0; j < n; j++) if (j !== k && s[j * n + k] > s[best * n + k]) best = j;
  return best;
}
