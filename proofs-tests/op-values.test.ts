// Values of ops against numbers from elsewhere: tables, definitions spelt out, and other routes to the same result.

import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { relativeError } from './support/op-checks.ts';
import { readFlat } from './support/random-graph.ts';

type Tensor = ecif.Tensor;
const device = new CpuDevice();
const rng = ecif.createRng(9);
const normal = (...shape: number[]): Tensor =>
  ecif.tensor(
    device,
    Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => rng.normal()),
    shape,
  );
const list = async (x: Tensor): Promise<number[]> => [...(await x.data())];

describe('functions', () => {
  // Abramowitz & Stegun, table 7.1, and the standard normal distribution.
  it.each([
    [0.1, 0.1124629160182849],
    [0.5, 0.5204998778130465],
    [1, 0.8427007929497149],
    [2, 0.9953222650189527],
    [2.6, 0.9997639655834707],
    [4, 0.9999999845827421],
    [-1.5, -0.9661051464753108],
  ])('erf(%f)', async (x, expected) => {
    expect(await ecif.erf(ecif.tensor(device, [x])).item()).toBeCloseTo(expected, 14);
  });

  it.each([
    ['gelu', ecif.gelu, 1, 0.8413447460685429],
    ['gelu', ecif.gelu, -2, -2 * 0.0227501319481792],
    ['quickGelu', ecif.quickGelu, 1, 1 / (1 + Math.exp(-1.702))],
    ['sigmoid', ecif.sigmoid, -800, 0],
    ['sigmoid', ecif.sigmoid, Math.log(3), 0.75],
    ['log1p', ecif.log1p, 1e-18, 1e-18],
    ['expm1', ecif.expm1, 1e-18, 1e-18],
    ['rsqrt', ecif.rsqrt, 4, 0.5],
    ['relu', ecif.relu, -3, 0],
    ['sign', ecif.sign, -3, -1],
  ] as const)('%s', async (_name, f, x, expected) => {
    expect(await f(ecif.tensor(device, [x])).item()).toBeCloseTo(expected, 14);
  });
});

describe('rows', () => {
  it('softmax of logarithms is the ratio of their arguments', async () => {
    expect(await list(ecif.softmax(ecif.tensor(device, [[Math.log(1), Math.log(3), Math.log(4)]])))).toEqual([
      expect.closeTo(1 / 8, 14),
      expect.closeTo(3 / 8, 14),
      expect.closeTo(4 / 8, 14),
    ]);
  });

  it('softmax and logSumExp stay finite for large entries', async () => {
    const x = ecif.tensor(device, [
      [1000, 1000],
      [-1000, 0],
    ]);
    expect(await list(ecif.softmax(x))).toEqual([0.5, 0.5, 0, 1]);
    expect(await list(ecif.logSumExp(x, 1))).toEqual([1000 + Math.log(2), 0]);
  });

  it('layerNorm of 1, 2, 3 by hand', async () => {
    const [one, zero] = [ecif.full(device, [3], 1), ecif.zeros(device, [3])];
    const r = 1 / Math.sqrt(2 / 3 + 1e-5);
    const [a, b, c] = await list(ecif.layerNorm(ecif.tensor(device, [[1, 2, 3]]), one, zero));
    expect([a, b, c]).toEqual([expect.closeTo(-r, 14), 0, expect.closeTo(r, 14)]);
  });

  it('l2Normalize of 3, 4', async () => {
    const [a, b] = await list(ecif.l2Normalize(ecif.tensor(device, [[3, 4]])));
    expect([a, b]).toEqual([expect.closeTo(0.6, 12), expect.closeTo(0.8, 12)]);
  });

  it('topk and argmax take the lower index first', async () => {
    const x = ecif.tensor(device, [[2, 5, 5, 1]]);
    expect(await list(ecif.topk(x, 3).indices)).toEqual([1, 2, 0]);
    expect(await list(ecif.topk(x, 3).values)).toEqual([5, 5, 2]);
    expect(await list(ecif.argmax(x))).toEqual([1]);
  });
});

