// What tells one question about a run from another, so that results that are kept are taken for the same question alone.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { encodePartitions } from '../../data/partitions.ts';
import type { Device } from '../../device/open.ts';
import { datasetHash, runFile } from '../runs/run-folder.ts';
import type { EvaluationPairs, OpenedRun } from '../runs/opened-run.ts';
import { ownVersion } from '../versions.ts';

/** All that is seen of pairs that a question is about: names, labels, what the model reads of them, batches. */
async function judgedBy({ dataset, pairs, loss }: EvaluationPairs): Promise<unknown[]> {
  const labels = dataset.rows.map(({ label }) => label ?? null);
  const batches = encodePartitions(dataset.rows.length, loss.partitions);
  return [datasetHash(dataset), labels, await pairs.contents(), createHash('sha256').update(batches).digest('hex')];
}

/**
 * A hash of a question: settings that matter, weights, parameters, pairs as the model sees them, batches, device.
 * @param evaluation pairs that the question is about, null where it is about none
 */
export async function signatureOf(
  folder: string,
  run: OpenedRun,
  evaluation: EvaluationPairs | null,
  asked: Readonly<Record<string, unknown>>,
  device: Device,
): Promise<string> {
  const judged = evaluation === null ? null : await judgedBy(evaluation);
  const trained = [run.model.weights, datasetHash(run.dataset), await run.contents()];
  return createHash('sha256')
    .update(JSON.stringify([asked, ownVersion(), device.name, trained, judged]))
    .update(readFileSync(runFile(folder, 'theta')))
    .update(encodePartitions(run.dataset.rows.length, run.loss.partitions))
    .digest('hex');
}
