// Batches of equal size laid together: they go through the towers as one, and are apart again in the similarities.

import { treeLeaves } from '../array/tree.ts';
import { reshape } from '../autodiff/ops/layout.ts';
import { disposeTree, Tensor } from '../autodiff/tensor.ts';
import type { Model } from './model.ts';
import type { StreamedLoss } from './streamed.ts';

/** Several batches, one after the other. */
export interface Stack<B> {
  readonly pairs: B;
  /** Number of batches. */
  readonly count: number;
}

/** The model over stacks: u and v (G, B, d), and with them S (G, B, B). */
export function stackedModel<T, B>(model: Model<T, B>): Model<T, Stack<B>> {
  return {
    scale: (theta) => model.scale(theta),
    embed: (theta, { pairs, count }, tap) => {
      const apart = (x: Tensor): Tensor => reshape(x, [count, x.shape[0] / count, x.shape[1]]);
      const { u, v } = model.embed(theta, pairs, tap);
      return { u: apart(u), v: apart(v) };
    },
  };
}

/** Bytes of inputs that are laid together at most; a batch that has more stays alone. */
const STACKED_BYTES = 2 ** 21;

/** Pairs that may be laid together, from one batch of them. */
export async function pairsTogether<T, B>(
  { batch }: Pick<StreamedLoss<T, B>, 'batch'>,
  rows: Uint32Array,
): Promise<number> {
  const made = await batch(rows);
  const numbers = treeLeaves<unknown>(made).reduce<number>((n, x) => n + (x instanceof Tensor ? x.size : 0), 0);
  disposeTree(made);
  return Math.floor((STACKED_BYTES * rows.length) / (4 * Math.max(1, numbers)));
}

/** Neighbours of equal size together, of at most so many pairs. */
export function stacksOf<P extends { readonly rows: Uint32Array }>(batches: readonly P[], most: number): P[][] {
  const stacks: P[][] = [];
  for (const batch of batches) {
    const last = stacks.at(-1);
    const size = batch.rows.length;
    if (last !== undefined && last[0].rows.length === size && (last.length + 1) * size <= most) last.push(batch);
    else stacks.push([batch]);
  }
  return stacks;
}

/** The rows of all batches of a stack. */
export const rowsOfStack = (stack: readonly { readonly rows: Uint32Array }[]): Uint32Array =>
  Uint32Array.from(stack.flatMap(({ rows }) => [...rows]));

/**
 * The same objective over stacks, whose batches may have come in another order: larger and fewer kernels where batches
 * are small.
 * @example const h = await curvatureAt(await stacked(loss), theta, 'hessian', memory);
 */
export async function stacked<T, B>(loss: StreamedLoss<T, B>): Promise<StreamedLoss<T, Stack<B>>> {
  const first = loss.partitions.flat().at(0);
  const most = first === undefined ? 0 : await pairsTogether(loss, first);
  const counts = new Map<Uint32Array, number>();
  const partitions = loss.partitions.map((batches) => {
    const bySize = batches.map((rows) => ({ rows })).toSorted((a, b) => b.rows.length - a.rows.length);
    return stacksOf(bySize, most).map((stack) => {
      const rows = rowsOfStack(stack);
      counts.set(rows, stack.length);
      return rows;
    });
  });
  return {
    ...loss,
    model: stackedModel(loss.model),
    partitions,
    batch: async (rows) => ({ pairs: await loss.batch(rows), count: counts.get(rows) ?? 1 }),
  };
}
