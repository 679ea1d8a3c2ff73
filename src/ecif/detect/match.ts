// Which caption belongs to which picture, if some were exchanged: the probability that a pair is not its own, by a matching of all.

import { EcifError } from '../../array/errors.ts';
import { cosineOf, type UnitRows } from '../baselines/embeddings.ts';
import { countOf } from './fit.ts';
import { mean } from './mixture.ts';

/** What a matching says of every pair. */
export interface Matching {
  /** log(probability of belonging together over that of not); high for a pair that fits. */
  readonly odds: Float64Array;
  /** Probability that picture and caption do not belong together. */
  readonly mismatch: Float64Array;
  /** The pair, of another caption, whose caption most likely belongs to this picture; the pair itself where there is none. */
  readonly belongs: Uint32Array;
  /** Probability of that. */
  readonly belief: Float64Array;
  /** Estimated share of pairs that do not belong together. */
  readonly share: number;
}

/** How pairs are matched. */
export interface MatchOptions {
  /** Factor of the cosines, 1/τ. */
  readonly scale: number;
  /** Caption of every pair: pairs of equal captions, which have equal embeddings, may exchange them. */
  readonly captions: readonly string[];
  /** Captions that each picture is matched with one by one, its own and the likeliest; the others together. */
  readonly likeliest?: number;
}

const LIKELIEST = 512;
const ROUNDS = 100;
/** Scalings of rows and columns between two estimates of the share. */
const SCALINGS = 3;
/** Change of the share at which it is settled. */
const TOLERANCE = 1e-5;
/** Change of a factor at which the scaling is. */
const SCALED = 1e-3;
/** Share of mismatches that is assumed first, and the most that is estimated. */
const [FIRST, LARGEST] = [0.2, 0.9];
/** Least weight, so that nothing is impossible: 1/τ times a difference of cosines may be hundreds. */
const LEAST = 1e-250;

/** Different captions. */
interface Captions {
  /** A pair that has each, the first. */
  readonly first: Uint32Array;
  /** How many have it. */
  readonly count: Float64Array;
  /** Which of them each pair has. */
  readonly of: Uint32Array;
}

/** Pictures with the captions that each is matched with, picture i at `from[i]`…`from[i + 1]`, its own caption first. */
interface Candidates {
  readonly captions: Captions;
  readonly from: Uint32Array;
  readonly caption: Uint32Array;
  /** exp s·(cosine − largest of the picture). */
  readonly weight: Float64Array;
  /** Σ of the weights of all pairs whose captions are not among these. */
  readonly rest: Float64Array;
}

function differing(captions: readonly string[]): Captions {
  const places = new Map<string, number>();
  const of = Uint32Array.from(captions, (caption) => {
    if (!places.has(caption)) places.set(caption, places.size);
    return places.get(caption) as number;
  });
  const [first, count] = [new Uint32Array(places.size), new Float64Array(places.size)];
  for (let i = of.length - 1; i >= 0; i--) {
    first[of[i]] = i;
    count[of[i]]++;
  }
  return { first, count, of };
}

/** The places of the largest values, `own` left out. */
function largest(values: Float64Array, many: number, own: number): number[] {
  const others = Array.from(values.keys()).filter((c) => c !== own);
  return others.length <= many ? others : others.sort((a, b) => values[b] - values[a] || a - b).slice(0, many);
}

function candidatesOf({ width, u, v }: UnitRows, { scale, captions: texts, likeliest = LIKELIEST }: MatchOptions) {
  const captions = differing(texts);
  const { first, count, of } = captions;
  const [n, each] = [of.length, Math.min(first.length, likeliest)];
  const from = Uint32Array.from({ length: n + 1 }, (_, i) => i * each);
  const [caption, weight, rest] = [new Uint32Array(n * each), new Float64Array(n * each), new Float64Array(n)];
  for (let i = 0; i < n; i++) {
    const row = Float64Array.from(first, (pair) => scale * cosineOf(width, u, pair, v, i));
    const top = row.reduce((x, y) => Math.max(x, y), -Infinity);
    for (let c = 0; c < row.length; c++) row[c] = Math.max(LEAST, Math.exp(row[c] - top));
    [of[i], ...largest(row, each - 1, of[i])].forEach((c, k) => {
      [caption[from[i] + k], weight[from[i] + k]] = [c, row[c]];
      rest[i] -= count[c] * row[c];
    });
    rest[i] = each === row.length ? 0 : Math.max(0, rest[i] + row.reduce((sum, w, c) => sum + count[c] * w, 0));
  }
  return { captions, from, caption, weight, rest } satisfies Candidates;
}

/** Prior of a picture's own caption, and of each pair with another one, where `same` of n pairs have the own. */
const priors = (n: number, same: number, share: number): [number, number] =>
  same === n ? [1, 0] : [1 - share, share / (n - same)];

