// Hessian products of random compositions on WebGPU, against gradients differenced in float64, to 1e-3.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CpuDevice } from '../../src/device/cpu.ts';
import { hvp, openDevice, scope, type Tensor } from '../../src/index.ts';
import { describeGpu } from '../support/gpu.ts';
import { relativeError } from '../support/op-checks.ts';
import { differencedGradient, graphFunction, graphPoint, graphs, place, readFlat } from '../support/random-graph.ts';

const GRAPHS = 300;
const cpu = new CpuDevice();

await describeGpu('random graphs', () => {
  it(`hvp equals the differenced gradient on ${GRAPHS} graphs`, async () => {
    const device = await openDevice({ kind: 'webgpu' });
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(graphs, async (graph) => {
        const { at, along } = graphPoint(graph);
        const product = scope(() =>
          hvp(graphFunction(graph), place(device, at) as readonly Tensor[], place(device, along)),
        );
        seen++;
        expect(relativeError(await readFlat(product), await differencedGradient(graph, cpu))).toBeLessThanOrEqual(1e-3);
        product.forEach((t) => t.dispose());
      }),
      { numRuns: GRAPHS, seed: 20261116 },
    );
    console.log(`random graphs: ${seen} on ${device.name}`);
    expect(device.memory().live).toBeLessThan(4096);
    device.destroy();
  }, 300_000);
});
