// Influence on the small CLIP measured: all scores, the one solve, removal against training again, memory.
// `npm run bench:influence [-- scores solve removal memory]` runs all parts, or those named.

import { cpus, loadavg } from 'node:os';
import * as ecif from '../src/index.ts';
import { memoryRows } from './influence-memory.ts';
import { removalRows } from './influence-removal.ts';
import { scoreRows } from './influence-scores.ts';
import { solveRows } from './influence-solve.ts';
import { trainedEmoji, type TrainedEmoji } from './influence-training.ts';
import { format, note, print, publish, type Row } from './report.ts';

const PARTS: Record<string, (trained: () => Promise<TrainedEmoji>) => Promise<Row[]>> = {
  scores: async (trained) => scoreRows(await trained()),
  solve: async (trained) => solveRows(await trained()),
  removal: async (trained) => removalRows(await trained()),
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
let once: Promise<TrainedEmoji> | undefined;
const trained = (): Promise<TrainedEmoji> => (once ??= trainedEmoji(device));
for (const [name, part] of Object.entries(PARTS)) {
  if (chosen.length === 0 || chosen.includes(name)) rows.push(...(await part(trained)));
}
if (chosen.length === 0) process.exitCode = publish('influence', device.name, rows) ? 0 : 1;
else console.log('a part was chosen: bench/results and docs/performance.md are left as they are');
