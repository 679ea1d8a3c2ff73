// The CLIP model: pooling, causality, activations, temperature, weights from files, merged adapters.

import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { bytesSource } from '../src/models/clip/byte-source.ts';
import { type Clip, type ClipBatch, clipBatch, clipModel, textBatch } from '../src/models/clip/clip.ts';
import type { ClipConfig } from '../src/models/clip/config.ts';
import { parseClipConfig } from '../src/models/clip/config-parse.ts';
import { openClipFolder, type OpenClipFolder } from '../src/models/clip/conformance.node.ts';
import { loadAdapter, type PlacedAdapter } from '../src/models/clip/lora-peft.ts';
import {
  openSafetensors,
  type Safetensors,
  type TensorToWrite,
  writeSafetensors,
} from '../src/models/clip/safetensors.ts';
import { poolPosition } from '../src/models/clip/text.ts';
import { clipTensors, disposeClip, loadClip, mergeClip } from '../src/models/clip/weights.ts';
import { relativeError } from './support/op-checks.ts';

const device = new CpuDevice();
let folder: OpenClipFolder;
let config: ClipConfig;
let clip: Clip;
let adapter: PlacedAdapter;
let batch: ClipBatch;

beforeAll(async () => {
  folder = await openClipFolder(fileURLToPath(new URL('./vectors/clip-1', import.meta.url)));
  config = parseClipConfig('config.json', folder.config);
  clip = await loadClip(config, folder.model, device);
  const { rank, alpha, ids, pixels } = folder.vectors;
  adapter = await loadAdapter(config, { rank, alpha, scaling: 'rank', dropout: 0 }, folder.lora, device);
  batch = clipBatch(config, device, ids, pixels);
});

const read = async (x: ecif.Tensor): Promise<Float64Array> => Float64Array.from(await x.data());
const EQUAL = 1e-13;

/** Embeddings of texts by the model as it is, under another configuration perhaps. */
const embedded = (
  rows: readonly number[][],
  text: Partial<ClipConfig['text']> = {},
  length?: number,
): Promise<Float64Array> => {
  const other = { ...config, text: { ...config.text, ...text } };
  const { pixels } = batch;
  const texts = textBatch(other, device, rows, length);
  return read(clipModel({ ...clip, config: other }).embed({}, { text: texts, pixels }).u);
};

describe('pooling', () => {
  const text = [94, 8, 42, 95, 13, 95, 95];

  it('is at the first end-of-text token', () => {
    expect(poolPosition({ pool: 'first-eos', eos: 95 }, text)).toBe(3);
    expect(poolPosition({ pool: 'first-eos', eos: 42 }, text)).toBe(2);
    expect(poolPosition({ pool: 'largest-id', eos: 2 }, [1, 9, 3, 9])).toBe(1);
    expect(() => poolPosition({ pool: 'first-eos', eos: 7 }, text)).toThrow('no end-of-text token 7 among 7 ids');
  });

  it('nothing after it matters, everything before it does', async () => {
    const base = await embedded([text]);
    expect(relativeError(await embedded([[94, 8, 42, 95, 77, 12, 3, 95]]), base)).toBeLessThan(EQUAL);
    for (const other of [
      [93, 8, 42, 95],
      [94, 9, 42, 95],
      [94, 8, 41, 95],
    ]) {
      expect(relativeError(await embedded([other]), base)).toBeGreaterThan(1e-3);
    }
  });

  it('a text cut at the end of the longest equals the whole text', async () => {
    const rows = [text, [94, 95]];
    expect(textBatch(config, device, rows).ids.shape).toEqual([2, 4]);
    expect(textBatch(config, device, rows, 12).ids.shape).toEqual([2, 12]);
    expect(relativeError(await embedded(rows, {}, 12), await embedded(rows))).toBeLessThan(EQUAL);
  });

  it('eos 2 pools at the largest id, as older configurations mean it', async () => {
    const row = [94, 8, 42, 95, 13, 95];
    const largest = { eos: 2, pool: 'largest-id' } as const;
    expect(await embedded([row], largest)).toEqual(await embedded([row]));
    // Control: with an end-of-text token that is not the largest id the two differ.
    const early = await embedded([row], { eos: 42 });
    expect(relativeError(await embedded([row], { ...largest }), early)).toBeGreaterThan(1e-3);
  });

  it.each<[string, number[], string]>([
    ['an id outside of the vocabulary', [94, 96, 95], 'text 0 has token 96; give ids in 0…95'],
    ['a fraction', [94, 1.5, 95], 'text 0 has token 1.5'],
    ['a text that is too long', new Array<number>(13).fill(95), 'text 0 has 13 tokens, the model takes 12'],
    ['a text without end', [94, 3], 'no end-of-text token 95'],
    ['an empty text', [], 'no end-of-text token 95'],
  ])('refuses %s', (_what, row, message) => {
    expect(() => textBatch(config, device, [row])).toThrow(message);
  });

  it('refuses images of another number', () => {
    expect(() => clipBatch(config, device, [[95]], new Float32Array(5))).toThrow(
      '5 pixel values for 1 texts; give [1,3,32,32]',
    );
  });
});

it('gelu and quick_gelu are two models', async () => {
  const rows = folder.vectors.ids.map((row) => [...row]);
  const difference = relativeError(await embedded(rows, { act: 'gelu' }), await embedded(rows));
  expect(difference).toBeGreaterThan(1e-4);
  expect(relativeError(await embedded(rows, { act: 'quickGelu' }), await embedded(rows))).toBe(0);
});

