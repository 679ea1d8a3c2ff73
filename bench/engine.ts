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
import { chosenParts, type Parts, runParts } from './parts.ts';

/** What every part gets. */
export interface Bench {
  readonly device: WebGpuDevice;
  readonly cpu: CpuDevice;
}

const PARTS: Parts<Bench> = {
  matmul: matmulRows,
  hvp: hvpRows,
  rows: rowKernelRows,
  memory: memoryRows,
};

const chosen = chosenParts('engine', PARTS);
await installWebGpu();
const device = (await ecif.openDevice({ kind: 'webgpu' })) as WebGpuDevice;
console.log(`${device.name}\n`);
await runParts('engine', device.name, PARTS, chosen, { device, cpu: new CpuDevice() });
