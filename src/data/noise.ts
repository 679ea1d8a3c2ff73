// Captions that are wrong on purpose: a share of the pairs trade theirs.

import { EcifError } from '../array/errors.ts';
import type { Rng } from '../array/rng.ts';
import { classOf, type DatasetRow, shown } from './dataset.ts';
import { placesBy, shuffled } from './select.ts';

/** Who trades with whom: pairs of different classes, or of one class with different captions. */
export const NOISE_KINDS = ['across', 'within'] as const;
export type NoiseKind = (typeof NOISE_KINDS)[number];

/** Pairs that may trade among themselves; those with equal keys may not give to each other. */
interface Ring {
  readonly rows: readonly number[];
  readonly keys: readonly string[];
  /** Pairs of each key. */
  readonly counts: readonly number[];
}

const ringOf = (rows: readonly number[], keyOf: (row: number) => string): Ring => {
  const keys = rows.map(keyOf);
  return { rows, keys, counts: Array.from(placesBy(keys).values(), ({ length }) => length) };
};

/** Whether so many pairs of a ring can trade: no key may have more than half of them. */
const canTrade = ({ counts }: Ring, many: number): boolean =>
  many === 0 || (many > 1 && counts.reduce((sum, n) => sum + Math.min(n, many >> 1), 0) >= many);

/** The most pairs of a ring that can trade. */
const mostOf = ({ rows, counts }: Ring): number => Math.min(rows.length, 2 * (rows.length - Math.max(...counts)));

/** Changes the numbers of trading pairs until they add up and every ring can trade its own; false where that fails. */
function settle(rings: readonly Ring[], sizes: number[], many: number): boolean {
  const move = (by: number): boolean => {
    const at = rings.findIndex((ring, i) => sizes[i] + by >= 0 && canTrade(ring, sizes[i] + by));
    if (at >= 0) sizes[at] += by;
    return at >= 0;
  };
  rings.forEach((ring, i) => {
    while (!canTrade(ring, sizes[i])) sizes[i]--;
  });
  const missing = (): number => many - sizes.reduce((a, b) => a + b, 0);
  for (let tries = 0; tries < 4 * rings.length + 4 && missing() !== 0; tries++) {
    const moves = missing() === -1 ? [-1] : missing() < 0 ? [-2, -1] : missing() % 2 === 0 ? [2, 1] : [1, 3, -1];
    if (!moves.some(move)) return false;
  }
  return missing() === 0;
}

/** How many pairs of each ring trade: drawn, about in proportion; null where no numbers add up. */
function drawSizes(rng: Rng, rings: readonly Ring[], many: number): number[] | null {
  const most = rings.map(mostOf);
  const seats = rings.flatMap(({ rows }, i) => rows.map(() => i));
  const sizes = rings.map(() => 0);
  let left = many;
  for (const seat of rng.permutation(seats.length)) {
    const ring = seats[seat];
    if (left === 0 || sizes[ring] === most[ring]) continue;
    sizes[ring]++;
    left--;
  }
  return settle(rings, sizes, many) ? sizes : null;
}

/** Writes who gives to whom in a ring: drawn pairs, key beside key, and each takes from so many places further on. */
function trade(rng: Rng, { rows, keys }: Ring, many: number, donors: Uint32Array): void {
  if (many === 0) return;
  const chosen = new Map<string, number[]>();
  let left = many;
  for (const i of rng.permutation(rows.length)) {
    const members = chosen.get(keys[i]) ?? [];
    if (left === 0 || members.length === many >> 1) continue;
    chosen.set(keys[i], [...members, rows[i]]);
    left--;
  }
  const line = [...chosen.values()].flat();
  const widest = Math.max(...Array.from(chosen.values(), ({ length }) => length));
  const shift = widest + rng.int(many - 2 * widest + 1);
  line.forEach((row, i) => (donors[row] = line[(i + shift) % many]));
}

function ringsOf(rows: readonly DatasetRow[], kind: NoiseKind): Ring[] {
  if (kind === 'across') return [ringOf([...rows.keys()], (row) => classOf(rows[row]))];
  const bare = rows.find(({ label }) => label === null);
  if (bare !== undefined) throw new EcifError(`noise: pair ${shown(bare.id)} has no label; add one, or trade across`);
  return Array.from(placesBy(rows.map(classOf)).values(), (members) => ringOf(members, (row) => rows[row].caption));
}

/**
 * Draws who takes whose caption: a permutation that moves exactly the share of the pairs.
 * @returns for each row the one it takes from, itself where nothing changes
 * @throws EcifError where so many cannot trade
 * @example drawTrades(createRng(0), rows, 0.2, 'across');
 */
export function drawTrades(rng: Rng, rows: readonly DatasetRow[], share: number, kind: NoiseKind): Uint32Array {
  const donors = Uint32Array.from(rows.keys());
  const many = Math.round(share * rows.length);
  const rings = shuffled(rng, ringsOf(rows, kind));
  const most = rings.reduce((sum, ring) => sum + mostOf(ring), 0);
  const found = `${many} of ${rows.length} pairs cannot trade captions ${kind} classes`;
  if (many > most) throw new EcifError(`noise: ${found}, at most ${most} can; give a smaller share`);
  const sizes = drawSizes(rng, rings, many);
  if (sizes === null || (many === 0 && share > 0))
    throw new EcifError(`noise: ${found}; give a share of two pairs or more, an even number`);
  rings.forEach((ring, i) => trade(rng, ring, sizes[i], donors));
  return donors;
}

/** The rows after a trade: another's caption comes with its class. */
export const traded = (rows: readonly DatasetRow[], donors: ArrayLike<number>): DatasetRow[] =>
  rows.map((row, i) => ({ ...row, caption: rows[donors[i]].caption, label: rows[donors[i]].label }));
