// The frozen prefix: values, gradient and Hessian product from cached activations equal those of the whole model.

import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { type ClipBatch, clipBatch, clipModel } from '../src/models/clip/clip.ts';
import { type Adapter, adapterShapes, chooseLora, type LoraSettings } from '../src/models/clip/lora.ts';
import { afterPrefix, joinPrefixes, prefixOf, prefixRows } from '../src/models/clip/prefix.ts';
import { initClip } from '../src/models/clip/weights-init.ts';
import { readFlat } from './support/random-graph.ts';
import { tinyConfig } from './support/clip-config.ts';

const device = new CpuDevice();
const config = tinyConfig({ projection: 5, logitScale: 1, layers: 3, act: 'gelu', channels: 1, vocabulary: 20 });
const clip = initClip(config, device, ecif.createRng(1));
const LENGTH = 5;

function pairs(ids: number[][], seed: number): ClipBatch {
  const rng = ecif.createRng(seed);
  return clipBatch(
    config,
    device,
    ids,
    Float64Array.from({ length: ids.length * 64 }, () => rng.normal()),
    LENGTH,
  );
}

const batch = pairs(
  [
    [1, 4, 19],
    [1, 7, 3, 19, 19],
    [2, 19],
    [5, 6, 19],
  ],
  2,
);

function adapterOf(settings: Partial<LoraSettings>, seed = 3) {
  const lora = chooseLora(config, { rank: 2, alpha: 4, targets: ['q_proj', 'out_proj', 'fc2'], ...settings });
  const rng = ecif.createRng(seed);
  const draw = (): Adapter =>
    Object.fromEntries(
      [...adapterShapes(config, lora)].map(([name, shape]) => [
        name,
        ecif.tensor(
          device,
          Float64Array.from({ length: shape[0] * shape[1] }, () => 0.5 * rng.normal()),
          shape,
        ),
      ]),
    );
  return { lora, theta: draw(), direction: draw() };
}

const flat = (tree: Adapter): Promise<Float64Array> => readFlat(Object.values(tree));

describe.each<[string, NonNullable<LoraSettings['layers']>, [number[], number[]]]>([
  [
    'all layers',
    {},
    [
      [4, 5, 8],
      [4, 5, 8],
    ],
  ],
  [
    'the last layer of both',
    { vision: [2], text: [2] },
    [
      [4, 5, 8],
      [4, 5, 8],
    ],
  ],
  [
    'middle and last of the images',
    { vision: [1, 2], text: [] },
    [
      [4, 5, 8],
      [4, 5],
    ],
  ],
  [
    'the first of the texts',
    { vision: [], text: [0] },
    [
      [4, 5],
      [4, 5, 8],
    ],
  ],
])('adapting %s', (_what, layers, [imageShape, textShape]) => {
  const { lora, theta, direction } = adapterOf({ layers });
  const model = clipModel(clip, lora);
  const cached = prefixOf(model, batch);
  const rest = afterPrefix(model);
  const whole = (t: Adapter): ecif.Tensor => ecif.batchLoss(model, t, batch);
  const short = (t: Adapter): ecif.Tensor => ecif.batchLoss(rest, t, cached);

  it('caches tokens of adapted towers, embeddings of others', () => {
    expect(cached.image.shape).toEqual(imageShape);
    expect(cached.text.shape).toEqual(textShape);
  });

  it('has equal embeddings, loss, gradient and Hessian product', async () => {
    const [a, b] = [rest.embed(theta, cached), model.embed(theta, batch)];
    expect(await a.u.data()).toEqual(await b.u.data());
    expect(await a.v.data()).toEqual(await b.v.data());
    expect(await short(theta).item()).toBe(await whole(theta).item());
    expect(await flat(ecif.grad(short)(theta))).toEqual(await flat(ecif.grad(whole)(theta)));
    const hv = await flat(ecif.hvp(short, theta, direction));
    expect(hv).toEqual(await flat(ecif.hvp(whole, theta, direction)));
    expect(Math.max(...hv.map(Math.abs))).toBeGreaterThan(1e-3);
  });

  it('does not depend on the adapter', async () => {
    const other = adapterOf({ layers }, 9);
    const again = ecif.batchLoss(rest, other.theta, cached);
    expect(await again.item()).toBe(await whole(other.theta).item());
    expect(await again.item()).not.toBe(await whole(theta).item());
  });
});

it('a prefix of another choice of layers gives other numbers', async () => {
  const { lora, theta } = adapterOf({ layers: { vision: [1], text: [1] } });
  const deeper = clipModel(clip, adapterOf({ layers: { vision: [2], text: [2] } }).lora);
  const model = clipModel(clip, lora);
  const wrong = ecif.batchLoss(afterPrefix(model), theta, prefixOf(deeper, batch));
  expect(Math.abs((await wrong.item()) - (await ecif.batchLoss(model, theta, batch).item()))).toBeGreaterThan(1e-3);
});

it('rows of joined prefixes are the pairs they came from', async () => {
  const { lora, theta } = adapterOf({ layers: { vision: [1], text: [2] } });
  const model = clipModel(clip, lora);
  const more = pairs(
    [
      [3, 3, 3, 3, 19],
      [9, 19],
    ],
    5,
  );
  const joined = joinPrefixes([prefixOf(model, batch), prefixOf(model, more)]);
  expect(joined.image.shape).toEqual([6, 5, 8]);
  const picked = afterPrefix(model).embed(theta, prefixRows(joined, [4, 1]));
  const [a, b] = [model.embed(theta, batch), model.embed(theta, more)];
  const rows = async (x: ecif.Tensor, k: number): Promise<number[]> => [...(await x.data())].slice(5 * k, 5 * k + 5);
  expect(await rows(picked.u, 0)).toEqual(await rows(b.u, 0));
  expect(await rows(picked.u, 1)).toEqual(await rows(a.u, 1));
  expect(await rows(picked.v, 0)).toEqual(await rows(b.v, 0));
  expect(await rows(picked.v, 1)).not.toEqual(await rows(a.v, 0));
});

it('a prefix leaves nothing else on the device', () => {
  const model = clipModel(clip, adapterOf({ layers: { vision: [2], text: [] } }).lora);
  const before = device.memory().live;
  const cached = prefixOf(model, batch);
  expect(device.memory().live - before).toBe(8 * (cached.text.size + cached.image.size));
  ecif.disposeTree(cached);
  expect(device.memory().live).toBe(before);
});
