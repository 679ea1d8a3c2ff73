// Taps: the cotangent of a linear map's output and its input give the gradient of its matrix.

import { describe, expect, it } from 'vitest';
import { treeLeaves, treePaths } from '../src/array/tree.ts';
import * as ecif from '../src/index.ts';
import { pullTapped, tapCalls, tokens } from '../src/models/tap.ts';
import { bilinearStream, type Streamed, tinyClip, towerStream } from './support/streamed.ts';

const largest = (values: ArrayLike<number>): number => Math.max(...Array.from(values, Math.abs));

/** Largest difference from the gradient of every matrix, and how large the gradients are. */
async function gaps<T, B>({ loss: { model, partitions, batch }, theta }: Streamed<T, B>, crossed = false) {
  const pairs = await batch(partitions[0][0]);
  const expected = ecif.grad((t: T) => ecif.batchLoss(model, t, pairs))(theta);
  const { s, calls } = tapCalls(model, theta, pairs);
  const { value, pull } = pullTapped(model, theta, pairs, calls);
  // Without a tap the last layers of CLIP take sums in another order.
  expect(largest(await ecif.sub(value, ecif.similarities(model, theta, pairs)).data())).toBeLessThan(1e-13);
  expect(await s.data()).toEqual(await value.data());
  const { theta: whole, outputs } = pull(ecif.contrastiveGrad(s));
  const found: Record<string, ecif.Tensor> = {};
  calls.forEach(({ parameter, stored, x }, i) => {
    const g = tokens(outputs[i]);
    const made =
      (stored === 'out-in') === crossed ? ecif.matmul(x, g, { form: 'tn' }) : ecif.matmul(g, x, { form: 'tn' });
    found[parameter] = parameter in found ? ecif.add(found[parameter], made) : made;
  });
  const paths = treePaths(theta);
  const [leaves, pulled] = [expected, whole].map((tree) => treeLeaves<ecif.Tensor>(tree));
  const out: Record<string, { gap: number; size: number; shape: boolean }> = {};
  for (const [i, path] of paths.entries()) {
    const want = await leaves[i].data();
    expect(largest(await ecif.sub(pulled[i], leaves[i]).data())).toBeLessThan(1e-12);
    if (!(path in found)) continue;
    const got = await found[path].data();
    const shape = found[path].shape.join() === leaves[i].shape.join();
    out[path] = { gap: largest(Array.from(got, (v, k) => v - want[k])), size: largest(want), shape };
  }
  return out;
}

describe('Σ g·xᵀ over tokens is the gradient of the matrix', () => {
  it('bilinear', async () => {
    const { w } = await gaps(bilinearStream());
    expect(w.size).toBeGreaterThan(0.1);
    expect(w.gap).toBeLessThan(1e-13);
  });

  it('two towers under a trained temperature, which has no linear map', async () => {
    const found = await gaps(towerStream());
    expect(Object.keys(found)).toEqual(['tower.image', 'tower.text']);
    for (const { gap, size } of Object.values(found)) {
      expect(size).toBeGreaterThan(0.1);
      expect(gap).toBeLessThan(1e-13);
    }
  });

  it.each(['whole', 'rest'] as const)('every matrix of LoRA, CLIP %s', async (which) => {
    const { whole, rest } = tinyClip();
    const found = await (which === 'whole' ? gaps(whole) : gaps(rest));
    expect(Object.keys(found)).toEqual(treePaths(whole.theta));
    for (const { gap, size, shape } of Object.values(found)) {
      expect(shape).toBe(true);
      expect(size).toBeGreaterThan(1e-4);
      expect(gap).toBeLessThan(1e-12);
    }
  });

  it('a matrix read the other way round does not fit', async () => {
    expect((await gaps(bilinearStream(), true)).w.shape).toBe(false);
  });
});

it('a tap that returns y leaves the embeddings as they are', async () => {
  const { loss, theta } = tinyClip().rest;
  const pairs = await loss.batch(loss.partitions[0][0]);
  const plain = loss.model.embed(theta, pairs);
  const seen: string[] = [];
  const tapped = loss.model.embed(theta, pairs, (parameter, _x, y) => {
    seen.push(parameter);
    return y;
  });
  expect(seen).toHaveLength(Object.keys(theta).length);
  const gap = async (a: ecif.Tensor, b: ecif.Tensor): Promise<number> => largest(await ecif.sub(a, b).data());
  expect(await gap(plain.u, tapped.u)).toBeLessThan(1e-14);
  expect(await gap(plain.v, tapped.v)).toBeLessThan(1e-14);
});
