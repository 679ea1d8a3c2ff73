// Removing pairs from a trained model without training again: the ladder of estimators, from the printed one upward.

import { EcifError } from '../array/errors.ts';
import { linearizeGrad } from '../autodiff/curvature.ts';
import { add } from '../autodiff/ops/binary.ts';
import { contrastive } from '../autodiff/ops/contrastive.ts';
import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import { symmetricEigen } from '../linalg/symmetric-eigen.ts';
import type { Space } from '../linalg/space.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { lossOf, posOf } from './influence.ts';
import { similarities } from '../models/model.ts';
import type { CurvatureHere } from '../models/streamed.ts';
import { decayTerm, type Problem } from './objective.ts';
import { normalSeg, type Seg } from './seg.ts';
import { curvatureAt, type CurvatureSolver, solveFor, type SolverOptions } from './solver.ts';
import { type NegForm, removedLoss } from './terms.ts';

/**
 * The objective after true removal: rows and columns of the removed pairs dropped.
 * @eq eq-removed-loss
 */
export function lossWithout<T, B>({ model, batches, decay, centre }: Problem<T, B>, seg: Seg): (theta: T) => Tensor {
  const removed = new Map(normalSeg(seg, batches.length).map(({ batch, positions }) => [batch, positions]));
  return (theta) =>
    batches
      .map((members, batch) => {
        const s = similarities(model, theta, members);
        const positions = removed.get(batch);
        return positions === undefined ? contrastive(s) : removedLoss(s, positions);
      })
      .reduce(add, decayTerm(theta, decay, centre));
}

/**
 * Removal by influence: θ̃ = θ̂ − positiveIF − negativeIF, whatever form the negatives have.
 * @eq eq-edit
 * @eq erratum-11-response-sign
 * @eq erratum-04-root-half
 * @deviation the sign of the edit in Algorithm 1, neither that of the preliminaries nor √2/2 of the appendix
 */
export const removeByInfluence = <T>(theta: T, positiveIF: T, negativeIF: T): T =>
  treeSpace<T>().combine([1, -1, -1], [theta, positiveIF, negativeIF]);

/** What an edit takes away with the pairs: Neg in one of its forms, or nothing but Pos. */
export type LostForm = NegForm | 'positives only';

/** What every estimator of one removal starts from, in any vector space. */
export interface Removal<V> {
  readonly theta: V;
  readonly space: Space<V>;
  /** H⁻¹·b, H at θ̂; a new vector. */
  solve(b: V): Promise<V>;
  /** ∇Pos + ∇Neg at θ̂; a new vector. */
  lostGradient(form: LostForm): V | Promise<V>;
  /** H⁻¹(∇Pos + ∇Neg), a new vector, where one pass serves both; null for a form that it does not serve. */
  solveLost?(form: LostForm): Promise<V> | null;
  /** ΔH = ∇²(Pos + Neg exact) at θ̂, and the gradient that goes with it; released by whoever asked. */
  lostCurvature(): CurvatureHere<V> | Promise<CurvatureHere<V>>;
  /** ∇²F(θ)⁻¹·∇F(θ), F being the loss after true removal; a new vector. */
  newtonStep(theta: V): Promise<V>;
}

/** The removal of a set from a model. */
export interface ModelRemoval<T> extends Removal<T> {
  /** The loss after true removal, F. */
  readonly without: (theta: T) => Tensor;
}

/**
 * Prepares the removal of a set from a model trained to θ̂.
 * @param h H at θ̂
 * @param options how Newton steps solve with the Hessian after removal
 */
export function removalOf<T, B>(
  problem: Problem<T, B>,
  theta: T,
  seg: Seg,
  h: CurvatureSolver<T>,
  options: SolverOptions = {},
): ModelRemoval<T> {
  const without = lossWithout(problem, seg);
  const lost = (form: LostForm): ((theta: T) => Tensor) =>
    form === 'positives only' ? posOf(problem, seg) : lossOf(problem, seg, form);
  return {
    theta,
    space: treeSpace<T>(),
    solve: (b) => h.solve(b),
    lostGradient: (form) => scope(() => grad(lost(form))(theta)),
    lostCurvature: () => {
      const { value, grad: gradient, hvp, dispose } = linearizeGrad(lost('exact'), theta);
      disposeTree(value);
      return {
        product: hvp,
        gradient: () => Promise.resolve(treeSpace<T>().combine([1], [gradient])),
        release: () => {
          dispose();
          disposeTree(gradient);
        },
      };
    },
    without,
    newtonStep: async (at) => {
      const after = await curvatureAt(without, at, options);
      const step = await solveFor(after, () => grad(without)(at));
      after.dispose();
      return step;
    },
  };
}

/** H⁻¹·b; b is given back. */
async function solved<V>({ space, solve }: Removal<V>, b: V): Promise<V> {
  const x = await solve(b);
  space.release(b);
  return x;
}

/** θ + Σ k·step; the steps are given back. */
function moved<V>(space: Space<V>, theta: V, factors: readonly number[], steps: readonly V[]): V {
  const result = space.combine([1, ...factors], [theta, ...steps]);
  space.release(...steps);
  return result;
}

/**
 * One linear solve with H: θ̃ = θ̂ + H⁻¹(∇Pos + ∇Neg). `published` and `corrected` are ECIF, `exact` has no linearisation.
 * @eq eq-edit
 * @eq prop-removal-order
 */
