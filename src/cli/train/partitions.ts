// The batches of a run, recorded in its folder, and what is said of them.

import { existsSync, readFileSync } from 'node:fs';
import { EcifError } from '../../array/errors.ts';
import { classOf, type DatasetRow, shown } from '../../data/dataset.ts';
import { decodePartitions, encodePartitions, type Partition } from '../../data/partitions.ts';
import { crowdOf } from '../../data/sampler.ts';
import { saveFile } from '../../models/clip/files.node.ts';
import { runFile } from '../runs/run-folder.ts';
import type { TrainSettings } from './options.ts';

/** Why pairs of one class meet although they should not; null where they do not. */
export function crowdText({ sampler, batch }: TrainSettings, rows: readonly DatasetRow[]): string | null {
  const crowd = sampler === 'distinct' ? crowdOf(rows.map(classOf), batch) : null;
  if (crowd === null) return null;
  const { name, pairs, batches, together } = crowd;
  return `sampler: class ${shown(name)} has ${pairs} pairs for ${batches} batches, up to ${together} meet in one`;
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
