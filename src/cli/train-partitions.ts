// The batches of a run: drawn by its sampler, and recorded in its folder.

import { existsSync, readFileSync } from 'node:fs';
import { EcifError } from '../array/errors.ts';
import { classOf, type DatasetRow, shown } from '../data/dataset.ts';
import { decodePartitions, encodePartitions, type Partition } from '../data/partitions.ts';
import { crowdOf, partitionDrawer } from '../data/sampler.ts';
import { saveFile } from '../models/clip/files.node.ts';
import { streamOf } from '../models/clip/train-streams.ts';
import { runFile } from './run-folder.ts';
import type { TrainSettings } from './train-options.ts';

/** Partitions by epoch, made once each. */
export function partitionsOf(
  { seed, batch, partitions, sampler }: TrainSettings,
  rows: readonly DatasetRow[],
): (epoch: number) => Partition {
  const draw = partitionDrawer(sampler, rows, batch);
  const made = new Map<number, Partition>();
  return (epoch) => {
    const which = partitions === 0 ? epoch : epoch % partitions;
    const found = made.get(which) ?? draw(streamOf(seed, 'partition', which));
    made.set(which, found);
    return found;
  };
}

/** Why pairs of one class meet although they should not; null where they do not. */
export function crowdText({ sampler, batch }: TrainSettings, rows: readonly DatasetRow[]): string | null {
  const crowd = sampler === 'distinct' ? crowdOf(rows.map(classOf), batch) : null;
  if (crowd === null) return null;
  const { name, pairs, batches, together } = crowd;
  return `sampler: class ${shown(name)} has ${pairs} pairs for ${batches} batches, up to ${together} meet in one`;
}

/** The partitions that training meets, each once. */
export function recorded({ epochs, partitions }: TrainSettings, partition: (epoch: number) => Partition): Partition[] {
  const most = partitions === 0 ? Math.max(1, epochs) : partitions;
  return Array.from({ length: Math.min(most, Math.max(1, epochs)) }, (_, which) => partition(which));
}

/** Writes the partitions, or checks that a resumed run finds its own. */
export async function recordPartitions(
  folder: string,
  resume: boolean,
  pairs: number,
  partitions: readonly Partition[],
): Promise<void> {
  const path = runFile(folder, 'partitions');
  const bytes = encodePartitions(pairs, partitions);
  if (resume && existsSync(path)) {
    const found = readFileSync(path);
    decodePartitions(path, found);
    if (!found.equals(bytes)) throw new EcifError(`${path}: not the partitions of these settings; begin the run anew`);
    return;
  }
  await saveFile(path, bytes);
}
