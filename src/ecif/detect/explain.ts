// Why a pair is suspected: what competes with it, and what its loss would be with another caption or another picture.

import { cosineOf, type UnitRows } from '../baselines/embeddings.ts';
import { lossAmong } from './fit.ts';

/** A row that competes with one half of a pair. */
export interface Rival {
  readonly row: number;
  /** The half it competes for: pictures compete for a caption, captions for a picture. */
  readonly side: 'caption' | 'picture';
  readonly cosine: number;
  /** Its share of the softmax of that half, in which the pair and all candidates take part. */
  readonly share: number;
}

/** The pair with one half replaced. */
export interface Replacement {
  readonly row: number;
  readonly loss: number;
}

/** What is known of why a pair is suspected. */
export interface Explanation {
  readonly loss: number;
  /** The strongest of both sides, strongest first. */
  readonly rivals: readonly Rival[];
  /** Best other caption for its picture, and best other picture for its caption; null without a candidate. */
  readonly otherCaption: Replacement | null;
  readonly otherPicture: Replacement | null;
  /**
   * The half whose replacement helps clearly more than that of the other; `both` where either helps about as much, as in
   * a swap, where each half belongs to another pair; `neither` where none does.
   */
  readonly wrong: 'caption' | 'picture' | 'both' | 'neither';
}

/** A replacement helps if it takes this much off the loss: odds of 2 : 1 in both directions. */
const HELPS = 2 * Math.log(2);
/** One half is to blame if its replacement takes this many times as much off as that of the other. */
const CLEARLY = 1.5;

/** Which half a pair's loss puts the blame on. */
export function blame(loss: number, withCaption: number, withPicture: number): Explanation['wrong'] {
  const [caption, picture] = [loss - withCaption, loss - withPicture];
  if (Math.max(caption, picture) < HELPS) return 'neither';
  if (caption >= CLEARLY * picture) return 'caption';
  return picture >= CLEARLY * caption ? 'picture' : 'both';
}

/** The rivals of one half. */
function rivalsOf(
  { width, u, v }: UnitRows,
  scale: number,
  candidates: Uint32Array,
  pair: number,
  side: Rival['side'],
): Rival[] {
  const cosine = (j: number): number =>
    side === 'caption' ? cosineOf(width, u, pair, v, j) : cosineOf(width, u, j, v, pair);
  const cosines = Float64Array.from(candidates, cosine);
  const own = cosine(pair);
  const top = cosines.reduce((a, b) => Math.max(a, b), own);
  const weight = (c: number): number => Math.exp(scale * (c - top));
  const total = cosines.reduce((sum, c, i) => sum + (candidates[i] === pair ? 0 : weight(c)), weight(own));
  return Array.from(candidates, (row, i) => ({ row, side, cosine: cosines[i], share: weight(cosines[i]) / total }))
    .filter(({ row }) => row !== pair)
    .toSorted((a, b) => b.share - a.share || a.row - b.row);
}

/** The candidate that fits best in place of one half. */
function replacement(
  rows: UnitRows,
  scale: number,
  candidates: Uint32Array,
  pair: number,
  best: Rival | undefined,
): Replacement | null {
  if (best === undefined) return null;
  const { row, side } = best;
  // A picture that competes for the caption is the one to put in its picture's place, and the other way round.
  const made = side === 'caption' ? { caption: pair, picture: row } : { caption: row, picture: pair };
  // What it is taken from still competes, so that a half that belongs to another pair does not seem free.
  return { row, loss: lossAmong(rows, scale, candidates, { ...made, own: pair }) };
}

/**
 * Explains one pair.
 * @param trusted rows that replacements come from; those of `candidates` that are not suspected themselves
 * @param most rivals to list
 */
export function explainPair(
  rows: UnitRows,
  scale: number,
  candidates: Uint32Array,
  pair: number,
  { trusted, most = 3 }: { readonly trusted: ReadonlySet<number>; readonly most?: number },
): Explanation {
  const loss = lossAmong(rows, scale, candidates, { caption: pair, picture: pair, own: pair });
  const [forCaption, forPicture] = (['caption', 'picture'] as const).map((side) =>
    rivalsOf(rows, scale, candidates, pair, side),
  );
  const best = (rivals: readonly Rival[]): Rival | undefined => rivals.find(({ row }) => trusted.has(row));
  const otherPicture = replacement(rows, scale, candidates, pair, best(forCaption));
  const otherCaption = replacement(rows, scale, candidates, pair, best(forPicture));
  return {
    ...{ loss, otherCaption, otherPicture },
    rivals: [...forCaption.slice(0, most), ...forPicture.slice(0, most)].toSorted((a, b) => b.share - a.share),
    wrong: blame(loss, otherCaption?.loss ?? Infinity, otherPicture?.loss ?? Infinity),
  };
}
