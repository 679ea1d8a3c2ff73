// Test matrices with a known spectrum, naive references, a space that counts and poisons, and smooth test problems.
import { createRng } from '../../src/array/rng.ts';
import { float64Space, type Objective, type Space } from '../../src/linalg/index.ts';

export function normals(seed: number, n: number): Float64Array {
  const rng = createRng(seed);
  return Float64Array.from({ length: n }, () => rng.normal());
}

/** Textbook triple loop, written apart from src/linalg. */
export function naiveProduct(a: Float64Array, b: Float64Array, n: number, k = n, m = n): Float64Array {
  const out = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let l = 0; l < k; l++) sum += a[i * k + l] * b[l * m + j];
      out[i * m + j] = sum;
    }
  }
  return out;
}

export const times = (a: Float64Array, x: Float64Array): Float64Array => naiveProduct(a, x, x.length, x.length, 1);

export const flip = (a: Float64Array, n: number): Float64Array =>
  Float64Array.from(a, (_, at) => a[(at % n) * n + Math.floor(at / n)]);

export const norm = (x: Float64Array): number => Math.hypot(...x);

export const minus = (a: Float64Array, b: Float64Array): Float64Array => a.map((x, i) => x - b[i]);

export const maxAbs = (a: Float64Array): number => a.reduce((m, x) => Math.max(m, Math.abs(x)), 0);

/** ‖b − Ax‖/‖b‖. */
export const relativeResidual = (a: Float64Array, x: Float64Array, b: Float64Array): number =>
  norm(minus(b, times(a, x))) / norm(b);

/** Random orthogonal matrix, rows orthonormal (Gram–Schmidt, twice). */
export function orthogonal(seed: number, n: number): Float64Array {
  const q = normals(seed, n * n);
  for (let i = 0; i < n; i++) {
    const row = q.subarray(i * n, (i + 1) * n);
    for (let pass = 0; pass < 2; pass++) {
      for (let k = 0; k < i; k++) {
        const other = q.subarray(k * n, (k + 1) * n);
        const c = row.reduce((sum, x, j) => sum + x * other[j], 0);
        row.forEach((x, j) => (row[j] = x - c * other[j]));
      }
    }
    const length = norm(row);
    row.forEach((x, j) => (row[j] = x / length));
  }
  return q;
}

/** Exactly symmetric Qᵀ·diag(values)·Q. */
export function withSpectrum(seed: number, values: readonly number[]): Float64Array {
  const n = values.length;
  const q = orthogonal(seed, n);
  const scaled = Float64Array.from(q, (x, at) => x * values[Math.floor(at / n)]);
  const a = naiveProduct(flip(q, n), scaled, n);
  return Float64Array.from(a, (_, at) => (a[at] + a[(at % n) * n + Math.floor(at / n)]) / 2);
}

/** Float64 space that counts live vectors and waits, poisons what is released, and refuses to release strangers. */
export interface CountingSpace extends Space<Float64Array> {
  readonly live: Set<Float64Array>;
  readonly counts: { peak: number; combines: number; waits: number };
  /** Registers a vector made by a test's own operator. */
  made(v: Float64Array): Float64Array;
}

export function countingSpace(): CountingSpace {
  const live = new Set<Float64Array>();
  const counts = { peak: 0, combines: 0, waits: 0 };
  const made = (v: Float64Array): Float64Array => {
    live.add(v);
    counts.peak = Math.max(counts.peak, live.size);
    return v;
  };
  return {
    live,
    counts,
    made,
    async dots(pairs) {
      counts.waits++;
      return float64Space.dots(pairs);
    },
    combine(coeffs, vectors) {
      counts.combines++;
      return made(float64Space.combine(coeffs, vectors));
    },
    zeros: (like) => made(float64Space.zeros(like)),
    release(...vectors) {
      for (const v of vectors) {
        if (!live.delete(v)) throw new Error('released twice, or a vector of the caller');
        v.fill(NaN);
      }
    },
  };
}

/** A smooth problem with Hessian, and its gradient written a second time in another way. */
export interface Problem {
  start: Float64Array;
  objective: Objective<Float64Array>;
  hessian(x: Float64Array): Float64Array;
  independentGradient(x: Float64Array): Float64Array;
}

/** Ridge logistic regression: Σ log(1 + e^{−y·xᵀθ}) + δ/2·‖θ‖²; gradient by matrix form and, apart, by tanh. */
export function logistic(seed: number, samples: number, n: number, delta: number): Problem {
  const x = normals(seed, samples * n);
  const y = normals(seed + 1, samples).map((v) => (v > 0 ? 1 : -1));
  const margins = (theta: Float64Array) => naiveProduct(x, theta, samples, n, 1).map((m, i) => m * y[i]);
  const log1pExp = (v: number) => Math.max(v, 0) + Math.log1p(Math.exp(-Math.abs(v)));
  return {
    start: new Float64Array(n),
    objective(theta) {
      const m = margins(theta);
      const weights = m.map((v, i) => -y[i] / (1 + Math.exp(v)));
      const gradient = naiveProduct(weights, x, 1, samples, n).map((g, i) => g + delta * theta[i]);
      const ridge = (delta / 2) * theta.reduce((sum, t) => sum + t * t, 0);
      return { value: m.reduce((sum, v) => sum + log1pExp(-v), ridge), gradient };
    },
    hessian(theta) {
      const h = new Float64Array(n * n);
      margins(theta).forEach((v, s) => {
        const weight = 1 / ((1 + Math.exp(v)) * (1 + Math.exp(-v)));
        for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) h[i * n + j] += weight * x[s * n + i] * x[s * n + j];
      });
      for (let i = 0; i < n; i++) h[i * n + i] += delta;
      return h;
    },
    independentGradient: (theta) =>
      Float64Array.from({ length: n }, (_, j) => {
        let sum = delta * theta[j];
        for (let s = 0; s < samples; s++) {
          let z = 0;
          for (let i = 0; i < n; i++) z += x[s * n + i] * theta[i];
          sum += (0.5 * Math.tanh(z / 2) + 0.5 - (y[s] + 1) / 2) * x[s * n + j];
        }
        return sum;
      }),
  };
}

