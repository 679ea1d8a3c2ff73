// What a similarity matrix says about its pairs: recall in both directions.

/** Fractions of queries with a partner among the first 1, 5 and 10 candidates. */
export interface Recall {
  readonly r1: number;
  readonly r5: number;
  readonly r10: number;
}

/** Recall in both directions. */
export interface Retrieval {
  /** Pictures. */
  readonly pairs: number;
  readonly textToImage: Recall;
  readonly imageToText: Recall;
  /** What guessing a picture for a caption gives. */
  readonly chance: Recall;
}

type At = (query: number, candidate: number) => number;

/** Candidates that are no partners and at least as similar as the best partner; ties count against the model. */
function rankOf(at: At, candidates: number, query: number, partners: readonly number[]): number {
  const own = partners.reduce((best, j) => Math.max(best, at(query, j)), -Infinity);
  let rank = 0;
  for (let j = 0; j < candidates; j++) if (!(at(query, j) < own) && !partners.includes(j)) rank++;
  return rank;
}

const recallOf = (share: (k: number) => number): Recall => ({ r1: share(1), r5: share(5), r10: share(10) });

function recall(at: At, candidates: number, partners: readonly (readonly number[])[]): Recall {
  const ranks = partners.map((own, query) => rankOf(at, candidates, query, own));
  return recallOf((k) => ranks.filter((rank) => rank < k).length / ranks.length);
}

/** Mean probability that k of the candidates, drawn at random, hold a partner. */
function guessing(candidates: number, partners: readonly (readonly number[])[]): Recall {
  return recallOf((k) => {
    const hits = partners.map(({ length }) => {
      let miss = 1;
      for (let i = 0; i < Math.min(k, candidates); i++) miss *= Math.max(0, candidates - length - i) / (candidates - i);
      return 1 - miss;
    });
    return hits.reduce((a, b) => a + b, 0) / hits.length;
  });
}

/**
 * Recall of captions against pictures, in both directions; a caption may have several pictures.
 * @param s similarities, row i caption i, column j picture j, (captions, pictures)
 * @param captionOf caption of each picture; every caption has one or more
 * @example captionRecall(s, 2, [0, 0, 1]); // pictures 0 and 1 show caption 0
 */
export function captionRecall(s: ArrayLike<number>, captions: number, captionOf: ArrayLike<number>): Retrieval {
  const pictures = captionOf.length;
  const picturesOf = Array.from({ length: captions }, (): number[] => []);
  for (let j = 0; j < pictures; j++) picturesOf[captionOf[j]].push(j);
  const captionsOf = Array.from(captionOf, (caption) => [caption]);
  return {
    pairs: pictures,
    textToImage: recall((i, j) => s[i * pictures + j], pictures, picturesOf),
    imageToText: recall((j, i) => s[i * pictures + j], captions, captionsOf),
    chance: guessing(pictures, picturesOf),
  };
}

/**
 * Recall of n captions against n pictures, in both directions.
 * @param s similarities, row i caption i, column j picture j, (n, n)
 * @param partners picture of caption k; k itself unless told
 */
export function retrieval(s: ArrayLike<number>, n: number, partners?: ArrayLike<number>): Retrieval {
  const captionOf = new Uint32Array(n);
  for (let k = 0; k < n; k++) captionOf[partners?.[k] ?? k] = k;
  return captionRecall(s, n, captionOf);
}
