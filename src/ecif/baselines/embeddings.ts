// Unit embeddings of all pairs on the host, for methods that look at nothing else.

import { affine } from '../../autodiff/ops/unary.ts';
import { l2Normalize } from '../../autodiff/ops/normalize.ts';
import { disposeTree, readAll, scope } from '../../autodiff/tensor.ts';
import type { ScoringTask } from './method.ts';

/** Embeddings of length one, row after row; `u` of the texts, `v` of the images. */
export interface UnitRows {
  readonly width: number;
  readonly u: Float64Array;
  readonly v: Float64Array;
}

/** What embeds pairs. */
type Embedding<T, B> = Pick<ScoringTask<T, B>, 'loss' | 'theta'>;

/** Embeds one batch. */
async function unitRows<T, B>({ loss, theta }: Embedding<T, B>, batch: B): Promise<UnitRows> {
  const made = scope(() => {
    const { u, v } = loss.model.embed(theta, batch);
    return [u, v].map((x) => affine(l2Normalize(x), 1, 0));
  });
  const [u, v] = await readAll(made);
  const width = made[0].shape[1];
  disposeTree(made);
  return { width, u: Float64Array.from(u), v: Float64Array.from(v) };
}

/** Embeds the evaluation pairs. */
export const embedEvaluation = <T, B>(task: ScoringTask<T, B>): Promise<UnitRows> => unitRows(task, task.evaluation);

/** Embeds every row; which batch it lies in does not matter. */
export async function embedRows<T, B>(task: Embedding<T, B> & Pick<ScoringTask<T, B>, 'count'>): Promise<UnitRows> {
  let [width, u, v] = [0, new Float64Array(), new Float64Array()];
  for (const rows of task.loss.partitions[0]) {
    const batch = await task.loss.batch(rows);
    const part = await unitRows(task, batch);
    disposeTree(batch);
    if (width === 0) {
      ({ width } = part);
      [u, v] = [new Float64Array(task.count * width), new Float64Array(task.count * width)];
    }
    rows.forEach((row, i) => {
      u.set(part.u.subarray(i * width, (i + 1) * width), row * width);
      v.set(part.v.subarray(i * width, (i + 1) * width), row * width);
    });
  }
  return { width, u, v };
}

/** ⟨a_i, b_j⟩ of rows. */
export function cosineOf(width: number, a: Float64Array, i: number, b: Float64Array, j: number): number {
  let sum = 0;
  for (let k = 0; k < width; k++) sum += a[i * width + k] * b[j * width + k];
  return sum;
}
