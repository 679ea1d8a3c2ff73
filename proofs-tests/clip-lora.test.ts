// LoRA on CLIP: derivatives against finite differences over targets, layers and towers; drawing, dropout, PEFT files.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { bytesSource } from '../src/models/clip/byte-source.ts';
import { clipBatch, clipModel } from '../src/models/clip/clip.ts';
import type { ClipConfig } from '../src/models/clip/config.ts';
import {
  type Adapter,
  adaptedDense,
  adapterShapes,
  chooseLora,
  firstAdapted,
  initLora,
  LORA_TARGETS,
  type LoraSettings,
  loraScale,
} from '../src/models/clip/lora.ts';
import { adapterTensors, loadAdapter, parsePeftConfig, peftConfig } from '../src/models/clip/lora-peft.ts';
import { openSafetensors, type TensorToWrite, writeSafetensors } from '../src/models/clip/safetensors.ts';
import { initClip } from '../src/models/clip/weights-init.ts';

const device = new CpuDevice();
const tower = { width: 8, layers: 2, heads: 2, inner: 12, eps: 1e-5 } as const;
const config: ClipConfig = {
  projection: 5,
  logitScale: 1,
  vision: { ...tower, act: 'quickGelu', imageSize: 8, patchSize: 4, channels: 2 },
  text: { ...tower, act: 'gelu', vocabulary: 20, positions: 6, eos: 19, pool: 'first-eos' },
};
const clip = initClip(config, device, ecif.createRng(1));
const ids = [
  [1, 4, 19],
  [1, 7, 3, 19, 19],
  [2, 19],
];
const rng = ecif.createRng(2);
const batch = clipBatch(
  config,
  device,
  ids,
  Float64Array.from({ length: 3 * 2 * 64 }, () => rng.normal()),
);

/** Parameters none of which is zero. */
function drawn(shapes: ReadonlyMap<string, readonly number[]>, seed: number): Adapter {
  const next = ecif.createRng(seed);
  const draw = ([rows, columns]: readonly number[]): Float64Array =>
    Float64Array.from({ length: rows * columns }, () => Math.fround(0.5 * next.normal()));
  return Object.fromEntries([...shapes].map(([name, shape]) => [name, ecif.tensor(device, draw(shape), shape)]));
}

/** Any choice of targets, layers and towers that adapts something. */
const settings: fc.Arbitrary<LoraSettings> = fc
  .record({
    rank: fc.integer({ min: 1, max: 3 }),
    alpha: fc.constantFrom(1, 4, 6.5),
    targets: fc.subarray([...LORA_TARGETS], { minLength: 1 }),
    layers: fc.record({ vision: fc.subarray([0, 1]), text: fc.subarray([0, 1]) }),
    scaling: fc.constantFrom('rank' as const, 'root' as const),
  })
  .filter(({ layers }) => layers.vision.length + layers.text.length > 0);

describe('derivatives', () => {
  it('gradient and Hessian product equal finite differences, whatever is adapted', async () => {
    await fc.assert(
      fc.asyncProperty(settings, fc.nat(1000), async (choice, seed) => {
        const lora = chooseLora(config, choice);
        const theta = drawn(adapterShapes(config, lora), seed);
        const model = clipModel(clip, lora);
        const loss = (t: Adapter): ecif.Tensor => ecif.batchLoss(model, t, batch);
        await ecif.checkGrads(loss, theta, { directions: 1, seed });
      }),
      { numRuns: 25 },
    );
  });

  it.each(LORA_TARGETS)('a gradient that leaves out %s is caught', async (target) => {
    const lora = chooseLora(config, { rank: 2, alpha: 4, targets: [target] });
    const model = clipModel(clip, lora);
    const theta = drawn(adapterShapes(config, lora), 3);
    const [odd] = Object.keys(theta).filter((name) => name.includes('layers.1'));
    const wrong = (t: Adapter): ecif.Tensor => ecif.batchLoss(model, { ...t, [odd]: ecif.stopGradient(t[odd]) }, batch);
    await expect(ecif.checkGrads(wrong, theta, { directions: 1 })).rejects.toThrow('checkGrads: jvp');
    await ecif.checkGrads((t: Adapter) => ecif.batchLoss(model, t, batch), theta, { directions: 1 });
  });

  it('every adapted tensor has a gradient', async () => {
    const lora = chooseLora(config, { rank: 2, alpha: 4, targets: LORA_TARGETS });
    const g = ecif.grad((t: Adapter) => ecif.batchLoss(clipModel(clip, lora), t, batch))(
      drawn(adapterShapes(config, lora), 4),
    );
    expect(Object.keys(g)).toHaveLength(2 * 6 * 4);
    for (const leaf of Object.values(g)) expect(Math.max(...(await leaf.data()).map(Math.abs))).toBeGreaterThan(1e-9);
  });
});