/** Factors a of pictures and b of captions, by which a·prior·weight·b sums to 1 for a picture and to its count for a caption. */
interface Scaling {
  readonly a: Float64Array;
  readonly b: Float64Array;
}

/** What a picture has for its own caption, and for all others. */
function sumsOf(found: Candidates, b: Float64Array, usual: number, share: number, i: number): [number, number] {
  const { captions, from, caption, weight, rest } = found;
  const [own, other] = priors(captions.of.length, captions.count[captions.of[i]], share);
  let others = rest[i] * usual;
  for (let k = from[i] + 1; k < from[i + 1]; k++) others += captions.count[caption[k]] * weight[k] * b[caption[k]];
  return [own * weight[from[i]] * b[captions.of[i]], other * others];
}

/** Mean factor of a caption over all pairs, which stands for that of captions that are not matched one by one. */
const usualOf = ({ captions: { count, of } }: Candidates, b: Float64Array): number =>
  b.reduce((sum, x, c) => sum + count[c] * x, 0) / of.length;

/**
 * Scales rows, then columns.
 * @returns the largest relative change of b
 */
function rescale(found: Candidates, { a, b }: Scaling, share: number): number {
  const { captions, from, caption, weight, rest } = found;
  const { count, of } = captions;
  const sums = new Float64Array(b.length);
  const usual = usualOf(found, b);
  let spread = 0;
  for (let i = 0; i < a.length; i++) {
    const [mine, others] = sumsOf(found, b, usual, share, i);
    a[i] = 1 / (mine + others);
    const [own, other] = priors(of.length, count[of[i]], share);
    sums[of[i]] += a[i] * own * weight[from[i]];
    for (let k = from[i] + 1; k < from[i + 1]; k++) sums[caption[k]] += a[i] * other * count[caption[k]] * weight[k];
    spread += (a[i] * other * rest[i]) / of.length;
  }
  let change = 0;
  for (let c = 0; c < b.length; c++) {
    const sum = sums[c] / count[c] + spread;
    change = Math.max(change, Math.abs(b[c] * sum - 1));
    b[c] = 1 / sum;
  }
  return change;
}

/** For each picture the pair whose caption, another than its own, most likely belongs to it. */
function partners(found: Candidates, { a, b }: Scaling, share: number): Pick<Matching, 'belongs' | 'belief'> {
  const { captions, from, caption, weight } = found;
  const [belongs, belief] = [Uint32Array.from(a.keys()), new Float64Array(a.length)];
  for (let i = 0; i < a.length; i++) {
    const [, other] = priors(a.length, captions.count[captions.of[i]], share);
    for (let k = from[i] + 1; k < from[i + 1]; k++) {
      const c = caption[k];
      const p = a[i] * other * captions.count[c] * weight[k] * b[c];
      if (p > belief[i]) [belongs[i], belief[i]] = [captions.first[c], p];
    }
  }
  return { belongs, belief };
}

/**
 * Matches captions with pictures as if an unknown share of the pairs had exchanged captions. A matching of caption i with
 * picture j weighs exp(s·cos), times (1 − share) where they are a pair and share/(n − 1) where they are not; each caption
 * belongs to one picture and each picture to one caption, in expectation (Sinkhorn's scaling), so that a pair that surely
 * belongs together leaves the others to those that do not. The share is estimated by expectation and maximisation.
 * @throws EcifError where captions and embedded pairs differ in number
 * @example const { mismatch, share } = matchPairs(rows, { scale: 1 / 0.07, captions });
 */
export function matchPairs(rows: UnitRows, options: MatchOptions): Matching {
  const n = countOf(rows);
  if (options.captions.length !== n) {
    throw new EcifError(`match: ${options.captions.length} captions for ${n} embedded pairs; give one for each`);
  }
  const found = candidatesOf(rows, options);
  const scaling = { a: new Float64Array(n).fill(1), b: new Float64Array(found.captions.first.length).fill(1) };
  for (let round = 0, share = FIRST; ; round++) {
    let change = 0;
    for (let k = 0; k < SCALINGS; k++) change = rescale(found, scaling, share);
    const usual = usualOf(found, scaling.b);
    const odds = Float64Array.from({ length: n }, (_, i) => {
      const [mine, others] = sumsOf(found, scaling.b, usual, share, i);
      return Math.log(mine) - Math.log(Math.max(others, LEAST));
    });
    const mismatch = odds.map((x) => 1 / (1 + Math.exp(x)));
    const next = Math.min(LARGEST, Math.max(0.5 / n, mean(mismatch)));
    if ((Math.abs(next - share) < TOLERANCE && change < SCALED) || round === ROUNDS) {
      return { odds, mismatch, share, ...partners(found, scaling, share) };
    }
    share = next;
  }
}
