// Which caption belongs to which picture, if some were exchanged: the probability that a pair is not its own, by a matching of all.

import { EcifError } from '../../array/errors.ts';
import { createRng } from '../../array/rng.ts';
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
  /** Caption of every pair: pairs of equal captions may exchange them. */
  readonly captions: readonly string[];
  /** Pairs that are matched with each other at most; more are drawn into groups of about equal size. */
  readonly most?: number;
  /** Of the draw. */
  readonly seed?: number;
}

const MOST = 2048;
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

/** One group of pairs that may have exchanged captions. */
interface Group {
  readonly rows: Uint32Array;
  /** exp s·(cosine − largest of the row) of picture i and caption j, at i·n + j. */
  readonly weights: Float64Array;
  /** Positions with the caption of each position. */
  readonly alike: readonly Uint32Array[];
}

/** Draws the groups. */
function groupsOf(count: number, most: number, seed: number): Uint32Array[] {
  const many = Math.ceil(count / most);
  const order = many === 1 ? Uint32Array.from({ length: count }, (_, i) => i) : createRng(seed).permutation(count);
  return Array.from({ length: many }, (_, k) =>
    Uint32Array.from(order.subarray(Math.floor((k * count) / many), Math.floor(((k + 1) * count) / many))).sort(),
  );
}

function openGroup(rows: Uint32Array, { width, u, v }: UnitRows, { scale, captions }: MatchOptions): Group {
  const n = rows.length;
  const weights = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const row = weights.subarray(i * n, (i + 1) * n);
    for (let j = 0; j < n; j++) row[j] = scale * cosineOf(width, u, rows[j], v, rows[i]);
    const top = row.reduce((a, b) => Math.max(a, b), -Infinity);
    for (let j = 0; j < n; j++) row[j] = Math.max(LEAST, Math.exp(row[j] - top));
  }
  const members = new Map<string, number[]>();
  rows.forEach((row, i) => members.set(captions[row], [...(members.get(captions[row]) ?? []), i]));
  const lists = new Map([...members].map(([caption, list]) => [caption, Uint32Array.from(list)]));
  return { rows, weights, alike: Array.from(rows, (row) => lists.get(captions[row]) as Uint32Array) };
}

/** Prior factors of a picture whose caption `same` of n positions have: of one of these, and of one of the others. */
const priors = (n: number, same: number, share: number): [number, number] =>
  same === n ? [1 / n, 0] : [(1 - share) / same, share / (n - same)];

/** Factors a of pictures and b of captions, by which rows and columns of a·weights·prior·b sum to 1. */
interface Scaling {
  readonly a: Float64Array;
  readonly b: Float64Array;
}

/** Σ_j weights·b of a row, over all positions that have another caption and over those that have the same. */
function rowSums({ weights, alike }: Group, b: Float64Array, i: number): { same: number; rest: number } {
  const n = b.length;
  let [same, rest] = [0, 0];
  const list = alike[i];
  for (let j = 0, k = 0; j < n; j++) {
    const x = weights[i * n + j] * b[j];
    if (list[k] === j) {
      same += x;
      k++;
    } else rest += x;
  }
  return { same, rest };
}

/**
 * Scales rows, then columns.
 * @returns the largest relative change of b
 */
function rescale({ weights, alike }: Group, { a, b }: Scaling, share: number): number {
  const n = a.length;
  const sums = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const [own, other] = priors(n, alike[i].length, share);
    const row = weights.subarray(i * n, (i + 1) * n);
    let [all, same] = [0, 0];
    for (let j = 0; j < n; j++) all += row[j] * b[j];
    for (const j of alike[i]) same += row[j] * b[j];
    a[i] = 1 / (other * all + (own - other) * same);
    const [factor, more] = [a[i] * other, a[i] * (own - other)];
    for (let j = 0; j < n; j++) sums[j] += factor * row[j];
    for (const j of alike[i]) sums[j] += more * row[j];
  }
  let change = 0;
  for (let j = 0; j < n; j++) {
    change = Math.max(change, Math.abs(b[j] * sums[j] - 1));
    b[j] = 1 / sums[j];
  }
  return change;
}

/** For each picture the caption that most likely belongs to it, of those that differ from its own. */
function partners({ weights, alike }: Group, { a, b }: Scaling, share: number): Matched['partners'] {
  const n = a.length;
  const [at, belief] = [Uint32Array.from({ length: n }, (_, i) => i), new Float64Array(n)];
  for (let i = 0; i < n; i++) {
    const [, other] = priors(n, alike[i].length, share);
    const mine = new Set(alike[i]);
    for (let j = 0; j < n; j++) {
      const p = a[i] * other * weights[i * n + j] * b[j];
      if (p > belief[i] && !mine.has(j)) [at[i], belief[i]] = [j, p];
    }
  }
  return { at, belief };
}

/** What is found of one group, by position. */
interface Matched {
  readonly odds: Float64Array;
  readonly mismatch: Float64Array;
  readonly share: number;
  readonly partners: { readonly at: Uint32Array; readonly belief: Float64Array };
}

/** Matches the pairs of one group; the share is estimated by expectation and maximisation. */
function matchGroup(group: Group): Matched {
  const n = group.rows.length;
  const scaling = { a: new Float64Array(n).fill(1), b: new Float64Array(n).fill(1) };
  for (let round = 0, share = FIRST; ; round++) {
    let change = 0;
    for (let k = 0; k < SCALINGS; k++) change = rescale(group, scaling, share);
    const odds = Float64Array.from(group.alike, ({ length }, i) => {
      const [own, other] = priors(n, length, share);
      const { same, rest } = rowSums(group, scaling.b, i);
      return Math.log(own * same) - Math.log(Math.max(other * rest, LEAST));
    });
    const mismatch = odds.map((x) => 1 / (1 + Math.exp(x)));
    const next = Math.min(LARGEST, Math.max(0.5 / n, mean(mismatch)));
    if ((Math.abs(next - share) < TOLERANCE && change < SCALED) || round === ROUNDS) {
      return { odds, mismatch, share, partners: partners(group, scaling, share) };
    }
    share = next;
  }
}

/**
 * Matches captions with pictures as if an unknown share of the pairs had exchanged captions. A matching of caption i with
 * picture j weighs exp(s·cos), times (1 − share) where they are a pair and share/(n − 1) where they are not; each caption
 * belongs to one picture and each picture to one caption, in expectation (Sinkhorn's scaling), so that a pair that surely
 * belongs together leaves the others to those that do not.
 * @throws EcifError where captions and embedded pairs differ in number
 * @example const { mismatch, share } = matchPairs(rows, { scale: 1 / 0.07, captions });
 */
export function matchPairs(rows: UnitRows, options: MatchOptions): Matching {
  const count = countOf(rows);
  const { captions, most = MOST, seed = 0 } = options;
  if (captions.length !== count) {
    throw new EcifError(`match: ${captions.length} captions for ${count} embedded pairs; give one for each`);
  }
  const [odds, mismatch, belief] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  const belongs = new Uint32Array(count);
  let expected = 0;
  for (const members of groupsOf(count, most, seed)) {
    const found = matchGroup(openGroup(members, rows, options));
    members.forEach((row, i) => {
      [odds[row], mismatch[row]] = [found.odds[i], found.mismatch[i]];
      [belongs[row], belief[row]] = [members[found.partners.at[i]], found.partners.belief[i]];
    });
    expected += found.share * members.length;
  }
  return { odds, mismatch, belongs, belief, share: expected / count };
}
