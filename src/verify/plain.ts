// The bilinear problem in plain float64 loops, with closed-form derivatives: an independent second opinion on src/ecif.

import { EcifError } from '../array/errors.ts';
import { addScaled, dot, norm } from '../array/vector.ts';
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

/** Value, gradient and Hessian (row-major) of a function of W. */
export interface Quadratic {
  readonly value: number;
  readonly gradient: Vector;
  readonly hessian: Vector;
}

/** One batch of pairs: row k of both belongs to pair k. */
export interface PlainBatch {
  readonly text: Rows;
  readonly image: Rows;
}

/** S_ij = x_iᵀ·W·y_j/τ. */
export function similarity({ text, image }: PlainBatch, w: Vector, temperature: number): number[][] {
  const width = image[0].length;
  return text.map((x) =>
    image.map((y) => {
      let total = 0;
      for (let a = 0; a < x.length; a++) for (let b = 0; b < width; b++) total += x[a] * w[a * width + b] * y[b];
      return total / temperature;
    }),
  );
}

/** ∂S_ij/∂W, flattened: x_i ⊗ y_j/τ. */
const feature = ({ text, image }: PlainBatch, i: number, j: number, temperature: number): Vector =>
  Float64Array.from(text[i].flatMap((a) => image[j].map((b) => (a * b) / temperature)));

/** log Σ_j c_j·e^{s_j} and its weights, −∞ for no weight at all. */
function weighted(logits: readonly number[], c: readonly number[]): { value: number; shares: number[] } {
  const live = logits.filter((_, j) => c[j] !== 0);
  if (live.length === 0) return { value: -Infinity, shares: c.map(() => 0) };
  const top = Math.max(...live);
  const parts = logits.map((s, j) => (c[j] === 0 ? 0 : c[j] * Math.exp(s - top)));
  const all = parts.reduce((a, b) => a + b, 0);
  return { value: top + Math.log(all), shares: parts.map((x) => x / all) };
}

/**
 * Σ_k a_k·[log Σ_j c_kj·e^{S_kj} − S_kk] over rows, columns or both, with its derivatives in W.
 * @param order 0 for the value alone, 1 with the gradient, 2 with the Hessian
 */
export function batchTerms(
  batch: PlainBatch,
  w: Vector,
  temperature: number,
  weights: Weights = PLAIN,
  direction: Direction = 'both',
  order: 0 | 1 | 2 = 2,
): Quadratic {
  const s = similarity(batch, w, temperature);
  const n = s.length;
  const size = w.length;
  let value = 0;
  const gradient = new Float64Array(size);
  const hessian = new Float64Array(order === 2 ? size * size : 0);
  const one = (k: number, at: (j: number) => number, z: (j: number) => Vector): void => {
    const a = weights.anchor(k);
    if (a === 0) return;
    const all = Array.from({ length: n }, (_, j) => j);
    const { value: lse, shares } = weighted(
      all.map(at),
      all.map((j) => weights.candidate(k, j)),
    );
    value += a * (lse - at(k));
    if (order === 0) return;
    const features = all.map(z);
    const mean = new Float64Array(size);
    features.forEach((f, j) => f.forEach((x, i) => (mean[i] += shares[j] * x)));
    for (let i = 0; i < size; i++) gradient[i] += a * (mean[i] - features[k][i]);
    if (order === 1) return;
    features.forEach((f, j) => {
      for (let p = 0; p < size; p++)
        for (let q = 0; q < size; q++) hessian[p * size + q] += a * shares[j] * (f[p] - mean[p]) * (f[q] - mean[q]);
    });
  };
  for (let k = 0; k < n; k++) {
    if (direction !== 'i2t')
      one(
        k,
        (j) => s[k][j],
        (j) => feature(batch, k, j, temperature),
      );
    if (direction !== 't2i')
      one(
        k,
        (j) => s[j][k],
        (j) => feature(batch, j, k, temperature),
      );
  }
  return { value, gradient, hessian };
}

/** A function with derivatives. */
export type Smooth = (w: Vector) => Quadratic;

const zeros = (n: number): Vector => new Float64Array(n);

/** Adds functions, each times a factor. */
export const weightedSum =
  (parts: readonly (readonly [number, Smooth])[]): Smooth =>
  (w) => {
    const values = parts.map(([c, f]) => [c, f(w)] as const);
    return {
      value: values.reduce((t, [c, q]) => t + c * q.value, 0),
      gradient: values.reduce((t, [c, q]) => addScaled(t, c, q.gradient), zeros(w.length)),
      hessian: values.reduce((t, [c, q]) => addScaled(t, c, q.hessian), zeros(w.length ** 2)),
    };
  };

/** δ/2·‖W‖². */
export const decayOf =
  (delta: number): Smooth =>
  (w) => ({
    value: (delta / 2) * dot(w, w),
    gradient: w.map((x) => delta * x),
    hessian: Float64Array.from({ length: w.length ** 2 }, (_, i) => (i % (w.length + 1) === 0 ? delta : 0)),
  });

/**
 * Minimises a strongly convex function by Newton's method with backtracking.
 * @throws EcifError where it does not converge
 */
export function plainMinimum(f: Smooth, start: Vector, tolerance = 1e-12): Vector {
  let w = start;
  let at = f(w);
  for (let iteration = 0; iteration < 200; iteration++) {
    if (norm(at.gradient) <= tolerance * Math.max(1, Math.abs(at.value))) return w;
    const step = choleskySolve(cholesky(at.hessian, w.length), at.gradient);
    let t = 1;
    for (;;) {
      const to = addScaled(w, -t, step);
      const there = f(to);
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
