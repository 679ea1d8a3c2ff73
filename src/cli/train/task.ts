// What `ecif train` trains: an adapter over cached frozen layers, an adapter on changing pictures, or all weights.

import { keep, disposeTree, tensor } from '../../autodiff/tensor.ts';
import { openRowStore, type RowStore } from '../../data/row-store.node.ts';
import type { Device } from '../../device/open.ts';
import { type Clip, type ClipModel, clipModel } from '../../models/clip/clip.ts';
import { fullModel } from '../../models/clip/full.ts';
import type { Adapter, Lora } from '../../models/clip/lora.ts';
import { afterPrefix, type Prefix, prefixOf } from '../../models/clip/prefix.ts';
import { streamOf } from '../../models/clip/train-streams.ts';
import type { TrainTask } from '../../models/clip/train.ts';
import type { Model } from '../../models/model.ts';
import { batchOfRows, type ReadyPairs } from '../runs/pairs.ts';
import type { Progress } from '../progress.ts';
import type { TrainSettings } from './options.ts';

/** The task of a run without its order of batches, and the model and pairs as the objective sees them. */
export interface RunTask<B = unknown, P = B> extends Omit<TrainTask<Adapter, B>, 'rows'> {
  /** Without dropout. */
  readonly still: Model<Adapter, P>;
  /** Without augmentation. */
  plain(rows: ArrayLike<number>): Promise<P>;
  close(): void;
}

/** Pictures of a step changed, if they are to be. */
function changesOf({ crop, flip, seed }: TrainSettings, step: number): Parameters<typeof batchOfRows>[3] {
  if (crop === 1 && flip === 0) return {};
  return { changes: { how: { crop, flip }, rng: (position) => streamOf(seed, 'augment', step, position) } };
}

/** All weights, or an adapter on pictures that change. */
function pixelTask(
  pairs: ReadyPairs,
  device: Device,
  settings: TrainSettings,
  model: (step: number | null) => Model<Adapter, Awaited<ReturnType<typeof batchOfRows>>>,
): RunTask<Awaited<ReturnType<typeof batchOfRows>>> {
  return {
    device,
    model,
    still: model(null),
    batch: (rows, step) => batchOfRows(pairs, device, rows, changesOf(settings, step)),
    plain: (rows) => batchOfRows(pairs, device, rows),
    close: () => undefined,
  };
}

/** The task of training all weights. */
export const fullTask = (pairs: ReadyPairs, device: Device, settings: TrainSettings): RunTask =>
  pixelTask(pairs, device, settings, () => fullModel(pairs.config));

const CHUNK = 32;

/** The frozen part of both towers for every pair, computed once. */
async function cachePrefix(
  model: ClipModel,
  pairs: ReadyPairs,
  { 'cache-mb': megabytes }: TrainSettings,
  file: string,
  progress: Progress,
): Promise<{ batch(rows: ArrayLike<number>): Promise<Prefix>; close(): void }> {
  const { device } = model.clip;
  const count = pairs.dataset.rows.length;
  const stores: Partial<Record<'text' | 'image', { store: RowStore; shape: readonly number[] }>> = {};
  const ends = new Int32Array(count);
  for (let first = 0; first < count; first += CHUNK) {
    const rows = Array.from({ length: Math.min(CHUNK, count - first) }, (_, i) => first + i);
    const batch = await batchOfRows(pairs, device, rows, { length: pairs.longest });
    const made = prefixOf(model, batch);
    ends.set(made.ends, first);
    for (const side of ['text', 'image'] as const) {
      const [, ...shape] = made[side].shape;
      const width = shape.reduce((a, b) => a * b, 1);
      const precision = device.kind === 'cpu' ? 'float64' : 'float32';
      const memory = (megabytes * 2 ** 20) / 2;
      stores[side] ??= {
        shape,
        store: openRowStore({ rows: count, width, precision, memory, file: `${file}.${side}` }),
      };
      stores[side].store.put(first, (await made[side].data()) as Float32Array);
    }
    disposeTree([batch, made]);
    progress.status(`frozen layers: ${Math.min(first + CHUNK, count)}/${count} pairs`);
  }
  const part = (side: 'text' | 'image', rows: ArrayLike<number>) => {
    const { store, shape } = stores[side] as { store: RowStore; shape: readonly number[] };
    return keep(tensor(device, store.get(rows), [rows.length, ...shape]));
  };
  return {
    batch: async (rows) => ({
      text: part('text', rows),
      image: part('image', rows),
      ends: Int32Array.from(rows, (row) => ends[row]),
    }),
    close: () => Object.values(stores).forEach(({ store }) => store.close()),
  };
}

/** Steps on pictures that change; the objective, whose pictures do not, over frozen layers that are cached when it is first asked for. */
function changingTask<B>(
  steps: RunTask<B>,
  still: ClipModel,
  cache: () => ReturnType<typeof cachePrefix>,
): RunTask<B, Prefix> {
  let cached: ReturnType<typeof cachePrefix> | null = null;
  return {
    ...steps,
    still: afterPrefix(still),
    plain: async (rows) => (await (cached ??= cache())).batch(rows),
    close: () => void cached?.then(({ close }) => close()),
  };
}

/**
 * The task of training an adapter: over cached frozen layers where the pictures never change.
 * @param file where the cache goes if it is too large for memory
 */
export async function loraTask(
  clip: Clip,
  lora: Lora,
  pairs: ReadyPairs,
  settings: TrainSettings,
  file: string,
  progress: Progress,
): Promise<RunTask> {
  const at = (step: number | null): ClipModel =>
    clipModel(clip, lora, step === null ? undefined : streamOf(settings.seed, 'dropout', step));
  const cache = (): ReturnType<typeof cachePrefix> => cachePrefix(at(null), pairs, settings, file, progress);
  if (settings.crop < 1 || settings.flip > 0)
    return changingTask(pixelTask(pairs, clip.device, settings, at), at(null), cache);
  const cached = await cache();
  const task: RunTask<Prefix> = {
    device: clip.device,
    model: (step) => afterPrefix(at(step)),
    still: afterPrefix(at(null)),
    batch: cached.batch,
    plain: cached.batch,
    close: cached.close,
  };
  return task;
}
