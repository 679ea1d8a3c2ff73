// How far an edited model can be from the retrained one: bounds before the edit, certificates after it. For models whose
// similarities are linear in the parameters; there F, the loss after true removal, is δ-strongly convex.

import { EcifError } from '../array/errors.ts';
import { createRng } from '../array/rng.ts';
import { addScaled, distance, dot, norm } from '../array/vector.ts';
import { hessian } from '../autodiff/curvature.ts';
import { Flat } from '../autodiff/flat.ts';
import { sub } from '../autodiff/ops/binary.ts';
import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import { type Cholesky, cholesky, choleskySolve } from '../linalg/cholesky.ts';
import { symmetricEigen } from '../linalg/symmetric-eigen.ts';
import { negOf } from './influence.ts';
import { type Model, similarities } from '../models/model.ts';
import { type Problem, totalLoss } from './objective.ts';
import { lossWithout } from './removal.ts';
import { normalSeg, type Seg } from './seg.ts';
import { tangentsOf, unitTangents } from './sweep.ts';

type Vector = Float64Array;

/** Bounds on ‖θ* − θ̃‖ for ECIF with the corrected Neg, θ* being retraining. */
export interface PriorBounds {
  /** C/(2δ)·‖A⁻¹g‖² + ‖(A⁻¹ − B⁻¹)g‖ + ‖B⁻¹e‖. */
  readonly lipschitz: number;
  /** λ/√a·ψ(ρ)/(1 − ρ) in place of the first term; null where ρ ≥ 1. */
  readonly selfConcordant: number | null;
}

/** Bounds on ‖θ* − θ̃‖ at any candidate θ̃, from F there alone. */
export interface Certificates {
  /** ‖∇F‖/δ, always. */
  readonly p1: number;
  /** −log(1 − ρ)/(M·√a); null where ρ ≥ 1. */
  readonly p2: number | null;
  /** ‖A⁻¹∇F‖ + λ/√a·ψ(ρ)/(1 − ρ); null where ρ ≥ 1. */
  readonly p3: number | null;
}

/** ψ(r) = (eʳ − 1 − r)/r. */
const psi = (r: number): number => (r < 1e-4 ? r / 2 + (r * r) / 6 : (Math.expm1(r) - r) / r);

/**
 * The features of each log-sum-exp term that is left, batch by batch: z_kj = ∂S_kj/∂θ over the candidates j of k, row k
 * and then column k.
 */
export async function termFeatures<T, B>({ model, batches }: Problem<T, B>, theta: T, seg: Seg): Promise<Vector[][][]> {
  const set = normalSeg(seg, batches.length);
  await requireLinear(model, theta, batches[0]);
  const units = unitTangents(theta);
  const terms: Vector[][][] = [];
  for (const [m, members] of batches.entries()) {
    const { s: columns } = await tangentsOf((t: T) => ({ s: similarities(model, t, members) }), theta, units);
    const size = Math.sqrt(columns[0].length);
    const feature = (k: number, j: number): Vector => Float64Array.from(columns, (c) => c[k * size + j]);
    const removed = set.find(({ batch }) => batch === m)?.positions ?? [];
    const kept = Array.from({ length: size }, (_, i) => i).filter((i) => !removed.includes(i));
    terms.push(kept.flatMap((k) => [kept.map((j) => feature(k, j)), kept.map((j) => feature(j, k))]));
  }
  disposeTree(units);
  return terms;
}

/**
 * Makes sure that S is linear in θ, as the bounds assume: it does not bend along a direction.
 * @throws EcifError where it is not
 */
async function requireLinear<T, B>(model: Model<T, B>, theta: T, batch: B): Promise<void> {
  const flat = new Flat(theta);
  const rng = createRng(1);
  const direction = Float64Array.from({ length: flat.size }, () => rng.normal());
  const start = await flat.toVector(theta);
  const at = async (t: number): Promise<Float64Array> => {
    const moved = flat.toTree(addScaled(start, t, direction));
    const s = scope(() => similarities(model, moved, batch));
    const values = Float64Array.from(await s.data());
    disposeTree([moved, s]);
    return values;
  };
  const [low, middle, high] = [await at(-1), await at(0), await at(1)];
  const bend = norm(addScaled(addScaled(low, 1, high), -2, middle));
  if (bend > 1e4 * flat.device.epsilon * (norm(low) + norm(middle) + norm(high))) {
    throw new EcifError(
      'bounds: the similarities are not linear in the parameters, and only then the bounds hold; use a model such as bilinear',
    );
  }
}

/** Largest distance within each term. */
export function diameters(terms: readonly (readonly Vector[])[]): number[] {
  return terms.map((term) => {
    let widest = 0;
    for (let i = 0; i < term.length; i++)
      for (let j = 0; j < i; j++) widest = Math.max(widest, distance(term[i], term[j]));
    return widest;
  });
}

/** Most that the Hessian of log-sum-exp over features of diameter d changes per unit of θ. */
export const lseLipschitz = (d: number): number => d ** 3 / (6 * Math.sqrt(3));

/** L⁻¹·v for A = L·Lᵀ, so that ‖L⁻¹v‖ = ‖v‖ in the norm of A⁻¹. */
function whiten({ lower, n }: Cholesky, v: Vector): Vector {
  const out = v.slice();
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) out[i] -= lower[i * n + j] * out[j];
    out[i] /= lower[i * n + i];
  }
  return out;
}

