// How well scores find the bad pairs: AUROC, average precision, and what inspecting the first few finds.
// Pairs with equal scores are never put in an arbitrary order: every metric is its mean over all orders of the tied.

import { EcifError } from '../../array/errors.ts';
import { type Amount, type End, type Numbers, pairsIn, requireSameLength } from './input.ts';
import { midranks, orderBy, tiesIn } from './ranks.ts';

/** Which pairs are bad (misaligned, mislabelled): true or 1, else false or 0. */
export type Labels = ArrayLike<boolean | number>;

/** Pairs with one score, and what stands before them. */
interface Block {
  readonly score: number;
  readonly size: number;
  readonly bad: number;
  readonly sizeBefore: number;
  readonly badBefore: number;
}

function isBad(labels: Labels, i: number): boolean {
  const label = Number(labels[i]);
  if (label !== 0 && label !== 1)
    throw new EcifError(`labels: entry ${i} is ${labels[i]}; give true or 1 for a bad pair, false or 0 for another`);
  return label === 1;
}

const countBad = (labels: Labels): number => Array.from(labels, (_, i) => isBad(labels, i)).filter(Boolean).length;

/** The pairs in blocks of equal scores, the most suspicious first. */
function blocksOf(scores: Numbers, bad: Labels, suspicious: End): Block[] {
  requireSameLength('scores and labels', scores, bad);
  const order = orderBy(scores, suspicious);
  let badBefore = 0;
  return Array.from(tiesIn(scores, order), ([start, end]) => {
    const found = order.subarray(start, end).reduce((t, i) => t + Number(isBad(bad, i)), 0);
    const block = { score: scores[order[start]], size: end - start, bad: found, sizeBefore: start, badBefore };
    badBefore += found;
    return block;
  });
}

/**
 * AUROC: the chance that a random bad pair is more suspicious than a random other one, a tie counting half.
 * (R − b(b + 1)/2) / (b·g) with R the sum of midranks of the b bad pairs among them and the g others (Mann–Whitney).
 * 1/2 for constant or random scores; NaN without a bad pair or without another.
 * @param suspicious the end of the scores where bad pairs are expected
 * @example auroc(scores, mislabelled, 'lowest');
 */
export function auroc(scores: Numbers, bad: Labels, suspicious: End): number {
  requireSameLength('scores and labels', scores, bad);
  const count = countBad(bad);
  const ranks = midranks(scores);
  const sum = ranks.reduce((t, rank, i) => (isBad(bad, i) ? t + rank : t), 0);
  const below = (sum - (count * (count + 1)) / 2) / (count * (scores.length - count));
  return suspicious === 'highest' ? below : 1 - below;
}

/** Mean over the orders of a block of Σ precision at its bad pairs. */
function precisionsIn({ size, bad, sizeBefore, badBefore }: Block): number {
  if (bad === 0) return 0;
  let sum = 0;
  for (let i = 1; i <= size; i++) {
    // Given that place i holds a bad pair, each of the i − 1 places before it holds one of the other bad − 1.
    const among = size === 1 ? 0 : ((i - 1) * (bad - 1)) / (size - 1);
    sum += (badBefore + 1 + among) / (sizeBefore + i);
  }
  return (bad / size) * sum;
}

/**
 * Average precision, the area under the precision-recall curve: the mean over the bad pairs of the precision at their
 * places, (1/b)·Σ_bad (bad pairs up to it)/(pairs up to it), and the mean of that over all orders of tied scores.
 * Constant scores give what random ones give on average. NaN without a bad pair.
 * @example averagePrecision(scores, mislabelled, 'lowest');
 */
export function averagePrecision(scores: Numbers, bad: Labels, suspicious: End): number {
  const sum = blocksOf(scores, bad, suspicious).reduce((t, block) => t + precisionsIn(block), 0);
  return sum / countBad(bad);
}

/**
 * What random scores give for average precision, the mean over all orders: about the share of bad pairs, and above it
 * where there are few. NaN without a bad pair.
 */
export const chancePrecision = (bad: Labels): number => averagePrecision(new Float64Array(bad.length), bad, 'lowest');

/** Bad pairs among those inspected first, with what that is of the bad and of the inspected. */
export interface Inspection {
  readonly inspected: number;
  /** Bad pairs found; a fraction where the last place falls among tied scores. */
  readonly found: number;
  /** found / all bad pairs; NaN without a bad pair. */
  readonly recall: number;
  /** found / inspected; NaN where nothing is inspected. */
  readonly precision: number;
  /** What random scores find on average: inspected/n of the bad pairs. */
  readonly chanceRecall: number;
}

/**
 * Inspects the most suspicious pairs: found(k) = Σ over score blocks of bad·(share of the block that is inspected).
 * @example inspect(scores, mislabelled, 'lowest', { share: 0.1 }).recall; // recall at 10 % inspected
 */
export function inspect(scores: Numbers, bad: Labels, suspicious: End, amount: Amount): Inspection {
  const inspected = pairsIn(amount, scores.length);
  const found = blocksOf(scores, bad, suspicious).reduce((t, block) => {
    const seen = Math.max(0, Math.min(block.size, inspected - block.sizeBefore));
    return t + (block.bad * seen) / block.size;
  }, 0);
  return {
    ...{ inspected, found },
    recall: found / countBad(bad),
    precision: found / inspected,
    chanceRecall: inspected / scores.length,
  };
}

/** A point of the curves: all pairs at least as suspicious as `threshold` are called bad. */
export interface DetectionPoint {
  readonly threshold: number;
  readonly inspected: number;
  /** Share of the bad pairs called bad. */
  readonly recall: number;
  /** Share of the others called bad. */
  readonly falsePositives: number;
  /** Share of those called bad that are. */
  readonly precision: number;
}

/**
 * The ROC curve (falsePositives, recall) and the precision-recall curve (recall, precision): a point for each distinct
 * score, the most suspicious first. The ROC curve starts at (0, 0); straight lines from there have the AUROC below them.
 */
export function detectionCurve(scores: Numbers, bad: Labels, suspicious: End): DetectionPoint[] {
  const count = countBad(bad);
  return blocksOf(scores, bad, suspicious).map((block) => {
    const [inspected, found] = [block.sizeBefore + block.size, block.badBefore + block.bad];
    return {
      ...{ threshold: block.score, inspected },
      recall: found / count,
      falsePositives: (inspected - found) / (scores.length - count),
      precision: found / inspected,
    };
  });
}
