// A preconditioner of the Hessian: both matrices of a low-rank update in one block, and what drawn gradients say of all.

import { EcifError } from '../../array/errors.ts';
import { createRng } from '../../array/rng.ts';
import { treeLeaves, treePaths } from '../../array/tree.ts';
import { Flat } from '../../autodiff/flat.ts';
import { disposeTree, type Tensor } from '../../autodiff/tensor.ts';
import { type Cholesky, cholesky, choleskySolve } from '../../linalg/cholesky.ts';
import { NotPositiveDefiniteError } from '../../linalg/errors.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { composedBlock, type ComposedPoint } from './composed-block.ts';
import { type ComposedMeasures, measureComposed } from './composed.ts';
import { Directions, shareOf, withDirections } from './directions.ts';
import { drawSettings } from './draws.ts';
import type { FactorOptions } from './kronecker-factors.ts';
import { ekfacOf } from './kronecker.ts';
import type { CurvatureKind, RecordedSolver } from './record.ts';

/** Settings of {@link jointOf}. */
export interface JointOptions extends FactorOptions {
  /** Whose inverse it stands for: `gauss-newton` is without the coupling of A and B by the gradient; `hessian` unless told. */
  readonly curvature?: CurvatureKind;
  /** Added to the curvature beyond δ; 0 unless told. */
  readonly damping?: number;
  /** Parameters of A and B together up to which they have one block, which is dense; 2048 unless told. */
  readonly largestBlock?: number;
  /** Drawn gradients to keep, two vectors each; 32 unless told. */
  readonly directions?: number;
}

/** Where a leaf lies in the vector of all parameters. */
interface Place {
  readonly first: number;
  readonly size: number;
  readonly shape: readonly number[];
}

function placesOf(theta: unknown): Map<string, Place> {
  let first = 0;
  const leaves = treeLeaves<Tensor>(theta);
  return new Map(
    treePaths(theta).map((path, i) => {
      const { size, shape } = leaves[i];
      first += size;
      return [path, { first: first - size, size, shape }];
    }),
  );
}

/** One block, factored. */
interface Factored {
  readonly at: readonly Place[];
  readonly factor: Cholesky;
  /** Share of the coupling that is in it. */
  readonly coupling: number;
}

/** Least share of the coupling that is tried before none. */
const LEAST_COUPLING = 2 ** -6;

/** Factors a block with as much of the coupling, halved again and again, as leaves it positive definite. */
function factored(point: ComposedPoint, at: readonly Place[], gaussNewton: number, shift: number): Factored {
  const n = point.a.length + point.b.length;
  for (let coupling = point.gradient === null ? 0 : 1; ; coupling = coupling > LEAST_COUPLING ? coupling / 2 : 0) {
    try {
      return { at, factor: cholesky(composedBlock(point, { gaussNewton, coupling }), n, shift), coupling };
    } catch (error) {
      if (!(error instanceof NotPositiveDefiniteError) || coupling === 0) throw error;
    }
  }
}

const part = (values: Float64Array, { first, size }: Place): Float64Array => values.slice(first, first + size);

/** Solves with every block; what has none keeps the values of `rest`. */
function solveBlocks(blocks: readonly Factored[], b: Float64Array, rest: Float64Array): Float64Array {
  const x = rest.slice();
  for (const { at, factor } of blocks) {
    const right = new Float64Array(factor.n);
    let first = 0;
    for (const place of at) {
      right.set(part(b, place), first);
      first += place.size;
    }
    const found = choleskySolve(factor, right);
    first = 0;
    for (const place of at) x.set(found.subarray(first, (first += place.size)), place.first);
  }
  return x;
}

/**
 * A positive definite stand-in for the Hessian or the Gauss-Newton matrix, to be a preconditioner.
 *
 * Where a model says that one linear map follows another, W = scale·B·A, both matrices have one dense block,
 * Jᵀ·K·J + coupling + δ, as far as `largestBlock` allows; every other parameter has that of EK-FAC. The mean over the drawn
 * gradients themselves counts beside K as far as there are enough of them; it is all that is between blocks.
 * @throws EcifError unless δ + damping > 0
 * @example const joint = await jointOf(loss, theta); const h = cgSolver(loss, theta, { preconditioner: joint });
 */
export async function jointOf<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  options: JointOptions = {},
): Promise<RecordedSolver<T>> {
  const { curvature = 'hessian', damping = 0, largestBlock = 2048, directions: most = 32, seed = 0 } = options;
  const shift = loss.l2 + damping;
  if (!(shift > 0)) {
    throw new EcifError(
      `joint: δ ${loss.l2} with damping ${damping}; give a damping above ${-loss.l2}, or another preconditioner`,
    );
  }
  const [flat, places] = [new Flat(theta), placesOf(theta)];
  const place = (path: string): Place => places.get(path) as Place;
  const drawn = new Directions<T>(most, createRng(seed));
  const pairs = await measureComposed(loss, theta, (a) => place(a).shape[0], {
    ...options,
    ...{ largestBlock, gradients: curvature === 'hessian' },
    onDraw: (draw) => drawn.add(draw),
  });
  const vectors: Float64Array[] = [];
  for (const tree of drawn.vectors) vectors.push(await flat.toVector(tree));
  drawn.dispose();
  const share = shareOf(vectors);
  const values = await flat.toVector(theta);
  const blocks = pairs.map((pair: ComposedMeasures) => {
    const [a, b] = [place(pair.a), place(pair.b)];
    const point = { ...pair, a: part(values, a), b: part(values, b), rank: a.shape[0] };
    return factored(point, [a, b], 1 - share, shift);
  });
  const plain = places.size - 2 * pairs.length;
  const ekfac = plain === 0 ? null : await ekfacOf(loss, theta, options);
  const rest = ekfac?.solver(shift / (1 - share) - loss.l2);
  const solve = await withDirections(
    async (b) => {
      if (rest === undefined) return solveBlocks(blocks, b, b);
      const right = flat.toTree(b);
      const x = await rest.solve(right);
      const found = (await flat.toVector(x)).map((v) => v / (1 - share));
      disposeTree([right, x]);
      return solveBlocks(blocks, b, found);
    },
    vectors,
    share,
  );
  const coupling = Math.min(...blocks.map((block) => block.coupling), curvature === 'hessian' ? 1 : 0);
  return {
    about: {
      ...{ method: 'joint', curvature, l2: loss.l2, damping },
      settings: {
        ...{ ...drawSettings(options), largestBlock, joined: pairs.length, plain, coupling },
        ...{ directions: vectors.length, share },
      },
    },
    solve: async (b) => flat.toTree(await solve(await flat.toVector(b))),
    dispose: () => ekfac?.dispose(),
  };
}
