// Small problems by hand: similarities as the parameters themselves, values and gradients of terms on S, medians.

import { CpuDevice } from '../../src/device/cpu.ts';
import * as ecif from '../../src/index.ts';

export const cpu = new CpuDevice();

type Rows = readonly (readonly number[])[];

export const matrix = (rows: Rows): ecif.Tensor =>
  ecif.tensor(
    cpu,
    rows.map((row) => [...row]),
  );

const identity = (n: number): number[][] =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (__, j) => (i === j ? 1 : 0)));

/** Pairs with one-hot features: under `bilinear(1)` the parameter W is S itself. */
export const oneHotBatch = (n: number): ecif.PairBatch => ({ text: matrix(identity(n)), image: matrix(identity(n)) });

/** Both directions of a term. */
export const both = ({ t2i, i2t }: ecif.Directions): ecif.Tensor => ecif.add(t2i, i2t);

/** A term's value at S. */
export const valueAt = (term: (s: ecif.Tensor) => ecif.Tensor, s: Rows): Promise<number> =>
  ecif.scope(() => term(matrix(s))).item();

/** A term's gradient in S, row by row. */
export const gradientAt = async (term: (s: ecif.Tensor) => ecif.Tensor, s: Rows): Promise<Float64Array> =>
  Float64Array.from(
    await ecif
      .grad(({ w }: { w: ecif.Tensor }) => term(w))({ w: matrix(s) })
      .w.data(),
  );

/** log(1 + eˣ), without overflow. */
export const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Exponent k of the power law y ~ xᵏ that fits best. */
export function slope(x: readonly number[], y: readonly number[]): number {
  const [u, v] = [x.map(Math.log), y.map(Math.log)];
  const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;
  const [mu, mv] = [mean(u), mean(v)];
  return u.reduce((t, a, i) => t + (a - mu) * (v[i] - mv), 0) / u.reduce((t, a) => t + (a - mu) ** 2, 0);
}
