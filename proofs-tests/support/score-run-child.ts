// A scoring run as a process of its own: says each block that it has written, to be killed whenever the test likes.
import { setTimeout } from 'node:timers/promises';
import { openScoreRun } from '../../src/data/score-run.node.ts';
import { parseShard } from '../../src/data/score-shard.ts';
import { RUN_COLUMNS, rowsOfBlock } from './score-rows.ts';

const [out, blocks, shard] = process.argv.slice(2);
const options = { columns: RUN_COLUMNS, signature: 'test', blocks: Number(blocks) };
const run = await openScoreRun(out, { ...options, shard: shard === undefined ? undefined : parseShard(shard) });
process.stdout.write(`begin ${run.next}\n`);
while (run.next < run.range.end) {
  await run.append(rowsOfBlock(run.next));
  process.stdout.write(`block ${run.next}\n`);
  await setTimeout(1);
}
await run.finish();
process.stdout.write('done\n');
