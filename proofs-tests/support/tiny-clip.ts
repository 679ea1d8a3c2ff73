// A tiny CLIP with LoRA on random pairs, as a streamed loss and as a problem with all batches at hand.

import { type Partition, drawPartition } from '../../src/data/partitions.ts';
import * as ecif from '../../src/index.ts';
import { type Clip, clipBatch, clipModel } from '../../src/models/clip/clip.ts';
import { type Adapter, chooseLora, initLora, type LoraSettings } from '../../src/models/clip/lora.ts';
import { afterPrefix, type Prefix, prefixOf, prefixRows } from '../../src/models/clip/prefix.ts';
import { initClip } from '../../src/models/clip/weights-init.ts';
import type { StreamedLoss } from '../../src/models/streamed.ts';
import { tinyConfig } from './clip-config.ts';

const config = tinyConfig({ projection: 6, logitScale: 1.5, layers: 2, act: 'quickGelu', channels: 3, vocabulary: 24 });

/** Fresh weights with embeddings of length one or so, as trained ones have: layer norms are then far from 0/0. */
const lively = (clip: Clip): Clip => ({
  ...clip,
  tensors: new Map(
    Array.from(clip.tensors, ([name, x]) => [name, name.includes('embedding') ? ecif.affine(x, 40, 0) : x]),
  ),
});

/** Settings of {@link tinyClip}. */
export interface TinyOptions {
  readonly pairs?: number;
  readonly batch?: number;
  readonly partitions?: number;
  readonly l2?: number;
  readonly seed?: number;
  readonly lora?: Partial<LoraSettings>;
}

/** The tiny CLIP: its loss streamed, the same with all batches at hand, where training starts, and other pairs. */
export interface TinyClip {
  readonly loss: StreamedLoss<Adapter, Prefix>;
  /** Σ over all partitions: as many times the streamed loss as there are. */
  readonly problem: ecif.Problem<Adapter, Prefix>;
  readonly start: Adapter;
  readonly partitions: readonly Partition[];
  /** Pairs that are not trained on. */
  readonly held: Prefix;
  /** Their loss. */
  readonly validation: (theta: Adapter) => ecif.Tensor;
}

/** Makes one; captions and pictures of a pair share a random number, so that there is something to learn. */
export function tinyClip(device: ecif.Device, options: TinyOptions = {}): TinyClip {
  const { pairs = 8, batch = 4, partitions: count = 2, l2 = 4, seed = 1, lora: settings = {} } = options;
  const rng = ecif.createRng(seed);
  const model = clipModel(
    lively(initClip(config, device, rng)),
    chooseLora(config, {
      ...{ rank: 1, alpha: 2, targets: ['v_proj'], layers: { text: [1], vision: [1] } },
      ...settings,
    }),
  );
  const drawn = (n: number): Prefix => {
    const kinds = Array.from({ length: n }, () => rng.int(20));
    const ids = kinds.map((kind) => [1, kind + 2, 1 + rng.int(20), 23]);
    const pixels = Float64Array.from(
      { length: n * 192 },
      (_, i) => Math.sin(kinds[Math.floor(i / 192)] * ((i % 192) + 1)) + 0.3 * rng.normal(),
    );
    return prefixOf(model, clipBatch(config, device, ids, pixels, 4));
  };
  const [all, others] = [drawn(pairs), drawn(pairs)];
  const partitions = Array.from({ length: count }, () => drawPartition(rng, pairs, batch));
  const start = initLora(config, model.lora as NonNullable<typeof model.lora>, device, rng, 'normal');
  const centre = Object.fromEntries(
    Object.entries(start).map(([name, x]) => [
      name,
      ecif.tensor(
        device,
        Float64Array.from({ length: x.size }, () => 0.3 * rng.normal()),
        x.shape,
      ),
    ]),
  );
  const after = afterPrefix(model);
  const shared = { model: after, decay: l2, centre };
  return {
    loss: { model: after, partitions, batch: (rows) => Promise.resolve(prefixRows(all, rows)), l2, centre },
    problem: ecif.overPartitions(
      shared,
      partitions.map((batches) => batches.map((rows) => prefixRows(all, rows))),
    ),
    start: centre,
    partitions,
    held: others,
    validation: (theta) => ecif.batchLoss(after, theta, others),
  };
}
