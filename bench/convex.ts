// The convex bilinear model measured: scores of all pairs, removal, retraining, their growth, and Python peers.
// `npm run bench:convex [-- pairs parameters obvious python]` runs all parts, or those named.

import * as ecif from '../src/index.ts';
import { obviousRows } from './convex-obvious.ts';
import { pythonRows } from './convex-python.ts';
import { pairRows, parameterRows } from './convex-scaling.ts';
import { publish, type Row } from './report.ts';

/** What every part gets: the device beside the CPU in float64. */
export interface ConvexBench {
  readonly device: ecif.Device;
}

const PARTS: Record<string, (bench: ConvexBench) => Promise<Row[]>> = {
  pairs: pairRows,
  parameters: parameterRows,
  obvious: obviousRows,
  python: pythonRows,
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`bench:convex: no part ${unknown.join(', ')}; choose from ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
const device = await ecif.openDevice();
console.log(`${device.name}\n`);
const rows: Row[] = [];
for (const [name, part] of Object.entries(PARTS)) {
  if (chosen.length === 0 || chosen.includes(name)) rows.push(...(await part({ device })));
}
if (chosen.length === 0) process.exitCode = publish('convex', device.name, rows) ? 0 : 1;
else console.log('a part was chosen: bench/results and docs/performance.md are left as they are');