it('embeddings are of unit length', async () => {
  const { u, v } = clipModel(clip).embed({}, batch);
  for (const x of [u, v]) {
    const rows = await read(ecif.sum(ecif.square(x), 1));
    rows.forEach((length) => expect(Math.abs(length - 1)).toBeLessThan(1e-12));
  }
});

describe('temperature', () => {
  const logits = (theta: Record<string, ecif.Tensor>): ecif.Tensor =>
    ecif.similarities(clipModel(clip, adapter.lora), theta, batch);

  it('is frozen without logit_scale among the parameters, and trained with it', async () => {
    const { theta } = adapter;
    const warm = { ...theta, logit_scale: ecif.tensor(device, [clip.logitScale], []) };
    expect(clipModel(clip).scale({})).toBe(Math.exp(clip.logitScale));
    expect(relativeError(await read(logits(warm)), await read(logits(theta)))).toBeLessThan(EQUAL);
    const hot = { ...theta, logit_scale: ecif.tensor(device, [clip.logitScale + 1], []) };
    expect(
      relativeError(
        await read(logits(hot)),
        (await read(logits(theta))).map((x) => x * Math.E),
      ),
    ).toBeLessThan(EQUAL);
    const loss = (t: typeof warm): ecif.Tensor => ecif.contrastive(logits(t));
    await ecif.checkGrads(loss, warm, { directions: 1 });
    expect(await ecif.grad(loss)(warm).logit_scale.item()).not.toBe(0);
  });
});

describe('weights', () => {
  const copyOf = async (change: (tensors: TensorToWrite[]) => TensorToWrite[]): Promise<Safetensors> => {
    const all = await Promise.all(
      [...folder.model.tensors.values()].map(async ({ name, shape }) => ({
        name,
        shape,
        values: await folder.model.values(name),
      })),
    );
    return openSafetensors(bytesSource('copy.safetensors', writeSafetensors(change(all))));
  };
  const odd = 'vision_model.encoder.layers.1.mlp.fc2.weight';

  it('a missing or misshapen tensor is named with its file, and nothing is left on the device', async () => {
    const empty = new CpuDevice();
    const missing = await copyOf((all) => all.filter(({ name }) => name !== odd));
    await expect(loadClip(config, missing, empty)).rejects.toThrow(new RegExp(`copy.safetensors: .*${odd}`));
    const turned = await copyOf((all) => all.map((t) => (t.name === odd ? { ...t, shape: t.shape.toReversed() } : t)));
    await expect(loadClip(config, turned, empty)).rejects.toThrow(
      new RegExp(`copy.safetensors: .*${odd}.*\\[64, 32\\].*\\[32, 64\\]`),
    );
    expect(empty.memory().live).toBe(0);
  });

  it('tensors that are no part of the model are left out', async () => {
    const more = await copyOf((all) => [
      ...all,
      { name: 'text_model.embeddings.position_ids', shape: [1], values: [0] },
    ]);
    const other = await loadClip(config, more, device);
    expect([...other.tensors.keys()]).toEqual([...clip.tensors.keys()]);
    disposeClip(other);
  });

  it('come back as they were read', async () => {
    const named = [...clipTensors(clip)];
    expect(named.map(({ name }) => name).toSorted()).toEqual([...folder.model.tensors.keys()].toSorted());
    for (const { name, shape, values } of named) {
      expect(shape).toEqual(folder.model.tensors.get(name)?.shape);
      expect(Float64Array.from(await values())).toEqual(Float64Array.from(await folder.model.values(name)));
    }
  });
});

describe('a merged model', () => {
  it('embeds as the adapted one', async () => {
    const { lora, theta } = adapter;
    const merged = await mergeClip(clip, lora, theta);
    const [a, b] = [clipModel(merged).embed({}, batch), clipModel(clip, lora).embed(theta, batch)];
    expect(relativeError(await read(a.u), await read(b.u))).toBeLessThan(1e-12);
    expect(relativeError(await read(a.v), await read(b.v))).toBeLessThan(1e-12);
    // Controls: the bare model and another scaling embed otherwise.
    const bare = clipModel(clip).embed({}, batch);
    const root = clipModel(await mergeClip(clip, { ...lora, scaling: 'root' }, theta)).embed({}, batch);
    for (const other of [bare, root]) expect(relativeError(await read(other.v), await read(b.v))).toBeGreaterThan(1e-3);
  });

  it('is the same model once written and read, to float32', async () => {
    const { lora, theta } = adapter;
    const warm = { ...theta, logit_scale: ecif.tensor(device, [1.25], []) };
    const merged = await mergeClip(clip, lora, warm);
    const written = await Promise.all(
      [...clipTensors(merged)].map(async ({ name, shape, values }) => ({ name, shape, values: await values() })),
    );
    const again = await loadClip(config, await openSafetensors(bytesSource('m', writeSafetensors(written))), device);
    const [a, b] = [clipModel(again).embed({}, batch), clipModel(merged).embed({}, batch)];
    expect(relativeError(await read(a.u), await read(b.u))).toBeLessThan(1e-6);
    expect(again.logitScale).toBe(1.25);
  });
});

it('a parameter that is not there is named', () => {
  const { lora, theta } = adapter;
  const [first, ...rest] = Object.entries(theta);
  expect(() => clipModel(clip, lora).embed(Object.fromEntries(rest), batch)).toThrow(
    `${first[0]} is not among the parameters`,
  );
});
