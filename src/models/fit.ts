// Training a model of pairs with Adam, in constant device memory.

import { gather } from '../autodiff/ops/indexing.ts';
import { disposeTree, scope, type Tensor, tensor } from '../autodiff/tensor.ts';
import { valueAndGrad } from '../autodiff/transforms.ts';
import { Adam } from './optimizer.ts';
import { batchLoss, type Model, type PairBatch } from './model.ts';

/** Settings of {@link fit}. */
export interface FitOptions {
  /** Rows of the pairs of each step. */
  readonly batches: Iterator<Uint32Array, unknown>;
  readonly steps: number;
  /** Largest step size; it falls to zero along a cosine. */
  readonly rate: number;
  readonly decay: number;
  /** Told the loss per pair and direction after the first step, every `every` steps, and after the last. */
  readonly report?: { readonly every: number; readonly note: (step: number, loss: number) => void };
}

/** The pairs of some rows. */
export function rowsOf(pairs: PairBatch, rows: ArrayLike<number>): PairBatch {
  const index = tensor(pairs.text.device, Int32Array.from(rows), [rows.length], 'int');
  return { text: gather(pairs.text, index), image: gather(pairs.image, index) };
}

/** Value and gradient of one batch, nothing else left on the device. */
function gradientOn<T>(
  model: Model<T, PairBatch>,
  theta: T,
  pairs: PairBatch,
  rows: Uint32Array,
): { value: Tensor; grad: T } {
  return scope(() => {
    const batch = rowsOf(pairs, rows);
    return valueAndGrad((p: T) => batchLoss(model, p, batch))(theta);
  });
}

/**
 * Minimises the contrastive loss over batches.
 * @param theta where to start; given back to the device
 * @param pairs all pairs, on the device
 * @returns the trained parameters
 */
export async function fit<T>(model: Model<T, PairBatch>, theta: T, pairs: PairBatch, options: FitOptions): Promise<T> {
  const { batches, steps, rate, decay, report } = options;
  const adam = new Adam(theta, { decay });
  let current = theta;
  for (let step = 0; step < steps; step++) {
    const rows = batches.next().value as Uint32Array;
    const { value, grad } = gradientOn(model, current, pairs, rows);
    current = adam.step(current, grad, (rate / 2) * (1 + Math.cos((Math.PI * step) / steps)));
    const due = step === 0 || step === steps - 1 || (step + 1) % (report?.every ?? steps) === 0;
    if (report !== undefined && due) report.note(step + 1, (await value.item()) / (2 * rows.length));
    disposeTree([value, grad]);
    await pairs.text.device.tick();
  }
  adam.dispose();
  return current;
}
