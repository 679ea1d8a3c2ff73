// The sweep of a scoring run: every pair in every batch, written block by block.

import { type Occurrence, OCCURRENCE_COLUMNS, occurrenceCells } from '../../data/score-columns.ts';
import type { Dataset } from '../../data/dataset.ts';
import { openScoreRun } from '../../data/score-run.node.ts';
import { parseShard } from '../../data/score-shard.ts';
import type { TableSummary } from '../../data/score-writer.node.ts';
import { batchPlaces, type StreamedBatch, streamScores, type SweepPlan } from '../../ecif/streamed-scores.ts';
import type { TargetGradient } from '../../ecif/targets.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { countdown, type Progress } from '../progress.ts';
import type { OpenedRun } from '../runs/opened-run.ts';

/** Rows that are written together at most; a batch of more is written in parts. */
const BLOCK_ROWS = 2 ** 15;

/** The rows of a batch. */
const occurrencesOf = (
  { pairs }: StreamedBatch,
  { rows }: Dataset,
  targets: readonly TargetGradient<Adapter>[],
): Occurrence[] =>
  pairs.flatMap(({ row, partition, batch, position, scores, relative, self, cosine }) =>
    targets.map(({ name }, i) => ({
      ...{ row, partition, batch, position, id: rows[row].id, caption: rows[row].caption },
      ...scores[i],
      relative: relative.length === 0 ? null : relative[i].value,
      self: self?.value ?? null,
      clipscore: cosine,
      flag: null,
      target: name,
      error: null,
      self_error: self?.standardError ?? null,
      relative_error: relative.length === 0 ? null : relative[i].standardError,
    })),
  );

/** Where the scores of a sweep go. */
export interface SweepOutput {
  readonly out: string;
  readonly signature: string;
  readonly shard: string | undefined;
  /** What the record of a shard says of its run. */
  about(): unknown;
}

/** Writes the scores of every batch that is not yet written. */
export async function sweep(
  { dataset, swept, theta }: OpenedRun,
  plan: SweepPlan<Adapter>,
  targets: readonly TargetGradient<Adapter>[],
  { out, signature, shard, about }: SweepOutput,
  progress: Progress,
): Promise<TableSummary> {
  const places = batchPlaces(swept);
  const largest = places.reduce((most, { rows }) => Math.max(most, rows.length), 0);
  const parts = Math.max(1, Math.ceil((largest * targets.length) / BLOCK_ROWS));
  const output = await openScoreRun(out, {
    ...{ columns: OCCURRENCE_COLUMNS, signature, blocks: parts * places.length, about },
    shard: shard === undefined ? undefined : parseShard(shard),
    average: { pairs: dataset.rows.length, targets: targets.map(({ name }) => name) },
  });
  try {
    const { first, end } = output.range;
    const batchOf = (block: number): number => Math.floor(block / parts);
    const last = Math.ceil(end / parts);
    if (output.next > first) progress.line(`resumed after batch ${batchOf(output.next)} of ${last}`);
    const tell = countdown(progress, 'scores: batch', batchOf(output.next));
    const begin = output.next < end ? batchOf(output.next) : last;
    for await (const batch of streamScores(swept, theta, plan, begin, last)) {
      const rows = occurrencesOf(batch, dataset, targets).map(occurrenceCells);
      while (batchOf(output.next) === batch.index && output.next < end) {
        const part = output.next % parts;
        const cut = (i: number): number => Math.floor((i * rows.length) / parts);
        await output.append(rows.slice(cut(part), cut(part + 1)));
      }
      tell(batch.index + 1, last);
    }
    return await output.finish();
  } finally {
    await output.close();
  }
}
