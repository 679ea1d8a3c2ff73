// Gradients whose outer products make up the Gauss-Newton matrix of every batch, and sums over them.

import { EcifError } from '../../array/errors.ts';
import { createRng, type Rng } from '../../array/rng.ts';
import { treePaths } from '../../array/tree.ts';
import { contrastiveGrad } from '../../autodiff/ops/contrastive.ts';
import { disposeTree, scope, type Tensor, tensor } from '../../autodiff/tensor.ts';
import { treeSpace } from '../../linalg/tree-space.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { pullTapped, type TapCall, tapCalls, tokens } from '../../models/tap.ts';
import { hessianRoot } from './hessian-root.ts';

/** How the Gauss-Newton matrix is drawn. */
export interface DrawOptions {
  /**
   * Gradients drawn for each batch, 4 unless told; `exact` takes all that there are, 2·B² for a batch of B pairs, so that
   * nothing is left to chance.
   */
  readonly draws?: number | 'exact';
  /** 0 unless told. */
  readonly seed?: number;
  /** Batches to look at, drawn at random; all unless told. */
  readonly batches?: number;
  onBatch?(done: number, of: number): void;
}

/** A linear map of a pass with the cotangent of its output. */
export interface DrawnMap extends Pick<TapCall, 'parameter' | 'stored' | 'after' | 'x'> {
  /** Cotangent of every token, (N, out). */
  readonly g: Tensor;
}

/** A gradient of a batch; of a matrix it is Σ over tokens of g·xᵀ. */
export interface Pulled<T> {
  readonly gradient: T;
  readonly maps: readonly DrawnMap[];
}

/** One gradient ĝ of a batch, E[ĝ·ĝᵀ] being its Gauss-Newton matrix. */
export interface Draw<T> extends Pulled<T> {
  /** Factor of what is measured of it in the sum over all batches. */
  readonly weight: number;
}

/** Settings with nothing left open. */
export function drawSettings({ draws = 4, seed = 0, batches }: DrawOptions): {
  draws: number | 'exact';
  seed: number;
  batches: number | null;
} {
  if (draws !== 'exact' && !(Number.isInteger(draws) && draws >= 1)) {
    throw new EcifError(`draws: found ${draws}; give a whole number of at least 1, or 'exact'`);
  }
  if (batches !== undefined && !(Number.isInteger(batches) && batches >= 1)) {
    throw new EcifError(`batches: found ${batches}; give a whole number of at least 1`);
  }
  return { draws, seed, batches: batches ?? null };
}

/** What is summed over batches, as trees of new tensors. */
export interface Measures<T, D, I> {
  /** Of one gradient; its mean over the draws of a batch is summed. */
  draw(draw: Draw<T>): D;
  /** Of the inputs of the linear maps of a batch, and of the gradient of its loss. */
  inputs(calls: readonly TapCall[], ofLoss: () => Pulled<T>): I;
}

/** Sums over batches. */
export interface Measured<D, I> {
  readonly draws: D;
  readonly inputs: I;
}

/** The measures of one batch. */
async function measureBatch<T, B, D, I>(
  loss: StreamedLoss<T, B>,
  theta: T,
  batch: B,
  { draws, rng, share }: { draws: number | 'exact'; rng: Rng; share: number },
  measures: Measures<T, D, I>,
): Promise<Measured<D, I>> {
  const space = treeSpace<D>();
  const { s, calls } = tapCalls(loss.model, theta, batch);
  requireKnown(theta, calls);
  const { weight, matrices } = await hessianRoot(s, draws, rng);
  const back = pullTapped(loss.model, theta, batch, calls);
  const pulled = (ct: Tensor): Pulled<T> => {
    const { theta: gradient, outputs } = back.pull(ct);
    const maps = calls.map(({ parameter, stored, after, x }, i) => ({
      ...{ parameter, stored, after, x },
      g: tokens(outputs[i]),
    }));
    return { gradient, maps };
  };
  let sum: D | null = null;
  for (const matrix of matrices()) {
    const made = scope(() => measures.draw({ ...pulled(tensor(s.device, matrix, s.shape)), weight: weight * share }));
    const next: D = sum === null ? space.combine([weight], [made]) : space.combine([1, weight], [sum, made]);
    if (sum !== null) space.release(sum);
    space.release(made);
    sum = next;
  }
  const inputs = scope(() => measures.inputs(calls, () => pulled(contrastiveGrad(s))));
  back.dispose();
  disposeTree([s, back.value, calls.map(({ x, zero }) => [x, zero])]);
  return { draws: sum as D, inputs };
}

/** Refuses a model that taps what is no parameter. */
function requireKnown(theta: unknown, calls: readonly TapCall[]): void {
  const paths = treePaths(theta);
  const odd = calls.find(({ parameter }) => !paths.includes(parameter));
  if (odd === undefined) return;
  throw new EcifError(
    `tap: ${odd.parameter} is not among the parameters ${paths.join(', ')}; give its path to the tap`,
  );
}

/**
 * Σ over batches of the measures, over the number of partitions, as in the objective. A subset of the batches counts for
 * all of them.
 * @param pass names an independent stream of draws
 */
export async function overGradients<T, B, D, I>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: DrawOptions,
  pass: number,
  measures: Measures<T, D, I>,
): Promise<Measured<D, I>> {
  const { draws, seed, batches } = drawSettings(options);
  const space = treeSpace<Measured<D, I>>();
  const all = loss.partitions.flat();
  const chosen = batches === null ? [...all.keys()] : [...createRng(seed).permutation(all.length).slice(0, batches)];
  const share = all.length / chosen.length / loss.partitions.length;
  let total: Measured<D, I> | null = null;
  for (const [done, index] of chosen.entries()) {
    const batch = await loss.batch(all[index]);
    const rng = createRng(seed).fork(pass * all.length + index);
    const made = await measureBatch(loss, theta, batch, { draws, rng, share }, measures);
    const next: Measured<D, I> =
      total === null ? space.combine([share], [made]) : space.combine([1, share], [total, made]);
    if (total !== null) space.release(total);
    space.release(made);
    disposeTree(batch);
    total = next;
    options.onBatch?.(done + 1, chosen.length);
  }
  return total as Measured<D, I>;
}
