// Numbers of pairs gathered by row, each the mean over the partitions that the pair lies in.

import { EcifError } from '../../array/errors.ts';
import { disposeTree, readAll, scope, type Tensor } from '../../autodiff/tensor.ts';
import { embedded, type Embeddings } from '../../models/model.ts';
import { batchPlaces, type StreamedPair, streamScores } from '../streamed-scores.ts';
import { sweepEach, type Swept } from '../sweep.ts';
import type { NegForm } from '../terms.ts';
import type { ScoringTask } from './method.ts';

/** Means of numbers, or of lists of them, by row. */
export class RowMeans {
  readonly #sums: Float64Array;
  readonly #times: Uint32Array;
  readonly #width: number;

  /** @param width numbers of a row */
  constructor(count: number, width = 1) {
    this.#sums = new Float64Array(count * width);
    this.#times = new Uint32Array(count);
    this.#width = width;
  }

  add(row: number, ...values: readonly number[]): void {
    this.#times[row]++;
    values.forEach((value, i) => (this.#sums[row * this.#width + i] += value));
  }

  /**
   * Row after row.
   * @throws EcifError for a row that was never met
   */
  means(): Float64Array {
    const missing = this.#times.indexOf(0);
    if (missing >= 0) {
      throw new EcifError(`scores: row ${missing} of ${this.#times.length} is in no batch; give rows 0…count−1`);
    }
    return this.#sums.map((sum, i) => sum / this.#times[Math.floor(i / this.#width)]);
  }
}

/** A number of every pair that a sweep along w tells. */
export async function meansAlong<T, B>(
  { loss, count }: ScoringTask<T, B>,
  theta: T,
  w: T,
  number: (pair: StreamedPair) => number,
  form: NegForm = 'corrected',
): Promise<Float64Array> {
  const means = new RowMeans(count);
  for await (const { pairs } of streamScores(loss, theta, { targets: [w], form }))
    for (const pair of pairs) means.add(pair.row, number(pair));
  return means.means();
}

/** Vectors over the pairs of a batch, (B) each, by name. */
export type BatchTerms<T> = (made: Embeddings & { readonly s: Tensor }, theta: T) => Record<string, Tensor>;

/** What a sweep finds in every batch of the task. */
export async function* sweepBatches<T, B>(
  { loss }: Pick<ScoringTask<T, B>, 'loss'>,
  theta: T,
  tangents: readonly T[],
  terms: BatchTerms<T>,
): AsyncGenerator<{ readonly rows: Uint32Array; readonly swept: Swept }> {
  for (const { rows } of batchPlaces(loss)) {
    const batch = await loss.batch(rows);
    const [swept] = await sweepEach([(t: T) => terms(embedded(loss.model, t, batch), t)], theta, tangents, true);
    disposeTree(batch);
    yield { rows, swept };
  }
}

/** The mean of one vector over the pairs of each batch, by row. */
export async function valuesByRow<T, B>(
  { loss, count, theta }: ScoringTask<T, B>,
  values: (made: Embeddings & { readonly s: Tensor }) => Tensor,
): Promise<Float64Array> {
  const means = new RowMeans(count);
  for (const { rows } of batchPlaces(loss)) {
    const batch = await loss.batch(rows);
    const made = scope(() => values(embedded(loss.model, theta, batch)));
    const [numbers] = await readAll([made]);
    disposeTree([batch, made]);
    rows.forEach((row, i) => means.add(row, numbers[i]));
  }
  return means.means();
}
