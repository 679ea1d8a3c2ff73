// ecif merge: the files of a run's shards as the one file that a single run writes.

import { oneLine } from '../../array/messages.ts';
import { mergeShards } from '../../data/score-merge.node.ts';
import { defineCommand } from '../command.ts';
import { bytes } from '../format.ts';
import { requireScoresOutput } from './files.ts';
import { writeMergedRecord } from './record.ts';

export const merge = defineCommand({
  name: 'merge',
  summary: 'put the files of --shard runs together: the bytes of a single run',
  example: 'ecif merge scores.parquet scores-0.parquet scores-1.parquet',
  options: {},
  operands: {
    label: 'OUT SHARD…',
    help: 'file to write, .parquet, .csv or .jsonl; files of all shards in any order, FILE.shard.json beside each',
    least: 2,
    most: Infinity,
  },
  run: async (_, { operands: [out, ...shards] }) => {
    await requireScoresOutput(out);
    const { rows, bytes: size, sha256, abouts } = await mergeShards(out, shards);
    await writeMergedRecord(out, { rows, bytes: size, sha256 }, abouts);
    const files = `${shards.length} shard${shards.length === 1 ? '' : 's'}`;
    return {
      json: { out, shards: shards.length, rows, bytes: size, sha256 },
      text: `${oneLine(out)}: ${rows} rows of ${files}, ${bytes(size)}`,
      ok: true,
    };
  },
});