/** F, the loss after true removal, at one point. */
export interface LossAt {
  readonly gradient: Vector;
  /** Row-major. */
  readonly hessian: Vector;
  /** Features of each log-sum-exp term that is left, see {@link termFeatures}. */
  readonly terms: readonly (readonly Vector[])[];
}

/** What both kinds of bounds are made of. */
interface Local {
  readonly factor: Cholesky;
  /** λ_min of the Hessian. */
  readonly least: number;
  /** ‖∇F‖ in the norm of the inverse Hessian. */
  readonly decrement: number;
  /** Largest distance of two features of one term in that norm. */
  readonly width: number;
}

function localOf({ gradient, hessian: matrix, terms }: LossAt): Local {
  const factor = cholesky(matrix, gradient.length);
  const white = terms.map((term) => term.map((z) => whiten(factor, z)));
  return {
    factor,
    least: symmetricEigen(matrix, gradient.length).values[0],
    decrement: norm(whiten(factor, gradient)),
    width: Math.max(0, ...diameters(white)),
  };
}

async function lossAt<T, B>(
  problem: Problem<T, B>,
  theta: T,
  seg: Seg,
  terms: readonly (readonly Vector[])[],
): Promise<LossAt> {
  const f = lossWithout(problem, seg);
  return {
    gradient: await new Flat(theta).read(() => grad(f)(theta)),
    hessian: (await hessian(f, theta)).matrix,
    terms,
  };
}

/** λ/√a·ψ(ρ)/(1 − ρ) with ρ = M·λ: how far a Newton step is from the minimiser; null where ρ ≥ 1. */
function newtonGap({ decrement, least, width }: Local): number | null {
  const rho = width * decrement;
  if (rho >= 1) return null;
  return rho === 0 ? 0 : ((decrement / Math.sqrt(least)) * psi(rho)) / (1 - rho);
}

/**
 * Bounds on the error of ECIF from F at θ̂ alone.
 * @eq thm-error-bound
 * @eq erratum-05-sum-of-inverses
 * @param before Hessian of the total loss at θ̂
 * @param gap ∇Neg exact − ∇Neg corrected at θ̂
 * @param decay δ
 */
export function priorBoundsFrom(after: LossAt, before: Vector, gap: Vector, decay: number): PriorBounds {
  const local = localOf(after);
  const g = after.gradient.map((x) => -x);
  const factor = cholesky(before, g.length);
  const newton = choleskySolve(local.factor, g);
  const rest = distance(newton, choleskySolve(factor, g)) + norm(choleskySolve(factor, gap));
  const lipschitz = diameters(after.terms).reduce((sum, d) => sum + lseLipschitz(d), 0);
  const first = newtonGap(local);
  return {
    lipschitz: (lipschitz / (2 * decay)) * dot(newton, newton) + rest,
    selfConcordant: first === null ? null : first + rest,
  };
}

/**
 * Bounds on the error of ECIF (corrected Neg) that are known before the edit, for models whose S is linear in θ.
 * @eq thm-error-bound
 * @param theta the trained parameters θ̂, stationary
 */
export async function priorBounds<T, B>(problem: Problem<T, B>, theta: T, seg: Seg): Promise<PriorBounds> {
  const gap = (t: T): Tensor => sub(negOf(problem, seg, 'exact')(t), negOf(problem, seg, 'corrected')(t));
  return priorBoundsFrom(
    await lossAt(problem, theta, seg, (await termFeatures(problem, theta, seg)).flat()),
    (await hessian(totalLoss(problem), theta)).matrix,
    await new Flat(theta).read(() => grad(gap)(theta)),
    problem.decay,
  );
}

/**
 * Certificates from F at the edited model alone.
 * @eq thm-certificates
 * @param decay δ
 */
export function certificatesFrom(at: LossAt, decay: number): Certificates {
  const local = localOf(at);
  const rho = local.width * local.decrement;
  const gap = newtonGap(local);
  const p1 = norm(at.gradient) / decay;
  if (gap === null) return { p1, p2: null, p3: null };
  const root = Math.sqrt(local.least);
  return {
    p1,
    p2: local.width === 0 ? local.decrement / root : -Math.log1p(-rho) / (local.width * root),
    p3: norm(choleskySolve(local.factor, at.gradient)) + gap,
  };
}

/**
 * Certificates at an edited model whose S is linear in θ: no retraining is needed to know how far it can be from the
 * retrained one.
 * @throws EcifError for a model whose S is not linear in θ
 * @eq thm-certificates
 * @param theta any candidate θ̃
 * @example const { p3 } = await certificates(problem, edited, seg);
 */
export const certificates = async <T, B>(problem: Problem<T, B>, theta: T, seg: Seg): Promise<Certificates> =>
  (await certifierOf(problem, theta, seg))(theta);

/**
 * {@link certificates} for several edits of one removal: the features of a linear S are those of every θ, found once.
 * @param theta any parameters of the model
 */
export async function certifierOf<T, B>(
  problem: Problem<T, B>,
  theta: T,
  seg: Seg,
): Promise<(edited: T) => Promise<Certificates>> {
  const terms = (await termFeatures(problem, theta, seg)).flat();
  return async (edited) => certificatesFrom(await lossAt(problem, edited, seg, terms), problem.decay);
}
