// The one-parameter counterexample of the error bound, in scalar arithmetic: x = (1, −1, 1), y = (1, −1, −1), τ = 1.

type Scalar = (w: number) => number;

const [X, Y, DELTA] = [[1, -1, 1], [1, -1, -1], 1e-3];

const lse = (v: readonly number[]): number => Math.log(v.reduce((t, x) => t + Math.exp(x), 0));
const sum = (v: readonly number[]): number => v.reduce((a, b) => a + b, 0);

/** Logits of anchor k among some pairs, by row and by column. */
const logits = (ids: readonly number[], k: number, w: number): number[][] => [
  ids.map((j) => X[k] * w * Y[j]),
  ids.map((j) => X[j] * w * Y[k]),
];

const anchor = (ids: readonly number[], k: number, w: number): number =>
  sum(logits(ids, k, w).map((v) => lse(v) - X[k] * w * Y[k]));

const over =
  (ids: readonly number[]): Scalar =>
  (w) =>
    sum(ids.map((k) => anchor(ids, k, w))) + (DELTA / 2) * w * w;

const ALL = [0, 1, 2];

/** L_Total, the loss without the third pair, and Pos and Neg (corrected) of it. */
export const total = over(ALL);
export const without = over([0, 1]);
export const lost: Scalar = (w) =>
  anchor(ALL, 2, w) + sum([0, 1].flatMap((k) => logits(ALL, k, w).map((v) => Math.exp(v[2] - lse(v)))));
export const surrogate: Scalar = (w) => total(w) - lost(w);

/** First and second derivatives by central differences. */
export const first = (f: Scalar, w: number, h = 1e-4): number =>
  (f(w - 2 * h) - 8 * f(w - h) + 8 * f(w + h) - f(w + 2 * h)) / (12 * h);
export const second = (f: Scalar, w: number, h = 1e-3): number => (f(w + h) - 2 * f(w) + f(w - h)) / h ** 2;

/** The minimiser in 0…8, where f falls and then rises: a bisection of its slope. */
export function minimiser(f: Scalar): number {
  let [low, high] = [0, 8];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (first(f, middle) < 0) low = middle;
    else high = middle;
  }
  return low;
}