/** Ridge softmax regression, classes×features weights; gradient by residuals and, apart, by shifted exponentials. */
export function softmaxRegression(
  seed: number,
  samples: number,
  features: number,
  classes: number,
  delta: number,
): Problem {
  const x = normals(seed, samples * features);
  const label = Array.from(normals(seed + 1, samples), (v) => Math.abs(Math.round(v * 10)) % classes);
  const n = classes * features;
  const row = (s: number) => x.subarray(s * features, (s + 1) * features);
  const scores = (theta: Float64Array, s: number) => naiveProduct(theta, row(s), classes, features, 1);
  const lse = (v: Float64Array) => {
    const top = Math.max(...v);
    return top + Math.log(v.reduce((sum, e) => sum + Math.exp(e - top), 0));
  };
  return {
    start: new Float64Array(n),
    objective(theta) {
      let value = (delta / 2) * theta.reduce((sum, t) => sum + t * t, 0);
      const gradient = theta.map((t) => delta * t);
      for (let s = 0; s < samples; s++) {
        const z = scores(theta, s);
        const total = lse(z);
        value += total - z[label[s]];
        z.forEach((e, c) => {
          const residual = Math.exp(e - total) - (c === label[s] ? 1 : 0);
          row(s).forEach((f, j) => (gradient[c * features + j] += residual * f));
        });
      }
      return { value, gradient };
    },
    hessian(theta) {
      const h = new Float64Array(n * n);
      for (let s = 0; s < samples; s++) {
        const z = scores(theta, s);
        const total = lse(z);
        const p = z.map((e) => Math.exp(e - total));
        for (let a = 0; a < n; a++) {
          for (let b = 0; b < n; b++) {
            const [ca, cb] = [Math.floor(a / features), Math.floor(b / features)];
            const w = (ca === cb ? p[ca] : 0) - p[ca] * p[cb];
            h[a * n + b] += w * x[s * features + (a % features)] * x[s * features + (b % features)];
          }
        }
      }
      for (let i = 0; i < n; i++) h[i * n + i] += delta;
      return h;
    },
    independentGradient: (theta) =>
      Float64Array.from({ length: n }, (_, at) => {
        const [c, j] = [Math.floor(at / features), at % features];
        let sum = delta * theta[at];
        for (let s = 0; s < samples; s++) {
          const z = scores(theta, s);
          const p = 1 / z.reduce((total, e) => total + Math.exp(e - z[c]), 0);
          sum += (p - (label[s] === c ? 1 : 0)) * x[s * features + j];
        }
        return sum;
      }),
  };
}

/** Rosenbrock's valley Σ 100(x_{i+1} − x_i²)² + (1 − x_i)², minimum at (1,…,1). */
export function rosenbrock(n: number): Problem {
  return {
    start: Float64Array.from({ length: n }, (_, i) => (i % 2 === 0 ? -1.2 : 1)),
    objective(x) {
      let value = 0;
      const gradient = new Float64Array(n);
      for (let i = 0; i + 1 < n; i++) {
        const [u, v] = [x[i + 1] - x[i] * x[i], 1 - x[i]];
        value += 100 * u * u + v * v;
        gradient[i] += -400 * u * x[i] - 2 * v;
        gradient[i + 1] += 200 * u;
      }
      return { value, gradient };
    },
    hessian(x) {
      const h = new Float64Array(n * n);
      for (let i = 0; i + 1 < n; i++) {
        h[i * n + i] += 1200 * x[i] * x[i] - 400 * x[i + 1] + 2;
        h[i * n + i + 1] -= 400 * x[i];
        h[(i + 1) * n + i] -= 400 * x[i];
        h[(i + 1) * n + i + 1] += 200;
      }
      return h;
    },
    independentGradient: (x) =>
      x.map((xi, i) => {
        const right = i + 1 < n ? 400 * xi ** 3 - 400 * xi * x[i + 1] + 2 * xi - 2 : 0;
        return right + (i > 0 ? 200 * xi - 200 * x[i - 1] ** 2 : 0);
      }),
  };
}

/** ½xᵀAx − bᵀx. */
export function quadratic(a: Float64Array, b: Float64Array): Problem {
  return {
    start: new Float64Array(b.length),
    objective(x) {
      const ax = times(a, x);
      const value = x.reduce((sum, xi, i) => sum + xi * (0.5 * ax[i] - b[i]), 0);
      return { value, gradient: minus(ax, b) };
    },
    hessian: () => a,
    independentGradient: (x) => b.map((bi, i) => x.reduce((sum, xj, j) => sum + a[j * b.length + i] * xj, -bi)),
  };
}
