// Which pairs are left out together: growing shares from either end of a score, and at random.

import { pairsIn } from '../../ecif/metrics/input.ts';
import { orderBy } from '../../ecif/metrics/ranks.ts';
import { streamOf } from '../../models/clip/train-streams.ts';
import type { LeftOutGroup } from '../../report/records.ts';
import { UsageError } from '../args.ts';
import type { CurvesSettings } from './options.ts';
import { splitIds } from '../runs/pair-ids.ts';
import { nearest } from '../suggest.ts';

/** Which pairs may be left out. */
const ENDS = ['harmful', 'valuable', 'random'] as const satisfies readonly LeftOutGroup['end'][];

/** Columns of which the highest is harmful; of others it is the lowest. */
const HIGH_IS_HARMFUL: readonly string[] = ['suspicion', 'probability'];

/** Shares and columns at most. */
const MOST = 100;

/** What is asked of the groups, as lists. */
export interface AskedGroups {
  /** Ascending, each once. */
  readonly shares: readonly number[];
  readonly ends: readonly LeftOutGroup['end'][];
  readonly by: readonly string[];
}

/** Pairs to leave out. */
export interface Group extends Pick<LeftOutGroup, 'name' | 'end' | 'by' | 'share'> {
  /** Name of the curve that it is on. */
  readonly curve: string;
  /** Ascending. */
  readonly rows: readonly number[];
}

/** The words of a list, each once. */
function wordsOf(option: string, text: string): string[] {
  const words = [...new Set(splitIds(text))];
  if (words.length > 0 && words.length <= MOST) return words;
  throw new UsageError(`--${option}: ${words.length} in ${JSON.stringify(text)}; give 1 to ${MOST}, commas between`);
}

function shareOf(word: string): number {
  const share = Number(word);
  if (share > 0 && share < 1) return share;
  throw new UsageError(`--shares: found ${JSON.stringify(word)}; give numbers above 0 and below 1`);
}

function endOf(word: string): LeftOutGroup['end'] {
  const end = ENDS.find((one) => one === word);
  if (end !== undefined) return end;
  const guess = nearest(word, ENDS);
  const fix = guess === null ? `give some of ${ENDS.join(', ')}` : `did you mean ${guess}?`;
  throw new UsageError(`--ends: found ${JSON.stringify(word)}; ${fix}`);
}

/**
 * Reads the lists, before anything else is.
 * @throws UsageError
 */
export const askedGroups = ({ shares, ends, by }: CurvesSettings): AskedGroups => ({
  shares: [...new Set(wordsOf('shares', shares).map(shareOf))].sort((a, b) => a - b),
  ends: wordsOf('ends', ends).map(endOf),
  by: wordsOf('by', by),
});

/** An order of all pairs, the first ones to be left out. */
interface Order extends Pick<Group, 'curve' | 'end' | 'by'> {
  /** What tells it from others of its curve. */
  readonly which: string;
  readonly order: Uint32Array;
}

/** Orders of one end. */
function ordersOf(
  end: LeftOutGroup['end'],
  { by }: AskedGroups,
  { seed, draws }: Pick<CurvesSettings, 'seed' | 'draws'>,
  columns: ReadonlyMap<string, Float64Array>,
  count: number,
): Order[] {
  if (end === 'random') {
    return Array.from({ length: draws }, (_, draw) => ({
      ...{ curve: end, end, by: null, which: draws === 1 ? '' : `, draw ${draw + 1}` },
      order: streamOf(seed, 'curves', draw).permutation(count),
    }));
  }
  return by.map((column) => {
    const low = (end === 'harmful') !== HIGH_IS_HARMFUL.includes(column);
    return {
      ...{ curve: column === 'score' ? end : `${end} by ${column}`, end, by: column, which: '' },
      order: orderBy(columns.get(column) as Float64Array, low ? 'lowest' : 'highest'),
    };
  });
}

/**
 * The groups to leave out: of every end, by every column or draw, of every share; smaller shares are part of larger ones.
 * @param columns values of the pairs by the names of the columns
 * @param count how many pairs there are
 * @throws UsageError for a share of no pair, and for two of one number of pairs
 */
export function groupsOf(
  asked: AskedGroups,
  settings: Pick<CurvesSettings, 'seed' | 'draws'>,
  columns: ReadonlyMap<string, Float64Array>,
  count: number,
): Group[] {
  const sizes = asked.shares.map((share) => pairsIn({ share }, count));
  sizes.forEach((pairs, i) => {
    const share = asked.shares[i];
    if (pairs === 0) throw new UsageError(`--shares: ${share} of ${count} pairs is none; give a larger share`);
    if (pairs !== sizes[i - 1]) return;
    throw new UsageError(`--shares: ${asked.shares[i - 1]} and ${share} of ${count} pairs are both ${pairs}; give one`);
  });
  const orders = asked.ends.flatMap((end) => ordersOf(end, asked, settings, columns, count));
  return orders.flatMap(({ curve, end, by, which, order }) =>
    asked.shares.map((share, i) => {
      const name = `${curve} ${Number((100 * share).toPrecision(6))}%${which}`;
      return { name, curve, end, by, share, rows: [...order.subarray(0, sizes[i])].sort((a, b) => a - b) };
    }),
  );
}
