// The batches of a run: a partition an epoch, drawn by the seed, without the pairs that are left out.

import { EcifError } from '../../array/errors.ts';
import { type Dataset, type DatasetRow, shown } from '../../data/dataset.ts';
import { batchesOf, type Partition } from '../../data/partitions.ts';
import { partitionDrawer } from '../../data/sampler.ts';
import { streamOf } from '../../models/clip/train-streams.ts';
import { UsageError } from '../args.ts';
import type { TrainSettings } from './options.ts';

/** Which pairs meet in which step. */
export interface RunBatches {
  /** Steps of an epoch at most: a batch of which nothing is left has none. */
  readonly perEpoch: number;
  readonly steps: number;
  epochOf(step: number): number;
  rows(step: number): Uint32Array;
  /** The partitions that training meets, each once. */
  recorded(): Partition[];
}

/** A partition by the new numbers of the pairs that are kept. */
function keptOf(partition: Partition, kept: Uint32Array): Partition {
  const places = new Map(Array.from(kept, (row, place) => [row, place]));
  return partition
    .map((rows) => rows.filter((row) => places.has(row)).map((row) => places.get(row) as number))
    .filter((rows) => rows.length > 0);
}

/**
 * The batches that a run meets.
 * @param listed pairs of the list; the batches are drawn of all of them
 * @param kept those that are not left out, null for all
 * @throws EcifError for batches of one pair each, which have no loss
 */
export function runBatches(
  source: string,
  { seed, batch, partitions, epochs, sampler }: TrainSettings,
  listed: readonly DatasetRow[],
  kept: Uint32Array | null,
): RunBatches {
  const perEpoch = batchesOf(listed.length, batch);
  if (listed.length < 2 * perEpoch) {
    const odd = `${listed.length} pairs in batches of ${batch} leave a batch of one, which has no loss`;
    throw new EcifError(`${source}: ${odd}; give a larger --batch`);
  }
  const draw = partitionDrawer(sampler, listed, batch);
  const made = new Map<number, Partition>();
  const partition = (epoch: number): Partition => {
    const which = partitions === 0 ? epoch : epoch % partitions;
    const drawn = made.get(which) ?? draw(streamOf(seed, 'partition', which));
    const found = kept === null || made.has(which) ? drawn : keptOf(drawn, kept);
    made.set(which, found);
    return found;
  };
  const most = partitions === 0 ? Math.max(1, epochs) : partitions;
  const recorded = (): Partition[] =>
    Array.from({ length: Math.min(most, Math.max(1, epochs)) }, (_, which) => partition(which));
  if (!recorded().some((batches) => batches.some((rows) => rows.length > 1))) {
    throw new EcifError(`${source}: no batch keeps two pairs, so that nothing is left to train; leave out fewer`);
  }
  const starts = [0];
  for (let epoch = 0; epoch < epochs; epoch++) starts.push(starts[epoch] + partition(epoch).length);
  const epochOf = (step: number): number => starts.findLastIndex((first) => first <= step);
  return {
    ...{ perEpoch, steps: starts[epochs], epochOf, recorded },
    rows: (step) => partition(epochOf(step))[step - starts[epochOf(step)]],
  };
}

/**
 * Refuses pairs of which none can be told from the others.
 * @throws EcifError
 */
export function requireContrast({ source, rows }: Dataset): void {
  if (rows.length < 2) {
    const found = rows.length === 0 ? 'no pair is left' : 'one pair';
    throw new EcifError(`${source}: ${found}; a contrastive loss needs two or more`);
  }
  const [{ caption }] = rows;
  if (rows.some((row) => row.caption !== caption)) return;
  throw new EcifError(`${source}: all ${rows.length} captions are ${shown(caption)}; give two or more different ones`);
}

/**
 * Refuses batches that are asked for and larger than the data.
 * @throws UsageError
 */
export function requireBatch(size: number, source: string, count: number): void {
  if (size <= count) return;
  throw new UsageError(`--batch ${size}: ${source} has ${count} pairs; give ${count} at most, or leave it out`);
}
