// Solvers and minimisers on trees of CPU tensors, in float64.

import { describe } from 'vitest';
import { openDevice } from '../src/index.ts';
import { deviceLoops } from './support/device-loops.ts';

describe('device loops on the CPU', () => deviceLoops(() => openDevice({ kind: 'cpu' }), 1e-8));
