// CLIP reference folders on WebGPU: every quantity to 2e-4 of its largest entry; the frozen prefix and merged weights.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareQuantities, type Comparison, type Quantities } from '../../src/ecif/conformance.ts';
import { batchLoss, createRng, type Device, grad, openDevice, type Tensor, tensor } from '../../src/index.ts';
import { clipBatch, clipModel } from '../../src/models/clip/clip.ts';
import { parseClipConfig } from '../../src/models/clip/config-parse.ts';
import { clipQuantities } from '../../src/ecif/clip-conformance.ts';
import { openClipFolder } from '../../src/models/clip/conformance.node.ts';
import { adapterShapes, chooseLora } from '../../src/models/clip/lora.ts';
import { afterPrefix, prefixOf } from '../../src/models/clip/prefix.ts';
import { loadClip, mergeClip } from '../../src/models/clip/weights.ts';
import { relativeError } from '../support/op-checks.ts';
import { describeGpu } from '../support/gpu.ts';

const TOLERANCE = 2e-4;
const pathOf = (i: number): string => fileURLToPath(new URL(`../vectors/clip-${i}`, import.meta.url));
const failed = (actual: Quantities, expected: Quantities): Comparison[] =>
  compareQuantities(actual, expected, () => TOLERANCE).filter((c) => !c.pass);

await describeGpu('CLIP in float32', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ kind: 'webgpu' });
  });
  afterAll(() => device.destroy());

  it.each([1, 2, 3])('clip-%i has every quantity equal, and an altered number is named', async (i) => {
    const folder = await openClipFolder(pathOf(i));
    const { expected } = folder.vectors;
    const before = device.memory().live;
    const actual = await clipQuantities(folder, device);
    await folder.close();
    expect(device.memory().live).toBe(before);
    expect(compareQuantities(actual, expected, () => TOLERANCE)).toHaveLength(178);
    expect(failed(actual, expected)).toEqual([]);
    (expected.pairDirectional as Record<string, number[]>).pos[0] *= 1.01;
    expect(failed(actual, expected).map((c) => c.quantity)).toEqual(['pairDirectional.pos']);
  });

  it('the prefix and merged weights give the same embeddings and gradient', async () => {
    const folder = await openClipFolder(pathOf(3));
    const config = parseClipConfig('config.json', folder.config);
    const clip = await loadClip(config, folder.model, device);
    const { ids, pixels } = folder.vectors;
    const batch = clipBatch(config, device, ids, pixels);
    const lora = chooseLora(config, {
      rank: 2,
      alpha: 4,
      targets: ['q_proj', 'out_proj', 'fc1', 'fc2'],
      layers: { vision: [1], text: [1] },
    });
    const rng = createRng(1);
    const draw = (shape: readonly number[]): Tensor =>
      tensor(
        device,
        Float64Array.from({ length: shape[0] * shape[1] }, () => 0.3 * rng.normal()),
        shape,
      );
    const theta = Object.fromEntries([...adapterShapes(config, lora)].map(([name, shape]) => [name, draw(shape)]));
    const model = clipModel(clip, lora);
    const [rest, cached] = [afterPrefix(model), prefixOf(model, batch)];
    const data = async (x: { data(): Promise<ArrayLike<number>> }): Promise<Float64Array> =>
      Float64Array.from(await x.data());
    const [full, short] = [model.embed(theta, batch), rest.embed(theta, cached)];
    expect(relativeError(await data(short.u), await data(full.u))).toBeLessThan(1e-5);
    expect(relativeError(await data(short.v), await data(full.v))).toBeLessThan(1e-5);
    const merged = clipModel(await mergeClip(clip, lora, theta)).embed({}, batch);
    expect(relativeError(await data(merged.v), await data(full.v))).toBeLessThan(1e-4);
    expect(relativeError(await data(clipModel(clip).embed({}, batch).v), await data(full.v))).toBeGreaterThan(1e-2);
    const g = grad((t: typeof theta) => batchLoss(model, t, batch))(theta);
    const h = grad((t: typeof theta) => batchLoss(rest, t, cached))(theta);
    for (const name of Object.keys(g))
      expect(relativeError(await data(h[name]), await data(g[name]))).toBeLessThan(1e-4);
    await folder.close();
  });
});