describe('choosing', () => {
  const base = { rank: 2, alpha: 4, targets: ['q_proj'] } as const;

  it('takes all layers of both towers unless told', () => {
    expect(chooseLora(config, base).modules).toEqual(
      ['text', 'vision'].flatMap((t) => [0, 1].map((i) => `${t}_model.encoder.layers.${i}.self_attn.q_proj`)),
    );
    const some = chooseLora(config, { ...base, targets: ['fc1'], layers: { vision: [1], text: [] } });
    expect(some.modules).toEqual(['vision_model.encoder.layers.1.mlp.fc1']);
    expect([firstAdapted(config, some, 'vision'), firstAdapted(config, some, 'text')]).toEqual([1, 2]);
  });

  it('scales by alpha/rank or alpha/√rank', () => {
    expect(loraScale({ rank: 4, alpha: 8, scaling: 'rank' })).toBe(2);
    expect(loraScale({ rank: 4, alpha: 8, scaling: 'root' })).toBe(4);
  });

  it.each<[string, object, string]>([
    ['rank 0', { rank: 0 }, 'lora: rank: found 0; give a whole number in 1…8'],
    ['rank 9', { rank: 9 }, 'lora: rank: found 9'],
    ['alpha 0', { alpha: 0 }, 'lora: alpha: found 0'],
    ['dropout 1', { dropout: 1 }, 'lora: dropout: found 1; give a share'],
    ['an unknown target', { targets: ['mlp'] }, 'lora: targets: found mlp; choose of q_proj'],
    ['a layer too many', { layers: { text: [2] } }, 'lora: layers.text: found 2; give layers in 0…1'],
    ['nothing', { targets: [] }, 'lora: modules: found none; choose at least one'],
  ])('refuses %s', (_what, change, message) => {
    expect(() => chooseLora(config, { ...base, ...change })).toThrow(message);
  });
});

describe('drawing', () => {
  const lora = chooseLora(config, { rank: 3, alpha: 4, targets: LORA_TARGETS });

  it('starts at the model as it is: B is zero', async () => {
    const theta = initLora(config, lora, device, ecif.createRng(5));
    const [adapted, bare] = [clipModel(clip, lora).embed(theta, batch), clipModel(clip).embed({}, batch)];
    expect(await adapted.v.data()).toEqual(await bare.v.data());
    expect(await adapted.u.data()).toEqual(await bare.u.data());
    const other = clipModel(clip, lora).embed(drawn(adapterShapes(config, lora), 5), batch);
    expect(await other.u.data()).not.toEqual(await bare.u.data());
  });

  it.each(['kaiming', 'normal'] as const)('%s has the spread of PEFT', async (init) => {
    const wide: ClipConfig = { ...config, vision: { ...config.vision, width: 64, inner: 256 } };
    const some = chooseLora(wide, { rank: 8, alpha: 4, targets: ['fc2'], layers: { text: [], vision: [0] } });
    const theta = initLora(wide, some, device, ecif.createRng(6), init);
    const a = [...(await theta['vision_model.encoder.layers.0.mlp.fc2.lora_A.weight'].data())];
    const deviation = Math.sqrt(a.reduce((s, x) => s + x * x, 0) / a.length);
    // Uniform in ±1/√in has deviation 1/√(3·in); the normal one 1/rank.
    expect(deviation).toBeCloseTo(init === 'kaiming' ? 1 / Math.sqrt(3 * 256) : 1 / 8, 2);
    if (init === 'kaiming') expect(Math.max(...a.map(Math.abs))).toBeLessThanOrEqual(1 / 16);
    const again = initLora(wide, some, device, ecif.createRng(6), init);
    for (const [name, x] of Object.entries(theta)) expect(await again[name].data()).toEqual(await x.data());
  });
});

