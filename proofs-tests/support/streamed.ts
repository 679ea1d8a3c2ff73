// Small objectives over batches: bilinear, two towers with a trained temperature, a tiny CLIP with LoRA.

import { distance, norm } from '../../src/array/vector.ts';
import { Flat } from '../../src/autodiff/flat.ts';
import { CpuDevice } from '../../src/device/cpu.ts';
import { unitTangents } from '../../src/ecif/sweep.ts';
import * as ecif from '../../src/index.ts';
import { type ClipBatch, clipBatch, clipModel } from '../../src/models/clip/clip.ts';
import { type Adapter, adapterShapes, chooseLora } from '../../src/models/clip/lora.ts';
import { afterPrefix, type Prefix, prefixOf } from '../../src/models/clip/prefix.ts';
import { initClip } from '../../src/models/clip/weights-init.ts';
import { gaussNewtonProduct, type StreamedLoss } from '../../src/models/streamed.ts';
import { tinyConfig } from './clip-config.ts';

const device = new CpuDevice();

/** An objective and a point. */
export interface Streamed<T, B> {
  readonly loss: StreamedLoss<T, B>;
  readonly theta: T;
}

/** Normal numbers times `spread`. */
function normalTensor(rng: ecif.Rng, shape: readonly number[], spread = 1, on: ecif.Device = device): ecif.Tensor {
  const size = shape.reduce((a, b) => a * b, 1);
  return ecif.tensor(
    on,
    Float64Array.from({ length: size }, () => spread * rng.normal()),
    shape,
  );
}

/** Batches of rows of features that stay, copied for every use. */
const featureBatches =
  (text: Float64Array, image: Float64Array, sizes: { text: number; image: number }, on: ecif.Device = device) =>
  (rows: Uint32Array): Promise<ecif.PairBatch> => {
    const part = (of: Float64Array, width: number): ecif.Tensor =>
      ecif.tensor(on, Float64Array.from([...rows].flatMap((row) => [...of.subarray(row * width, (row + 1) * width)])), [
        rows.length,
        width,
      ]);
    return Promise.resolve({ text: part(text, sizes.text), image: part(image, sizes.image) });
  };

const rows = (...all: number[][]): Uint32Array[] => all.map((one) => Uint32Array.from(one));

/** Two partitions of eight pairs. */
const PARTITIONS = [rows([0, 1, 2, 3, 4], [5, 6, 7]), rows([7, 2, 4, 0], [1, 3, 5, 6])];

/** Features of eight pairs, each image related to its text. */
function features(seed: number, sizes: { text: number; image: number }, on?: ecif.Device) {
  const rng = ecif.createRng(seed);
  const text = Float64Array.from({ length: 8 * sizes.text }, () => rng.normal());
  const image = Float64Array.from(
    { length: 8 * sizes.image },
    (_, i) =>
      0.7 * rng.normal() + text[Math.floor(i / sizes.image) * sizes.text + (i % Math.min(sizes.text, sizes.image))],
  );
  return featureBatches(text, image, sizes, on);
}

/** S = X·W·Yᵀ/τ over two partitions: 12 parameters, convex. */
export function bilinearStream(seed = 1, l2 = 0.3, on?: ecif.Device): Streamed<ecif.Bilinear, ecif.PairBatch> {
  const sizes = { text: 3, image: 4 };
  const theta = { w: normalTensor(ecif.createRng(seed + 100), [3, 4], 0.3, on) };
  return { loss: { model: ecif.bilinear(0.8), partitions: PARTITIONS, batch: features(seed, sizes, on), l2 }, theta };
}

/** The bilinear model at W = 0 on one batch of given features. */
export function oneBatch(
  text: Float64Array,
  image: Float64Array,
  sizes: { pairs: number; text: number; image: number },
  l2: number,
): Streamed<ecif.Bilinear, ecif.PairBatch> {
  const partitions = [[Uint32Array.from({ length: sizes.pairs }, (_, i) => i)]];
  const loss = { model: ecif.bilinear(1), partitions, batch: featureBatches(text, image, sizes), l2 };
  return { loss, theta: { w: ecif.zeros(device, [sizes.text, sizes.image]) } };
}

/** Two linear towers under a cosine, the temperature trained: 13 parameters, one without a linear map. */
export function towerStream(seed = 1, l2 = 0.5): Streamed<ecif.WithTemperature<ecif.LinearTwoTower>, ecif.PairBatch> {
  const sizes = { text: 3, image: 3, shared: 2 };
  const model = ecif.trainedTemperature(ecif.linearTwoTower(1));
  const tower = ecif.initLinearTwoTower(device, ecif.createRng(seed + 100), sizes);
  const theta = { tower, logScale: ecif.logScale(device, 0.5) };
  return { loss: { model, partitions: PARTITIONS, batch: features(seed, sizes), l2 }, theta };
}

const config = tinyConfig({ projection: 5, logitScale: 1, layers: 2, act: 'gelu', channels: 1, vocabulary: 20 });

/** A CLIP of a few hundred parameters, its last layers adapted at rank 2, whole and after its frozen layers. */
export function tinyClip(l2 = 0.1): { whole: Streamed<Adapter, ClipBatch>; rest: Streamed<Adapter, Prefix> } {
  const rng = ecif.createRng(5);
  const lora = chooseLora(config, {
    rank: 2,
    alpha: 4,
    targets: ['q_proj', 'fc1', 'fc2'],
    layers: { text: [1], vision: [1] },
  });
  const model = clipModel(initClip(config, device, rng), lora);
  const theta = Object.fromEntries(
    [...adapterShapes(config, lora)].map(([name, shape]) => [name, normalTensor(rng, shape, 0.5)]),
  );
  const ids = Array.from({ length: 8 }, (_, k) => [1 + k, 9 - k, 19]);
  const pixels = Float64Array.from({ length: 8 * 64 }, () => rng.normal());
  const batch = (of: Uint32Array): Promise<ClipBatch> =>
    Promise.resolve(
      clipBatch(
        config,
        device,
        Array.from(of, (row) => ids[row]),
        Float64Array.from([...of].flatMap((row) => [...pixels.subarray(row * 64, (row + 1) * 64)])),
      ),
    );
  const base = { partitions: PARTITIONS, l2 };
  return {
    whole: { loss: { ...base, model, batch }, theta },
    rest: {
      loss: { ...base, model: afterPrefix(model), batch: async (of) => prefixOf(model, await batch(of)) },
      theta,
    },
  };
}

/** The Gauss-Newton or Hessian matrix of an objective, δ included, column by column. */
export async function denseCurvature<T, B>(
  { loss, theta }: Streamed<T, B>,
  product: typeof gaussNewtonProduct = gaussNewtonProduct,
): Promise<{ size: number; matrix: Float64Array }> {
  const flat = new Flat(theta);
  const matrix = new Float64Array(flat.size ** 2);
  for (const [i, unit] of unitTangents(theta).entries()) {
    matrix.set(await flat.toVector(await product(loss)(theta, unit)), i * flat.size);
  }
  return { size: flat.size, matrix };
}

/** ‖a − b‖/‖b‖. */
export const gapOf = (a: Float64Array, b: Float64Array): number => distance(a, b) / norm(b);
