// The engine measured: matmul against its peers, Hessian products over gradients, sweeps over forwards, memory.
// `npm run bench:engine [-- matmul hvp jvp rows memory]` runs all parts, or those named.

import * as ecif from '../src/index.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import type { WebGpuDevice } from '../src/device/webgpu/device.ts';
import { hvpRows } from './engine-hvp.ts';
import { matmulRows } from './engine-matmul.ts';
import { memoryRows } from './engine-memory.ts';
import { rowKernelRows } from './engine-rows.ts';
import { installWebGpu } from './peers.ts';
import { publish, type Row } from './report.ts';

/** What every part gets. */
export interface Bench {
  readonly device: WebGpuDevice;
  readonly cpu: CpuDevice;
}

const PARTS: Record<string, (bench: Bench) => Promise<Row[]>> = {
  matmul: matmulRows,
  hvp: hvpRows,
  rows: rowKernelRows,
  memory: memoryRows,
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`bench:engine: no part ${unknown.join(', ')}; choose from ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
await installWebGpu();
const device = (await ecif.openDevice({ kind: 'webgpu' })) as WebGpuDevice;
console.log(`${device.name}\n`);
const rows: Row[] = [];
for (const [name, part] of Object.entries(PARTS)) {
  if (chosen.length === 0 || chosen.includes(name)) rows.push(...(await part({ device, cpu: new CpuDevice() })));
}
if (chosen.length === 0) process.exitCode = publish('engine', device.name, rows) ? 0 : 1;
else console.log('a part was chosen: bench/results and docs/performance.md are left as they are');
