// Hessian products of random compositions, against differenced gradients, to 1e-6 in float64.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import { grad, hvp, jvp, linearizeGrad, type Tensor } from '../src/index.ts';
import { relativeError } from './support/op-checks.ts';
import { differencedGradient, graphFunction, graphPoint, graphs, place, readFlat } from './support/random-graph.ts';

const GRAPHS = 300;
const cpu = new CpuDevice();

it(`hvp equals the differenced gradient on ${GRAPHS} random graphs`, async () => {
  let seen = 0;
  let nonlinear = 0;
  await fc.assert(
    fc.asyncProperty(graphs, async (graph) => {
      const { at, along } = graphPoint(graph);
      const f = graphFunction(graph);
      const x: readonly Tensor[] = place(cpu, at);
      const product = await readFlat(hvp(f, x, place(cpu, along)));
      const expected = await differencedGradient(graph, cpu);
      seen++;
      if (expected.some((v) => Math.abs(v) > 1e-3)) nonlinear++;
      expect(relativeError(product, expected)).toBeLessThanOrEqual(1e-6);
      const kept = linearizeGrad(f, x);
      expect(relativeError(await readFlat(kept.hvp(place(cpu, along))), product)).toBeLessThanOrEqual(1e-12);
      kept.dispose();
      const slope = await jvp(f, x, place(cpu, along)).tangent.item();
      const g = await readFlat(grad(f)(x));
      const flat = Float64Array.from(along.flatMap((v) => [...v]));
      const inner = g.reduce((s, v, i) => s + v * flat[i], 0);
      expect(Math.abs(slope - inner)).toBeLessThanOrEqual(1e-11 * (1 + Math.abs(slope)));
    }),
    { numRuns: GRAPHS, seed: 20261116 },
  );
  console.log(`random graphs: ${seen} on ${cpu.name}, ${nonlinear} with curvature`);
  expect(nonlinear).toBeGreaterThan(GRAPHS / 2);
});
