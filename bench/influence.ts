// Influence on the small CLIP measured: all scores, the one solve, removal against training again, what its error depends on, memory.
// `npm run bench:influence [-- scores solve removal effects memory]` runs all parts, or those named.

import { cpus, loadavg } from 'node:os';
import * as ecif from '../src/index.ts';
import { effectRows } from './influence-effects.ts';
import { memoryRows } from './influence-memory.ts';
import { type EmojiProblem, emojiProblem } from './influence-problem.ts';
import { removalRows } from './influence-removal.ts';
import { scoreRows } from './influence-scores.ts';
import { solveRows } from './influence-solve.ts';
import { trainedEmoji, type TrainedEmoji } from './influence-training.ts';
import { format, note, print, publish, type Row } from './report.ts';

/** δ for each pair: that of all parts, and a larger one beside it in the removal. */
const [L2, LARGER] = [0.5, 1];

type Train = (l2: number) => Promise<TrainedEmoji>;

const PARTS: Record<string, (trained: Train) => Promise<Row[]>> = {
  scores: async (trained) => scoreRows(await trained(L2)),
  solve: async (trained) => solveRows(await trained(L2)),
  removal: async (trained) => [
    ...(await removalRows(await trained(L2), `δ ${L2} a pair`)),
    ...(await removalRows(await trained(LARGER), `δ ${LARGER} a pair`)),
  ],
  effects: effectRows,
  memory: memoryRows,
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`bench:influence: no part ${unknown.join(', ')}; choose from ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
const device = await ecif.openDevice();
console.log(`${device.name}\n`);
const [load] = loadavg();
const rows = [print(note('machine', `load before the run, of ${cpus().length} cores`, format(load), { load }))];
const made = new Map<number, TrainedEmoji>();
let problem: EmojiProblem | undefined;
const trained: Train = async (l2) => {
  problem ??= await emojiProblem(device);
  const found = made.get(l2) ?? (await trainedEmoji(problem, l2));
  made.set(l2, found);
  return found;
};
for (const [name, part] of Object.entries(PARTS)) {
  if (chosen.length === 0 || chosen.includes(name)) rows.push(...(await part(trained)));
}
if (chosen.length === 0) process.exitCode = publish('influence', device.name, rows) ? 0 : 1;
else console.log('a part was chosen: bench/results and docs/performance.md are left as they are');