describe('dropout', () => {
  const lora = { ...chooseLora(config, { rank: 2, alpha: 4, targets: LORA_TARGETS, dropout: 0.3 }) };
  const theta = drawn(adapterShapes(config, lora), 7);
  const embed = async (training?: ecif.Rng): Promise<unknown> =>
    clipModel(clip, lora, training).embed(theta, batch).v.data();

  it('is a function of the seed, and only of training', async () => {
    expect(await embed(ecif.createRng(1))).toEqual(await embed(ecif.createRng(1)));
    expect(await embed(ecif.createRng(1))).not.toEqual(await embed(ecif.createRng(2)));
    expect(await embed()).toEqual(
      await clipModel(clip, { ...lora, dropout: 0 }, ecif.createRng(1))
        .embed(theta, batch)
        .v.data(),
    );
    expect(await embed()).not.toEqual(await embed(ecif.createRng(1)));
  });

  it('keeps the mean, and drops the share it says', async () => {
    const [rows, width, share] = [4000, 16, 0.3];
    const ones = (...shape: number[]): ecif.Tensor => ecif.full(device, shape, 1);
    const y = adaptedDense(ones(rows, width), ecif.zeros(device, [1, width]), {
      bias: ecif.zeros(device, [1]),
      act: 'none',
      lora: { a: ones(1, width), b: ones(1, 1), scale: 1 / width },
      drop: { share, rng: ecif.createRng(8) },
    });
    const values = [...(await y.data())];
    const mean = values.reduce((a, b) => a + b, 0) / rows;
    const variance = values.reduce((s, x) => s + (x - mean) ** 2, 0) / rows;
    expect(mean).toBeCloseTo(1, 1);
    expect(Math.abs(variance / (share / (1 - share) / width) - 1)).toBeLessThan(0.1);
  });

  it('differentiates as the function it is, for one draw', async () => {
    const loss = (t: Adapter): ecif.Tensor => ecif.batchLoss(clipModel(clip, lora, ecif.createRng(9)), t, batch);
    await ecif.checkGrads(loss, theta, { directions: 1 });
  });
});

describe('PEFT files', () => {
  const lora = chooseLora(config, {
    rank: 2,
    alpha: 3,
    targets: ['v_proj', 'fc1'],
    layers: { text: [1] },
    scaling: 'root',
    dropout: 0.1,
  });
  const theta = { ...drawn(adapterShapes(config, lora), 10), logit_scale: ecif.tensor(device, [1.5], []) };
  const tensors = (): Promise<TensorToWrite[]> =>
    Promise.all(
      adapterTensors(theta).map(async ({ name, shape, values }) => ({ name, shape, values: await values() })),
    );
  const open = async (change: (all: TensorToWrite[]) => TensorToWrite[]) =>
    openSafetensors(bytesSource('adapter_model.safetensors', writeSafetensors(change(await tensors()))));
  const read = parsePeftConfig('adapter_config.json', JSON.stringify(peftConfig(lora)));

  it('an adapter written and read is the same', async () => {
    const back = await loadAdapter(config, read, await open((all) => all), device);
    expect(back.lora).toEqual(lora);
    expect(Object.keys(back.theta).toSorted()).toEqual(Object.keys(theta).toSorted());
    for (const [name, x] of Object.entries(theta)) expect(await back.theta[name].data()).toEqual(await x.data());
    const [a, b] = [clipModel(clip, back.lora), clipModel(clip, lora)];
    expect(await ecif.similarities(a, back.theta, batch).data()).toEqual(
      await ecif.similarities(b, theta, batch).data(),
    );
  });

  it('names are those of PEFT', async () => {
    expect((await tensors()).map(({ name }) => name)).toContain(
      'base_model.model.text_model.encoder.layers.1.mlp.fc1.lora_A.weight',
    );
    expect(peftConfig(lora)).toMatchObject({
      peft_type: 'LORA',
      r: 2,
      lora_alpha: 3,
      use_rslora: true,
      lora_dropout: 0.1,
    });
  });

  it.each<[string, (all: TensorToWrite[]) => TensorToWrite[], string]>([
    ['a half', (all) => all.filter(({ name }) => !name.endsWith('layers.1.mlp.fc1.lora_B.weight')), 'fc1.lora_B'],
    [
      'another rank',
      (all) => all.map((t, i) => (i > 0 ? t : { ...t, shape: [1, ...t.shape, 1] })),
      'adapter_model.safetensors',
    ],
    [
      'another kind of tensor',
      (all) => [...all, { name: 'base_model.model.x.lora_magnitude_vector', shape: [1], values: [1] }],
      'lora_magnitude_vector',
    ],
    [
      'another module',
      (all) => [...all, { name: 'base_model.model.visual_projection.lora_A.weight', shape: [1], values: [1] }],
      'visual_projection',
    ],
  ])('%s is refused by name', async (_what, change, message) => {
    await expect(open(change).then((file) => loadAdapter(config, read, file, device))).rejects.toThrow(message);
  });

  it.each<[string, object, string]>([
    ['another method', { peft_type: 'IA3' }, 'a.json: peft_type: found "IA3"; give "LORA"'],
    ['rank 0', { r: 0 }, 'a.json: r: found 0'],
    ['DoRA', { use_dora: true }, 'a.json: use_dora: found true'],
    ['biases', { bias: 'all' }, 'a.json: bias: found "all"'],
    ['ranks by module', { rank_pattern: { q_proj: 4 } }, 'a.json: rank_pattern: found entries'],
    ['dropout 2', { lora_dropout: 2 }, 'a.json: lora_dropout: found 2'],
  ])('a configuration with %s is refused', (_what, json, message) => {
    expect(() => parsePeftConfig('a.json', JSON.stringify(json))).toThrow(message);
  });
});
