// The bilinear problem in plain float64 loops, with closed-form derivatives: an independent second opinion on src/ecif.

import { EcifError } from '../array/errors.ts';
import { addScaled, dot, norm } from '../array/vector.ts';
import type { NegForm } from '../ecif/terms.ts';
import { cholesky, choleskySolve } from '../linalg/cholesky.ts';

type Vector = Float64Array;
type Rows = readonly (readonly number[])[];

/** Weights of one batch: of each anchor's loss, and of each candidate e^{S_kj} within it; 1 everywhere is the plain loss. */
export interface Weights {
  /** Anchor k of rows (T2I) and of columns (I2T). */
  anchor(k: number): number;
  /** Candidate j of anchor k. */
  candidate(k: number, j: number): number;
}

const PLAIN: Weights = { anchor: () => 1, candidate: () => 1 };

/** Which of the two directions count. */
export type Direction = 'both' | 't2i' | 'i2t';

/** Derivatives wanted: none, the gradient, the Hessian too. */
export type Order = 0 | 1 | 2;

/** Value, gradient and Hessian (row-major) of a function of W; the last two empty or zero where not wanted. */
export interface Quadratic {
  readonly value: number;
  readonly gradient: Vector;
  readonly hessian: Vector;
}

/** Pairs as features: row k of both belongs to pair k. */
export interface PlainPairs {
  readonly text: Rows;
  readonly image: Rows;
}

/** S_ij = x_iᵀ·W·y_j/τ. */
export function similarity({ text, image }: PlainPairs, w: Vector, temperature: number): number[][] {
  const width = image[0].length;
  return text.map((x) =>
    image.map((y) => {
      let total = 0;
      for (let a = 0; a < x.length; a++) for (let b = 0; b < width; b++) total += x[a] * w[a * width + b] * y[b];
      return total / temperature;
    }),
  );
}

/** One anchor of a batch: the features z_j = ∂S_kj/∂W of its candidates one after the other, candidate k its own. */
interface Anchor {
  readonly k: number;
  readonly direction: 't2i' | 'i2t';
  readonly z: Vector;
}

/** One batch: S_kj = z_j·W for every anchor k, rows and columns. */
export interface PlainBatch {
  readonly count: number;
  readonly anchors: readonly Anchor[];
}

/** z_ij = x_i ⊗ y_j/τ for all i, j. */
export function plainBatch({ text, image }: PlainPairs, temperature: number): PlainBatch {
  const all = text.map((_, k) => k);
  const feature = (i: number, j: number): number[] =>
    text[i].flatMap((a) => image[j].map((b) => (a * b) / temperature));
  const anchors = (['t2i', 'i2t'] as const).flatMap((direction) =>
    all.map((k) => ({
      k,
      direction,
      z: Float64Array.from(all.flatMap((j) => (direction === 't2i' ? feature(k, j) : feature(j, k)))),
    })),
  );
  return { count: text.length, anchors };
}

/** z_j·W for every candidate. */
function logitsOf({ z }: Anchor, w: Vector): number[] {
  const out = new Array<number>(z.length / w.length).fill(0);
  for (let j = 0, at = 0; j < out.length; j++) for (let i = 0; i < w.length; i++, at++) out[j] += z[at] * w[i];
  return out;
}

/** Σ_j c_j·z_j into a vector. */
function addFeatures(into: Vector, c: readonly number[], z: Vector): void {
  for (let j = 0, at = 0; j < c.length; j++) for (let i = 0; i < into.length; i++, at++) into[i] += c[j] * z[at];
}

/** log Σ_j c_j·e^{s_j} and its weights, −∞ for no weight at all. */
function weighted(logits: readonly number[], c: readonly number[]): { value: number; shares: number[] } {
  const live = logits.filter((_, j) => c[j] !== 0);
  if (live.length === 0) return { value: -Infinity, shares: c.map(() => 0) };
  const top = Math.max(...live);
  const parts = logits.map((s, j) => (c[j] === 0 ? 0 : c[j] * Math.exp(s - top)));
  const all = parts.reduce((a, b) => a + b, 0);
  return { value: top + Math.log(all), shares: parts.map((x) => x / all) };
}

/** Adds c·v·vᵀ to the lower triangle of a row-major matrix, v being n entries of `z`. */
function addSquare(into: Vector, c: number, z: Vector, first: number, n: number): void {
  for (let p = 0; p < n; p++) {
    const x = c * z[first + p];
    for (let q = 0, at = p * n; q <= p; q++, at++) into[at] += x * z[first + q];
  }
}

/** Copies the lower triangle of a row-major matrix to the upper one. */
function mirror(a: Vector, n: number): void {
  for (let p = 0; p < n; p++) for (let q = 0; q < p; q++) a[q * n + p] = a[p * n + q];
}

/**
 * Σ_k a_k·[log Σ_j c_kj·e^{S_kj} − S_kk] over rows, columns or both, with its derivatives in W.
 * @param order 0 for the value alone, 1 with the gradient, 2 with the Hessian
 */