export async function removeLinear<V>(removal: Removal<V>, form: LostForm): Promise<V> {
  const { theta, space } = removal;
  const step = await (removal.solveLost?.(form) ?? solved(removal, await removal.lostGradient(form)));
  return moved(space, theta, [1], [step]);
}

/** Whether the guard of {@link removeRescaled} held, and the factor used. */
export interface Rescaled<V> {
  readonly theta: V;
  readonly factor: number;
  readonly guarded: boolean;
}

/** What `f` makes of the curvature that a removal takes away, which is given back then. */
async function withLost<V, R>(removal: Removal<V>, f: (lost: CurvatureHere<V>) => Promise<R>): Promise<R> {
  const lost = await removal.lostCurvature();
  try {
    return await f(lost);
  } finally {
    lost.release();
  }
}

/**
 * The exact gradient's step x = H⁻¹g at the length that minimises the quadratic model with H₋ = H − ΔH:
 * x·(xᵀg)/(xᵀg − xᵀΔH·x). One solve and one Hessian product of the touched batches; factor 1 where that is not convex.
 */
export async function removeRescaled<V>(removal: Removal<V>): Promise<Rescaled<V>> {
  const { theta, space, solve } = removal;
  const { g, x, dx } = await withLost(removal, async (lost) => {
    const gradient = await lost.gradient();
    const step = await solve(gradient);
    return { g: gradient, x: step, dx: await lost.product(step) };
  });
  const [xg, xdx] = await space.dots([
    [x, g],
    [x, dx],
  ]);
  const guarded = !(xg - xdx > 0);
  const factor = guarded ? 1 : xg / (xg - xdx);
  space.release(g, dx);
  return { theta: moved(space, theta, [factor], [x]), factor, guarded };
}

/** Two terms of the Neumann series of H₋⁻¹: θ̂ + x + H⁻¹ΔH·x. Two solves. */
export async function removeNeumann<V>(removal: Removal<V>): Promise<V> {
  const steps = await withLost(removal, async (lost) => {
    const x = await solved(removal, await lost.gradient());
    return [x, await solved(removal, await lost.product(x))];
  });
  return moved(removal.space, removal.theta, [1, 1], steps);
}

/** A solution of A·x = b for a small symmetric A whose rows may depend on each other, b being in its range. */
function solveDependent(a: Float64Array, b: Float64Array): Float64Array {
  const n = b.length;
  const scale = b.map((_, i) => 1 / Math.sqrt(Math.abs(a[i * (n + 1)])) || 0).map((x) => (Number.isFinite(x) ? x : 0));
  const scaled = a.map((x, at) => x * scale[Math.floor(at / n)] * scale[at % n]);
  const { values, vectors } = symmetricEigen(scaled, n);
  const largest = values.reduce((m, x) => Math.max(m, Math.abs(x)), 0);
  const x = new Float64Array(n);
  values.forEach((value, e) => {
    if (Math.abs(value) <= 1e-12 * largest) return;
    const v = vectors.subarray(e * n, (e + 1) * n);
    const c = v.reduce((t, vi, i) => t + vi * scale[i] * b[i], 0) / value;
    v.forEach((vi, i) => (x[i] += c * vi * scale[i]));
  });
  return x;
}

/**
 * The minimiser of the quadratic model with H₋ over span{x, H⁻¹ΔH·x, …} of k vectors; k solves.
 * @param k at least 1
 */
export async function removeKrylov<V>(removal: Removal<V>, k: number): Promise<V> {
  if (!(Number.isInteger(k) && k >= 1)) throw new EcifError(`removeKrylov: k = ${k}; take a whole number ≥ 1`);
  const { theta, space, solve } = removal;
  // H·v of each basis vector is what it was solved from.
  const [basis, images, differences]: [V[], V[], V[]] = [[], [], []];
  await withLost(removal, async (lost) => {
    images.push(await lost.gradient());
    for (let i = 0; i < k; i++) {
      const v = await solve(images[i]);
      basis.push(v);
      differences.push(await lost.product(v));
      images.push(differences[i]);
    }
  });
  const g = images[0];
  const pairs = basis.flatMap((v) => [
    [v, g],
    ...basis.flatMap((_, j) => [
      [v, images[j]],
      [v, differences[j]],
    ]),
  ]);
  const dots = await space.dots(pairs as [V, V][]);
  const width = 1 + 2 * k;
  const right = Float64Array.from(basis, (_, i) => dots[i * width]);
  const matrix = Float64Array.from({ length: k * k }, (_, at) => {
    const first = Math.floor(at / k) * width + 1 + 2 * (at % k);
    return dots[first] - dots[first + 1];
  });
  const coefficients = solveDependent(matrix, right);
  space.release(g, ...differences);
  return moved(space, theta, [...coefficients], basis);
}

/**
 * Newton removal: steps −∇²F(θ)⁻¹∇F(θ) on the loss after true removal. The first one, from a stationary θ̂, is
 * H₋⁻¹(∇Pos + ∇Neg_exact) with H₋ the Hessian after removal.
 * @eq erratum-05-decay-twice
 * @deviation H₋ holds δ once
 */
export async function removeByNewton<V>(
  { theta, space, newtonStep }: Pick<Removal<V>, 'theta' | 'space' | 'newtonStep'>,
  steps = 1,
): Promise<V> {
  let current = theta;
  for (let i = 0; i < steps; i++) {
    const at = current;
    current = moved(space, at, [-1], [await newtonStep(at)]);
    if (i > 0) space.release(at);
  }
  return current;
}
