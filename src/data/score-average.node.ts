// Scores of pairs over several partitions into batches: their means, and how far the sign of each is settled.

import { studentFactor } from '../array/student.ts';
import { type Occurrence, occurrenceOf, type ScoreRow, scoreCells } from './score-columns.ts';
import { openRowStore, type RowStore } from './row-store.node.ts';
import type { Row } from './score-table.ts';

/** What averaging needs to know of a run. */
export interface Average {
  readonly pairs: number;
  /** Names of the targets, in the order of a pair's rows. */
  readonly targets: readonly string[];
}

/** One set of probes serves all partitions, so that its errors do not average out and their mean is the error of a mean. */
const PROBED = ['self_error', 'relative_error'] as const;
const AVERAGED = ['score', 'positive', 'negative', 't2i', 'i2t', 'relative', 'self', 'clipscore', ...PROBED] as const;
/** Numbers of an accumulator: how often the pair was met, the means, and Σ (score − mean)². */
const WIDTH = AVERAGED.length + 2;
const MEMORY = 2 ** 28;
const CHUNK = 4096;

/** Probability with which the sign of a score that counts as settled is right, by Student's t. */
const SETTLED = 0.95;

/** What is said of a score whose sign another partition may change. */
export const UNSETTLED = 'sign unsettled';

/** Adds an occurrence to an accumulator, by Welford's recurrence; a number that is missing once stays missing. */
function accumulate(sums: Float64Array, one: Occurrence): void {
  const count = ++sums[0];
  AVERAGED.forEach((name, i) => {
    const [x, before] = [one[name] ?? NaN, sums[1 + i]];
    sums[1 + i] = before + (x - before) / count;
    if (name === 'score') sums[WIDTH - 1] += (x - before) * (x - sums[1 + i]);
  });
}

/**
 * A pair's row from its accumulator.
 * @param factor standard errors within which the sign is not settled, by the number of partitions
 */
function averagedRow(one: Occurrence, sums: Float64Array, factor: (count: number) => number): ScoreRow {
  const [count] = sums;
  const means = Object.fromEntries(AVERAGED.map((name, i) => [name, sums[1 + i]])) as unknown as ScoreRow;
  const error = count > 1 ? Math.sqrt(sums[WIDTH - 1] / (count - 1) / count) : null;
  const unsettled = error !== null && Math.abs(means.score ?? 0) < factor(count) * error;
  const flags = [...(one.flag === null ? [] : [one.flag]), ...(unsettled ? [UNSETTLED] : [])];
  return { ...one, ...means, error, flag: flags.length === 0 ? null : flags.join('; ') };
}

function zeroed(rows: number, file: string): RowStore {
  const store = openRowStore({ rows, width: WIDTH, precision: 'float64', memory: MEMORY, file });
  for (let first = 0; first < rows; first += CHUNK)
    store.put(first, new Float64Array(Math.min(CHUNK, rows - first) * WIDTH));
  return store;
}

/**
 * One row for each pair and target: means over its occurrences, in the order of the first partition, whose batch and
 * position it has.
 * @param read gives all occurrences, anew at every call
 * @param file for accumulators that do not fit in memory; removed in the end
 */
export async function* averaged(
  read: () => AsyncIterable<Row>,
  { pairs, targets }: Average,
  file: string,
): AsyncGenerator<Row> {
  const columns = new Map(targets.map((name, i) => [name, i]));
  const place = ({ row, target }: Occurrence): number => row * targets.length + (columns.get(target) as number);
  const factors = new Map<number, number>();
  const factor = (count: number): number => {
    const found = factors.get(count) ?? studentFactor(SETTLED, count - 1);
    factors.set(count, found);
    return found;
  };
  const store = zeroed(pairs * targets.length, file);
  try {
    for await (const cells of read()) {
      const one = occurrenceOf(cells);
      const sums = store.get([place(one)]) as Float64Array;
      accumulate(sums, one);
      store.put(place(one), sums);
    }
    for await (const cells of read()) {
      const one = occurrenceOf(cells);
      if (one.partition === 0) yield scoreCells(averagedRow(one, store.get([place(one)]) as Float64Array, factor));
    }
  } finally {
    store.close();
  }
}
