// The pooled token's attention, whose keys and values are never made: equal to that of every token, to second order.

import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { adapterShapes, chooseLora, LORA_TARGETS, nameB } from '../src/models/clip/lora.ts';
import type { Tap } from '../src/models/tap.ts';
import { tinyConfig } from './support/clip-config.ts';
import { relativeError } from './support/op-checks.ts';
import { readFlat } from './support/random-graph.ts';

const device = new CpuDevice();
const config = tinyConfig({ projection: 5, logitScale: 1, layers: 2, act: 'gelu', channels: 1, vocabulary: 20 });
const clip = ecif.initClip(config, device, ecif.createRng(1));
const rng = ecif.createRng(2);
const normal = (length: number, factor = 1): Float64Array => Float64Array.from({ length }, () => factor * rng.normal());

/** Texts that end at their first, a middle and their last token, with others after the end. */
const batch = ecif.clipBatch(config, device, [[19], [2, 19], [1, 4, 19, 7, 3], [1, 7, 3, 5, 6, 19]], normal(4 * 64), 6);
const lora = chooseLora(config, { rank: 2, alpha: 4, targets: LORA_TARGETS });
const draw = (): ecif.Adapter =>
  Object.fromEntries(
    [...adapterShapes(config, lora)].map(([name, shape]) => [
      name,
      ecif.tensor(device, normal(shape[0] * shape[1], 0.5), shape),
    ]),
  );
const [theta, direction] = [draw(), draw()];

/** Shown to a tap, every token goes through the maps of keys and values. */
const watched: Tap = (_parameter, _x, y) => y;
const model = ecif.clipModel(clip, lora);
const lossBy =
  (tap?: Tap) =>
  (t: ecif.Adapter): ecif.Tensor =>
    ecif.contrastive(ecif.similarities({ ...model, embed: (at, pairs) => model.embed(at, pairs, tap) }, t, batch));

describe('attention of the pooled token', () => {
  it('has the embeddings, the gradient and the Hessian products of attention of every token', async () => {
    const [pooled, every] = [model.embed(theta, batch), model.embed(theta, batch, watched)];
    expect(relativeError(await readFlat([pooled.u, pooled.v]), await readFlat([every.u, every.v]))).toBeLessThan(1e-12);
    const flat = (tree: ecif.Adapter): Promise<Float64Array> => readFlat(Object.values(tree));
    const gradients = [lossBy(), lossBy(watched)].map((loss) => flat(ecif.grad(loss)(theta)));
    expect(relativeError(await gradients[0], await gradients[1])).toBeLessThan(1e-10);
    const products = [lossBy(), lossBy(watched)].map((loss) => flat(ecif.hvp(loss, theta, direction)));
    expect(relativeError(await products[0], await products[1])).toBeLessThan(1e-10);
  });

  it.each(['q_proj', 'k_proj', 'v_proj'])('the update of %s in the last layer is part of it', async (target) => {
    const name = nameB(lora.modules.find((module) => module.endsWith(`layers.1.self_attn.${target}`)) as string);
    const without = { ...theta, [name]: ecif.zeros(device, theta[name].shape) };
    const [changed, before] = [model.embed(without, batch), model.embed(theta, batch)];
    const [a, b] = await Promise.all([readFlat([changed.u, changed.v]), readFlat([before.u, before.v])]);
    expect(relativeError(a, b)).toBeGreaterThan(1e-3);
  });

  it('has derivatives by all weights that agree with finite differences', async () => {
    const weights = ecif.allWeights(clip);
    const { scale, embed } = ecif.fullModel(config);
    await ecif.checkGrads(
      (t: typeof weights) => ecif.contrastive(ecif.similarities({ scale, embed }, t, batch)),
      weights,
      {
        directions: 1,
      },
    );
  });
});
