// Solvers and minimisers on trees of WebGPU tensors, in float32.

import { openDevice } from '../../src/index.ts';
import { deviceLoops } from '../support/device-loops.ts';
import { describeGpu } from '../support/gpu.ts';

await describeGpu('device loops on WebGPU', () => deviceLoops(() => openDevice({ kind: 'webgpu' }), 1e-4));