export function batchTerms(
  batch: PlainBatch,
  w: Vector,
  weights: Weights = PLAIN,
  direction: Direction = 'both',
  order: Order = 2,
): Quadratic {
  const size = w.length;
  let value = 0;
  const gradient = new Float64Array(size);
  const hessian = new Float64Array(order === 2 ? size * size : 0);
  for (const anchor of batch.anchors) {
    const { k, z } = anchor;
    const a = weights.anchor(k);
    if (a === 0 || (direction !== 'both' && direction !== anchor.direction)) continue;
    const logits = logitsOf(anchor, w);
    const { value: lse, shares } = weighted(
      logits,
      logits.map((_, j) => weights.candidate(k, j)),
    );
    value += a * (lse - logits[k]);
    if (order === 0) continue;
    const mean = new Float64Array(size);
    addFeatures(mean, shares, z);
    for (let i = 0; i < size; i++) gradient[i] += a * (mean[i] - z[k * size + i]);
    if (order === 1) continue;
    shares.forEach((share, j) => addSquare(hessian, a * share, z, j * size, size));
    addSquare(hessian, -a, mean, 0, size);
  }
  mirror(hessian, order === 2 ? size : 0);
  return { value, gradient, hessian };
}

/** How Neg depends on P: its derivative, form by form. */
const NEG_SLOPE: Record<NegForm, (p: number) => number> = {
  corrected: () => 1,
  published: (p) => -1 / p ** 2,
  exact: (p) => 1 / (1 - p),
};

/** ∇Neg in W: Σ over the kept of Neg'(P_k)·P_k·(mean feature of the removed − mean feature of all), both directions. */
export function negGradient(batch: PlainBatch, w: Vector, removed: (k: number) => boolean, form: NegForm): Vector {
  const out = new Float64Array(w.length);
  for (const anchor of batch.anchors) {
    if (removed(anchor.k)) continue;
    const logits = logitsOf(anchor, w);
    const { shares } = weighted(
      logits,
      logits.map(() => 1),
    );
    const share = shares.reduce((t, p, j) => (removed(j) ? t + p : t), 0);
    if (share === 0) continue;
    const slope = NEG_SLOPE[form](share);
    const weights = shares.map((p, j) => slope * p * ((removed(j) ? 1 : 0) - share));
    addFeatures(out, weights, anchor.z);
  }
  return out;
}

/** Features of every log-sum-exp term over the kept. */
export function keptFeatures({ count, anchors }: PlainBatch, removed: (k: number) => boolean): Vector[][] {
  const size = anchors[0].z.length / count;
  const kept = Array.from({ length: count }, (_, j) => j).filter((j) => !removed(j));
  return anchors.filter(({ k }) => !removed(k)).map(({ z }) => kept.map((j) => z.subarray(j * size, (j + 1) * size)));
}

/** A function with as many derivatives as are asked for; two unless told. */
export type Smooth = (w: Vector, order?: Order) => Quadratic;

const zeros = (n: number): Vector => new Float64Array(n);

/** Adds functions, each times a factor. */
export const weightedSum =
  (parts: readonly (readonly [number, Smooth])[]): Smooth =>
  (w, order = 2) => {
    const values = parts.map(([c, f]) => [c, f(w, order)] as const);
    return {
      value: values.reduce((t, [c, q]) => t + c * q.value, 0),
      gradient: values.reduce((t, [c, q]) => addScaled(t, c, q.gradient), zeros(w.length)),
      hessian: values.reduce((t, [c, q]) => addScaled(t, c, q.hessian), zeros(order === 2 ? w.length ** 2 : 0)),
    };
  };

/** δ/2·‖W‖². */
export const decayOf =
  (delta: number): Smooth =>
  (w, order = 2) => {
    const hessian = zeros(order === 2 ? w.length ** 2 : 0);
    for (let i = 0; i < hessian.length; i += w.length + 1) hessian[i] = delta;
    return { value: (delta / 2) * dot(w, w), gradient: addScaled(zeros(w.length), delta, w), hessian };
  };

/**
 * Minimises a strongly convex function by Newton's method with backtracking.
 * @throws EcifError where it does not converge
 */
export function plainMinimum(f: Smooth, start: Vector, tolerance = 1e-12): Vector {
  let w = start;
  let at = f(w, 1);
  for (let iteration = 0; iteration < 200; iteration++) {
    if (norm(at.gradient) <= tolerance * Math.max(1, Math.abs(at.value))) return w;
    const step = choleskySolve(cholesky(f(w).hessian, w.length), at.gradient);
    let t = 1;
    for (;;) {
      const to = addScaled(w, -t, step);
      const there = f(to, 1);
      const enough = there.value <= at.value - 1e-4 * t * dot(at.gradient, step);
      if (enough || norm(there.gradient) < norm(at.gradient)) {
        [w, at] = [to, there];
        break;
      }
      t /= 2;
      if (t < 1e-12) return w;
    }
  }
  throw new EcifError(`plainMinimum: gradient ${norm(at.gradient)} after 200 steps; is the function convex?`);
}

/** d/dt f(t) at 0 by central differences of fourth order, for vectors. */
export function derivative(f: (t: number) => Vector, h: number): Vector {
  const [a, b, c, d] = [f(-2 * h), f(-h), f(h), f(2 * h)];
  return a.map((x, i) => (x - 8 * b[i] + 8 * c[i] - d[i]) / (12 * h));
}

/** ∇f(x) by central differences of fourth order. */
export function numericGradient(f: (x: Vector) => number, x: Vector, h = 1e-3): Vector {
  return x.map((_, i) => {
    const at = (t: number): Vector => Float64Array.of(f(x.map((v, j) => (j === i ? v + t : v))));
    return derivative(at, h)[0];
  });
}