describe('matrices', () => {
  it('the three forms agree through transposition', async () => {
    const [a, b] = [normal(3, 4), normal(4, 5)];
    const expected = await readFlat([ecif.matmul(a, b)]);
    const [row, column] = [Float64Array.from(await a.data()), Float64Array.from(await b.data())];
    const byHand = Float64Array.from({ length: 15 }, (_, i) =>
      [0, 1, 2, 3].reduce((s, k) => s + row[Math.floor(i / 5) * 4 + k] * column[k * 5 + (i % 5)], 0),
    );
    expect(relativeError(expected, byHand)).toBeLessThan(1e-14);
    expect(relativeError(await readFlat([ecif.matmul(a, ecif.permute(b), { form: 'nt' })]), expected)).toBeLessThan(
      1e-14,
    );
    expect(relativeError(await readFlat([ecif.matmul(ecif.permute(a), b, { form: 'tn' })]), expected)).toBeLessThan(
      1e-14,
    );
  });

  it('linear with a low-rank term equals the merged weight', async () => {
    const [x, w, bias, a, b] = [normal(2, 3, 6), normal(5, 6), normal(5), normal(2, 6), normal(5, 2)];
    const merged = ecif.add(w, ecif.mul(ecif.matmul(b, a), 0.7));
    const expected = ecif.linear(x, merged, { bias, act: 'gelu' });
    const actual = ecif.linear(x, w, { bias, act: 'gelu', lora: { a, b, scale: 0.7 } });
    expect(actual.shape).toEqual([2, 3, 5]);
    expect(relativeError(await readFlat([actual]), await readFlat([expected]))).toBeLessThan(1e-14);
  });

  it('patchEmbed is a strided convolution', async () => {
    const [x, kernels, bias] = [normal(2, 3, 4, 6), normal(5, 3, 2, 2), normal(5)];
    const [xs, ks, bs] = (await ecif.readAll([x, kernels, bias])).map((v) => Float64Array.from(v));
    const expected: number[] = [];
    for (let b = 0; b < 2; b++) {
      for (let i = 0; i < 2; i++) {
        for (let j = 0; j < 3; j++) {
          for (let d = 0; d < 5; d++) {
            let total = bs[d];
            for (let c = 0; c < 3; c++) {
              for (let p = 0; p < 2; p++) {
                for (let q = 0; q < 2; q++) {
                  total += ks[((d * 3 + c) * 2 + p) * 2 + q] * xs[((b * 3 + c) * 4 + 2 * i + p) * 6 + 2 * j + q];
                }
              }
            }
            expected.push(total);
          }
        }
      }
    }
    const y = ecif.patchEmbed(x, kernels, bias);
    expect(y.shape).toEqual([2, 6, 5]);
    expect(relativeError(await readFlat([y]), Float64Array.from(expected))).toBeLessThan(1e-14);
  });

  it('attention with one key returns its value, and a causal first row sees only the first', async () => {
    const [q, v] = [normal(4, 3), normal(1, 2)];
    const single = await list(ecif.attention(q, normal(1, 3), v));
    const [v0, v1] = await list(v);
    expect(single).toEqual([v0, v1, v0, v1, v0, v1, v0, v1]);
    const values = normal(4, 3);
    const first = (await list(ecif.attention(q, normal(4, 3), values, { causal: true }))).slice(0, 3);
    expect(first).toEqual((await list(values)).slice(0, 3));
  });
});

describe('the contrastive loss', () => {
  it('is its definition, both directions summed', async () => {
    const s = normal(4, 4);
    const v = await list(s);
    let expected = 0;
    for (let k = 0; k < 4; k++) {
      const row = [0, 1, 2, 3].map((j) => Math.exp(v[4 * k + j])).reduce((a, b) => a + b);
      const column = [0, 1, 2, 3].map((j) => Math.exp(v[4 * j + k])).reduce((a, b) => a + b);
      expected += Math.log(row) + Math.log(column) - 2 * v[5 * k];
    }
    expect(await ecif.contrastive(s).item()).toBeCloseTo(expected, 12);
  });

  it('is 0 for a batch of one and 2·B·log B when all are alike', async () => {
    expect(await ecif.contrastive(normal(1, 1)).item()).toBeCloseTo(0, 14);
    expect(await ecif.contrastive(ecif.full(device, [8, 8], 3)).item()).toBeCloseTo(16 * Math.log(8), 12);
  });
});

describe('indexing and layout', () => {
  it('gather, scatterAdd, take', async () => {
    const table = ecif.tensor(device, [
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    const index = ecif.tensor(device, [2, 0, 2], [3], 'int');
    expect(await list(ecif.gather(table, index))).toEqual([5, 6, 1, 2, 5, 6]);
    expect(await list(ecif.scatterAdd(ecif.gather(table, index), index, 3))).toEqual([1, 2, 0, 0, 10, 12]);
    expect(await list(ecif.take(table, ecif.tensor(device, [[1], [0], [1]], [3, 1], 'int')))).toEqual([2, 3, 6]);
  });

  it('stack, concat, slice, pad, permute, where', async () => {
    const [a, b] = [ecif.tensor(device, [1, 2]), ecif.tensor(device, [3, 4])];
    expect(await list(ecif.stack([a, b], 1))).toEqual([1, 3, 2, 4]);
    expect(await list(ecif.stack([a, b], -1))).toEqual([1, 3, 2, 4]);
    expect(ecif.stack([a, b], -2).shape).toEqual([2, 2]);
    expect(await list(ecif.concat([a, b]))).toEqual([1, 2, 3, 4]);
    const m = ecif.tensor(device, [
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(await list(ecif.slice(m, [0, 1], [2, 2]))).toEqual([2, 3, 5, 6]);
    expect(await list(ecif.pad(a, [1], [4]))).toEqual([0, 1, 2, 0]);
    expect(await list(ecif.permute(m))).toEqual([1, 4, 2, 5, 3, 6]);
    expect(await list(ecif.where(ecif.tensor(device, [1, 0]), a, b))).toEqual([1, 4]);
    expect(await list(ecif.maximum(a, 1.5))).toEqual([1.5, 2]);
    expect(await list(ecif.minimum(1.5, a))).toEqual([1, 1.5]);
    expect(await list(ecif.div(6, a))).toEqual([6, 3]);
  });

  it('reductions over any axes', async () => {
    const x = ecif.tensor(device, [
      [
        [1, 2],
        [3, 4],
      ],
      [
        [5, 6],
        [7, 8],
      ],
    ]);
    expect(await list(ecif.sum(x, [0, 2]))).toEqual([14, 22]);
    expect(await list(ecif.mean(x, 1))).toEqual([2, 3, 6, 7]);
    expect(await list(ecif.max(x, [-1, 0]))).toEqual([6, 8]);
    expect(ecif.sum(x, 1, { keepDims: true }).shape).toEqual([2, 1, 2]);
    expect(await ecif.sum(x).item()).toBe(36);
  });
});
