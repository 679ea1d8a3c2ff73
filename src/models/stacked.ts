// Batches laid together: they go through the towers as one, and are apart again in the similarities. Smaller ones are filled up.

import { sizeOf } from '../array/shape.ts';
import { treeLeaves } from '../array/tree.ts';
import { reshape } from '../autodiff/ops/layout.ts';
import { disposeTree, Tensor, tensor } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import { FAR, type Model } from './model.ts';
import type { StreamedLoss } from './streamed.ts';

/** Several batches, one after the other, each filled up to as many pairs as the largest has. */
export interface Stack<B> {
  readonly pairs: B;
  /** Pairs of each batch that are its own. */
  readonly sizes: readonly number[];
}

/**
 * Added to similarities (…, B, B), keeps some pairs out of their batches: each meets none but itself there, so that its loss and all
 * derivatives of it are 0, and the others are as they were without it.
 * @param shape (…, B) of the batches
 * @param out whether pair k, counted over all batches, is kept out
 */
export function keptOut(device: Device, shape: readonly number[], out: (k: number) => boolean): Tensor {
  const side = shape[shape.length - 1];
  const gone = Array.from({ length: sizeOf(shape) }, (_, k) => out(k));
  const far = new Float64Array(gone.length * side);
  gone.forEach((alone, k) => {
    const first = k - (k % side);
    for (let j = 0; j < side; j++) if (first + j !== k && (alone || gone[first + j])) far[k * side + j] = FAR;
  });
  return tensor(device, far, [...shape, side]);
}

/** What keeps the pairs that fill batches up out of them; undefined where there are none. */
function fillOut({ device, shape: [places] }: Tensor, sizes: readonly number[]): Tensor | undefined {
  const side = places / sizes.length;
  if (sizes.every((size) => size === side)) return undefined;
  return keptOut(device, [sizes.length, side], (k) => k % side >= sizes[Math.floor(k / side)]);
}

/** The model over stacks: u and v (G, B, d), and with them S (G, B, B). */
export function stackedModel<T, B>(model: Model<T, B>): Model<T, Stack<B>> {
  return {
    scale: (theta) => model.scale(theta),
    embed: (theta, { pairs, sizes }, tap) => {
      const apart = (x: Tensor): Tensor => reshape(x, [sizes.length, x.shape[0] / sizes.length, x.shape[1]]);
      const { u, v } = model.embed(theta, pairs, tap);
      return { u: apart(u), v: apart(v), unmet: fillOut(u, sizes) };
    },
  };
}

/** Bytes of inputs that are laid together at most; a batch that has more stays alone. */
const STACKED_BYTES = 2 ** 21;

/** How pairs may be laid together, from one batch of them. */
async function togetherAs<T, B>(
  { batch }: Pick<StreamedLoss<T, B>, 'batch'>,
  rows: Uint32Array,
): Promise<{ readonly most: number; readonly dispatches: boolean }> {
  const made = await batch(rows);
  const tensors = treeLeaves<unknown>(made).filter((x) => x instanceof Tensor);
  const numbers = tensors.reduce((n, x) => n + x.size, 0);
  disposeTree(made);
  return {
    most: Math.floor((STACKED_BYTES * rows.length) / (4 * Math.max(1, numbers))),
    dispatches: tensors.some(({ device }) => device.kind === 'webgpu'),
  };
}

/** Pairs that may be laid together, from one batch of them. */
export const pairsTogether = async <T, B>(
  loss: Pick<StreamedLoss<T, B>, 'batch'>,
  rows: Uint32Array,
): Promise<number> => (await togetherAs(loss, rows)).most;

/** Least share of a stack's places in a batch that must be taken by pairs of its own. */
const LEAST_OWN = 0.75;

/**
 * Neighbours together, of at most so many pairs.
 * @param batches the largest first, unless all are of equal size
 * @param filled whether smaller batches may be filled up to lie with larger ones
 */
export function stacksOf<P extends { readonly rows: Uint32Array }>(
  batches: readonly P[],
  most: number,
  filled = false,
): P[][] {
  const stacks: P[][] = [];
  for (const batch of batches) {
    const last = stacks.at(-1);
    const [side, size] = [last?.[0].rows.length ?? 0, batch.rows.length];
    const fits = size === side || (filled && size < side && size >= LEAST_OWN * side);
    if (last !== undefined && fits && (last.length + 1) * side <= most) last.push(batch);
    else stacks.push([batch]);
  }
  return stacks;
}

/** The rows of all batches of a stack, a smaller one filled up with its last. */
export const rowsOfStack = (stack: readonly { readonly rows: Uint32Array }[]): Uint32Array =>
  Uint32Array.from(
    stack.flatMap(({ rows }) => Array.from(stack[0].rows, (_, i) => rows[Math.min(i, rows.length - 1)])),
  );

/**
 * The same objective over stacks, whose batches may have come in another order: larger and fewer kernels where batches
 * are small.
 * @param filled whether batches of unequal size may lie together; unless told they do on WebGPU, where fewer kernels are worth the pairs that
 * fill them up, but for a loss that is another function of S, which would have to leave those out
 * @example const h = await curvatureAt(await stacked(loss), theta, 'hessian', memory);
 */
export async function stacked<T, B>(
  loss: StreamedLoss<T, B>,
  filled?: boolean,
): Promise<StreamedLoss<T, Stack<B>>> {
  const first = loss.partitions.flat().at(0);
  const { most, dispatches } =
    first === undefined ? { most: 0, dispatches: false } : await togetherAs(loss, first);
  const fill = filled ?? (dispatches && loss.on === undefined);
  const sizes = new Map<Uint32Array, number[]>();
  const partitions = loss.partitions.map((batches) => {
    const bySize = batches.map((rows) => ({ rows })).toSorted((a, b) => b.rows.length - a.rows.length);
    return stacksOf(bySize, most, fill).map((stack) => {
      const rows = rowsOfStack(stack);
      sizes.set(
        rows,
        stack.map((batch) => batch.rows.length),
      );
      return rows;
    });
  });
  return {
    ...loss,
    model: stackedModel(loss.model),
    partitions,
    batch: async (rows) => ({ pairs: await loss.batch(rows), sizes: sizes.get(rows) ?? [rows.length] }),
  };
}
