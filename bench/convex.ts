// The convex bilinear model measured: scores of all pairs, removal, retraining, their growth, and Python peers.
// `npm run bench:convex [-- pairs parameters obvious python]` runs all parts, or those named.

import * as ecif from '../src/index.ts';
import { obviousRows } from './convex-obvious.ts';
import { pythonRows } from './convex-python.ts';
import { pairRows, parameterRows } from './convex-scaling.ts';
import { chosenParts, type Parts, runParts } from './parts.ts';

/** What every part gets: the device beside the CPU in float64. */
export interface ConvexBench {
  readonly device: ecif.Device;
}

const PARTS: Parts<ConvexBench> = {
  pairs: pairRows,
  parameters: parameterRows,
  obvious: obviousRows,
  python: pythonRows,
};

const chosen = chosenParts('convex', PARTS);
const device = await ecif.openDevice();
console.log(`${device.name}\n`);
await runParts('convex', device.name, PARTS, chosen, { device });
