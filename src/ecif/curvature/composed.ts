// Pairs of matrices whose linear maps follow one another, scale·B·A, and the gradients of their products.

import { add } from '../../autodiff/ops/binary.ts';
import { matmul } from '../../autodiff/ops/matmul.ts';
import { disposeTree, readAll, type Tensor } from '../../autodiff/tensor.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { type Draw, type DrawnMap, type DrawOptions, overGradients } from './draws.ts';
import { FACTOR_PASS } from './kronecker-factors.ts';

/** W = scale·B·A (out, in), A (rank, in) and B (out, rank) being parameters that take part in no other pair. */
export interface Composed {
  readonly a: string;
  readonly b: string;
  readonly scale: number;
}

/** A pair with its map in a pass: inputs of A, cotangents of the output of B. */
interface Link extends Composed {
  readonly x: Tensor;
  readonly g: Tensor;
}

/** Both maps of every pair of a pass. */
function linksOf(maps: readonly DrawnMap[]): Link[] {
  const links = maps.flatMap(({ parameter: b, stored, after, g }, i): Link[] => {
    const first = maps.slice(0, i).findLast(({ parameter }) => parameter === after?.parameter);
    if (after === null || first === undefined || stored !== 'out-in' || first.stored !== 'out-in') return [];
    return [{ a: first.parameter, b, scale: after.scale, x: first.x, g }];
  });
  const met = (of: Link) => links.filter(({ a, b }) => [a, b].some((each) => each === of.a || each === of.b));
  return links.filter((link) =>
    met(link).every(({ a, b, scale }) => a === link.a && b === link.b && scale === link.scale),
  );
}

/** Measures of W by the path of B. */
type ByPair<M> = Readonly<Record<string, M>>;

/** The gradient of W of every pair, (out, in): Σ over tokens of g·xᵀ. */
function productGradients(links: readonly Link[]): ByPair<Tensor> {
  const sums: Record<string, Tensor> = {};
  for (const { b, g, x } of links) {
    const made = matmul(g, x, { form: 'tn' });
    sums[b] = b in sums ? add(sums[b], made) : made;
  }
  return sums;
}

/** What is known of W, on the host. */
export interface ComposedMeasures extends Composed {
  /** E[Ĝ·Ĝᵀ] (out, out) and E[Ĝᵀ·Ĝ] (in, in), summed over batches, Ĝ being drawn gradients of W. */
  readonly rows: Float64Array;
  readonly columns: Float64Array;
  /** ∂L/∂W (out, in), where asked for. */
  readonly gradient: Float64Array | null;
}

/** Settings of {@link measureComposed}. */
export interface ComposedOptions<T> extends DrawOptions {
  /** Parameters of A and B together up to which a pair is measured. */
  readonly largestBlock: number;
  /** Whether ∂L/∂W is asked for. */
  readonly gradients: boolean;
  /** Told of every draw, in the scope of its tensors. */
  onDraw(draw: Draw<T>): void;
}

/** Parameters of A and B together. */
const sizeOf = ({ x, g }: Link, rank: number): number => rank * (x.shape[1] + g.shape[1]);

/**
 * Finds the pairs of a model, and draws gradients of their products. The outer products of Ĝ, unlike those of single
 * tokens, hold what is between the tokens: where attention mixes them, that is most of it.
 */
export async function measureComposed<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  rankOf: (parameter: string) => number,
  { largestBlock, gradients, onDraw, ...options }: ComposedOptions<T>,
): Promise<ComposedMeasures[]> {
  const found = new Map<string, Composed>();
  const linked = (maps: readonly DrawnMap[]): Link[] =>
    linksOf(maps).filter((link) => sizeOf(link, rankOf(link.a)) <= largestBlock);
  const measured = await overGradients(loss, theta, options, FACTOR_PASS, {
    draw: (draw): ByPair<readonly [Tensor, Tensor]> => {
      onDraw(draw);
      const links = linked(draw.maps);
      for (const { a, b, scale } of links) found.set(b, { a, b, scale });
      return Object.fromEntries(
        Object.entries(productGradients(links)).map(([b, w]) => [
          b,
          [matmul(w, w, { form: 'nt' }), matmul(w, w, { form: 'tn' })],
        ]),
      );
    },
    inputs: (_calls, ofLoss): ByPair<Tensor> => (gradients ? productGradients(linked(ofLoss().maps)) : {}),
  });
  const out: ComposedMeasures[] = [];
  for (const pair of found.values()) {
    const [rows, columns] = await readAll([...measured.draws[pair.b]]);
    const gradient = gradients ? Float64Array.from(await measured.inputs[pair.b].data()) : null;
    out.push({ ...pair, rows: Float64Array.from(rows), columns: Float64Array.from(columns), gradient });
  }
  disposeTree(measured);
  return out;
}
