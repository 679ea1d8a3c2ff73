// Newton removal without a new factorisation: the curvature that is lost has low rank, seen through the similarities.

import { EcifError } from '../array/errors.ts';
import { addScaled, dot } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { hessian } from '../autodiff/curvature.ts';
import { add } from '../autodiff/ops/binary.ts';
import { disposeTree, readAll, scope, type Tensor, tensor } from '../autodiff/tensor.ts';
import { grad, linearize, vjp } from '../autodiff/transforms.ts';
import { matMul, matVec } from '../linalg/dense.ts';
import { symmetricEigen } from '../linalg/symmetric-eigen.ts';
import { similarities } from '../models/model.ts';
import type { Problem } from './objective.ts';
import { normalSeg, type Seg } from './seg.ts';
import type { CurvatureSolver } from './solver.ts';
import { both, neg, pos } from './terms.ts';

type Vector = Float64Array;

/** Similarities of all prepared batches, Σ B², up to which the solves are made. */
export const MOST_SIMILARITIES = 4096;

/** Batches, prepared: their Σ B² solves serve every set of their pairs. */
export interface BatchSolves<T> {
  readonly theta: T;
  /** Each batch with its similarities, (B, B) flattened. */
  readonly batches: readonly { readonly batch: number; readonly side: number; readonly values: Vector }[];
  /** Row i: H⁻¹·Jᵀ·e_i, with J = ∂S/∂θ, S of the batches one after the other. */
  readonly solved: readonly Vector[];
  /** (J·H⁻¹·Jᵀ)^½. */
  readonly root: Vector;
}

/**
 * Solves for every similarity of some batches.
 * @param solver H at θ̂
 * @throws EcifError for batches of more than 4,096 similarities together
 */
export async function prepareBatches<T, B>(
  { model, batches: all }: Problem<T, B>,
  theta: T,
  chosen: readonly number[],
  solver: Pick<CurvatureSolver<T>, 'solve'>,
): Promise<BatchSolves<T>> {
  const flat = new Flat(theta);
  const f = (t: T): Tensor[] => chosen.map((m) => similarities(model, t, all[m]));
  const [back, forward] = [vjp(f, theta), linearize(f, theta)];
  const sizes = back.value.map((s) => s.size);
  const size = sizes.reduce((a, b) => a + b, 0);
  const starts = sizes.map((_, m) => sizes.slice(0, m).reduce((a, b) => a + b, 0));
  if (size > MOST_SIMILARITIES) {
    disposeTree([back.value, forward.value]);
    back.dispose();
    forward.dispose();
    throw new EcifError(`prepareBatches: ${size} similarities, at most ${MOST_SIMILARITIES}; use removeKrylov`);
  }
  const values = await readAll(back.value);
  const solved: Vector[] = [];
  const gram = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    const column = scope(() => back.pull(back.value.map((s, m) => oneHot(s, i - starts[m]))));
    const x = await solver.solve(column);
    const images = scope(() => forward.push(x));
    let at = i * size;
    for (const part of await readAll(images)) {
      gram.set(part, at);
      at += part.length;
    }
    solved.push(await flat.toVector(x));
    disposeTree([column, x, images]);
  }
  const batches = chosen.map((batch, m) => ({
    batch,
    side: back.value[m].shape[0],
    values: Float64Array.from(values[m]),
  }));
  disposeTree([back.value, forward.value]);
  back.dispose();
  forward.dispose();
  return { theta, batches, solved, root: squareRoot(gram, size) };
}

/** 1 at one place of a tensor of this shape, 0 elsewhere; a place outside is none. */
function oneHot(like: Tensor, place: number): Tensor {
  const unit = new Float64Array(like.size);
  if (place >= 0 && place < like.size) unit[place] = 1;
  return tensor(like.device, unit, like.shape);
}

/** r = ∂lost/∂S and K = ∂²lost/∂S² at the similarities, lost = Pos + Neg exact; K batch by batch on its diagonal. */
async function lostOnSimilarities<T>(
  { batches, theta, solved }: BatchSolves<T>,
  seg: Seg,
): Promise<{ r: Vector; k: Vector }> {
  const size = solved.length;
  const [r, k] = [new Float64Array(size), new Float64Array(size * size)];
  let first = 0;
  for (const { batch, side, values } of batches) {
    const removed = seg.find((s) => s.batch === batch)?.positions ?? [];
    const lost = ({ s }: { s: Tensor }): Tensor => add(both(pos(s, removed)), both(neg(s, removed, 'exact')));
    const at: { s: Tensor } = { s: tensor(new Flat(theta).device, values, [side, side]) };
    r.set(await new Flat(at).read(() => grad(lost)(at)), first);
    const { matrix } = await hessian(lost, at);
    disposeTree(at);
    const width = side * side;
    for (let i = 0; i < width; i++) k.set(matrix.subarray(i * width, (i + 1) * width), (first + i) * size + first);
    first += width;
  }
  return { r, k };
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
 * Removes pairs: θ̂ + H⁻¹Jᵀ(I − K·JH⁻¹Jᵀ)⁻¹r, keeping the `rank` strongest directions of the lost curvature ΔH = JᵀKJ
 * relative to H. All of them give the Newton step with H₋ where S is linear in θ (its Gauss-Newton form elsewhere), none
 * gives the exact gradient's step.
 * @param seg the removed pairs, all in batches that were prepared
 * @param rank all directions unless told
 * @throws EcifError where ΔH takes away all of H in some direction
 */
export async function removeWoodbury<T>(
  prepared: BatchSolves<T>,
  given: Seg,
  rank = Infinity,
): Promise<WoodburyRemoval<T>> {
  const seg = normalSeg(given, Infinity);
  const missing = seg.find(({ batch }) => !prepared.batches.some((b) => b.batch === batch));
  if (missing !== undefined)
    throw new EcifError(`removeWoodbury: batch ${missing.batch} was not prepared; give it to prepareBatches`);
  if (!(rank >= 0)) throw new EcifError(`removeWoodbury: rank ${rank}; take a number ≥ 0`);
  const n = prepared.solved.length;
  const { r, k } = await lostOnSimilarities(prepared, seg);
  const { root } = prepared;
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
  const start = await flat.toVector(prepared.theta);
  const edited = prepared.solved.reduce((sum, x, i) => addScaled(sum, weights[i], x), start);
  const energy = (of: readonly number[]): number => of.reduce((total, e) => total + values[e] ** 2, 0);
  const all = energy([...values.keys()]);
  return { theta: flat.toTree(edited), rank: strongest.length, energy: all === 0 ? 1 : energy(strongest) / all };
}
