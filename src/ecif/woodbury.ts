// Newton removal without a new factorisation: the curvature that is lost has low rank, seen through the similarities.

import { EcifError } from '../array/errors.ts';
import { addScaled, dot } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { hessian } from '../autodiff/curvature.ts';
import { add } from '../autodiff/ops/binary.ts';
import { disposeTree, scope, type Tensor, tensor } from '../autodiff/tensor.ts';
import { grad, linearize, vjp } from '../autodiff/transforms.ts';
import { matMul, matVec } from '../linalg/dense.ts';
import { symmetricEigen } from '../linalg/symmetric-eigen.ts';
import { similarities } from '../models/model.ts';
import type { Problem } from './objective.ts';
import type { Segment } from './seg.ts';
import type { CurvatureSolver } from './solver.ts';
import { neg, pos } from './terms.ts';

type Vector = Float64Array;

/** Similarities of one batch, B², up to which the solves are made. */
const LARGEST = 4096;

/** One batch, prepared: its B² solves serve every set of its pairs. */
export interface BatchSolves<T> {
  readonly batch: number;
  readonly theta: T;
  readonly similarities: { readonly side: number; readonly values: Vector };
  /** Row i: H⁻¹·Jᵀ·e_i, with J = ∂S/∂θ. */
  readonly solved: readonly Vector[];
  /** J·H⁻¹·Jᵀ, (B², B²). */
  readonly gram: Vector;
}

/**
 * Solves for every similarity of one batch.
 * @param h H at θ̂
 * @throws EcifError for a batch of more than 64 pairs
 */
export async function prepareBatch<T, B>(
  { model, batches }: Problem<T, B>,
  theta: T,
  batch: number,
  h: CurvatureSolver<T>,
): Promise<BatchSolves<T>> {
  const flat = new Flat(theta);
  const f = (t: T): Tensor => similarities(model, t, batches[batch]);
  const [back, forward] = [vjp(f, theta), linearize(f, theta)];
  const side = back.value.shape[0];
  if (side * side > LARGEST)
    throw new EcifError(`prepareBatch: ${side} pairs need ${side * side} solves, at most ${LARGEST}; use removeKrylov`);
  const values = Float64Array.from(await back.value.data());
  const solved: Vector[] = [];
  const gram = new Float64Array(side ** 4);
  for (let i = 0; i < side * side; i++) {
    const unit = new Float64Array(side * side);
    unit[i] = 1;
    const column = scope(() => back.pull(tensor(back.value.device, unit, [side, side])));
    const x = await h.solve(column);
    const image = scope(() => forward.push(x));
    gram.set(await image.data(), i * side * side);
    solved.push(await flat.toVector(x));
    disposeTree([column, x, image]);
  }
  disposeTree([back.value, forward.value]);
  back.dispose();
  forward.dispose();
  return { batch, theta, similarities: { side, values }, solved, gram };
}

/** r = ∂lost/∂S and K = ∂²lost/∂S² at the batch's similarities, lost = Pos + Neg exact. */
async function lostOnSimilarities<T>(
  { similarities: { side, values }, theta }: BatchSolves<T>,
  removed: readonly number[],
): Promise<{ r: Vector; k: Vector }> {
  const { device } = new Flat(theta);
  const lost = ({ s }: { s: Tensor }): Tensor => {
    const [p, n] = [pos(s, removed), neg(s, removed, 'exact')];
    return add(add(p.t2i, p.i2t), add(n.t2i, n.i2t));
  };
  const at: { s: Tensor } = { s: tensor(device, values, [side, side]) };
  const r = await new Flat(at).read(() => grad(lost)(at));
  const { matrix } = await hessian(lost, at);
  disposeTree(at);
  return { r, k: matrix };
}

/** G^½ of a positive semi-definite matrix. */
function squareRoot(g: Vector, n: number): Vector {
  const { values, vectors } = symmetricEigen(g, n);
  const scaled = vectors.map((v, i) => v * Math.max(0, values[Math.floor(i / n)]) ** 0.25);
  const out = new Float64Array(n * n);
  for (let e = 0; e < n; e++)
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) out[i * n + j] += scaled[e * n + i] * scaled[e * n + j];
  return out;
}

/** Result of {@link removeWoodbury}. */
export interface WoodburyRemoval<T> {
  readonly theta: T;
  /** Directions of the lost curvature that were used, of the B² there are. */
  readonly rank: number;
  /** Share of the lost curvature's energy, Σλ², in those directions. */
  readonly energy: number;
}

/**
 * Removes pairs of one batch: θ̂ + H⁻¹Jᵀ(I − K·JH⁻¹Jᵀ)⁻¹r, keeping the `rank` strongest directions of the lost curvature
 * ΔH = JᵀKJ relative to H. All of them give the Newton step with H₋ where S is linear in θ (its Gauss-Newton form
 * elsewhere), none gives the exact gradient's step.
 * @param segment the removed pairs, in the batch that was prepared
 * @param rank all directions unless told
 * @throws EcifError where ΔH takes away all of H in some direction
 */
export async function removeWoodbury<T>(
  prepared: BatchSolves<T>,
  { batch, positions }: Segment,
  rank = Infinity,
): Promise<WoodburyRemoval<T>> {
  if (batch !== prepared.batch)
    throw new EcifError(`removeWoodbury: batch ${prepared.batch} was prepared, not ${batch}; prepare that one`);
  if (!(rank >= 0)) throw new EcifError(`removeWoodbury: rank ${rank}; take a number ≥ 0`);
  const n = prepared.similarities.side ** 2;
  const { r, k } = await lostOnSimilarities(prepared, positions);
  const root = squareRoot(prepared.gram, n);
  const { values, vectors } = symmetricEigen(matMul(root, matMul(k, root, n), n), n);
  const strongest = [...values.keys()].toSorted((a, b) => Math.abs(values[b]) - Math.abs(values[a])).slice(0, rank);
  const right = matVec(root, r, n);
  let weights = r;
  for (const e of strongest) {
    if (values[e] >= 1)
      throw new EcifError(
        `removeWoodbury: curvature ${1 - values[e]} is left in a direction; the loss is not convex there`,
      );
    const direction = vectors.subarray(e * n, (e + 1) * n);
    const image = matVec(k, matVec(root, direction, n), n);
    weights = addScaled(weights, dot(direction, right) / (1 - values[e]), image);
  }
  const flat = new Flat(prepared.theta);
  const edited = prepared.solved.reduce(
    (sum, x, i) => addScaled(sum, weights[i], x),
    await flat.toVector(prepared.theta),
  );
  const energy = (of: readonly number[]): number => of.reduce((total, e) => total + values[e] ** 2, 0);
  return { theta: flat.toTree(edited), rank: strongest.length, energy: energy(strongest) / energy([...values.keys()]) };
}
