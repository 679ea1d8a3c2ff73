// The bounds hold on every instance tried, and half of each does not.

import { expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { trainedConvex } from './support/convex.ts';
import { readFlat } from './support/random-graph.ts';

const device = new CpuDevice();
const INSTANCES = 150;
const distance = (a: Float64Array, b: Float64Array): number => Math.sqrt(a.reduce((s, x, i) => s + (x - b[i]) ** 2, 0));

/** Bound over error of every instance where the bound exists. */
async function ratios(): Promise<Record<string, number[]>> {
  const out: Record<string, number[]> = { lipschitz: [], selfConcordant: [], p1: [], p2: [], p3: [] };
  for (let seed = 0; seed < INSTANCES; seed++) {
    const setting = {
      temperature: [0.1, 0.5, 1][seed % 3],
      decay: [0.01, 0.1, 1, 10][seed % 4],
      remove: [1, 2, 4][(seed >> 2) % 3],
    };
    const { problem, theta, seg, removal } = await trainedConvex(device, { seed, ...setting });
    const edited = await ecif.removeLinear(removal, 'corrected');
    const retrained = await readFlat([(await ecif.minimise(removal.without, theta)).theta.w]);
    const error = distance(await readFlat([edited.w]), retrained);
    const all = {
      ...(await ecif.priorBounds(problem, theta, seg)),
      ...(await ecif.certificates(problem, edited, seg)),
    };
    for (const [name, bound] of Object.entries(all)) if (bound !== null) out[name].push(bound / error);
  }
  return out;
}

it('no bound is ever below the error, and half of a certificate sometimes is', async () => {
  const found = await ratios();
  const median = (v: number[]): number => v.toSorted((a, b) => a - b)[v.length >> 1];
  for (const [name, values] of Object.entries(found)) {
    expect(values.length, name).toBeGreaterThan(INSTANCES / 10);
    expect(Math.min(...values), name).toBeGreaterThanOrEqual(1 - 1e-9);
  }
  // Control: scaled by one half, the certificates break somewhere.
  for (const name of ['p1', 'p2', 'p3']) expect(Math.min(...found[name]) / 2, name).toBeLessThan(1);
  expect(median(found.p3)).toBeLessThan(median(found.p1));
  expect(median(found.selfConcordant)).toBeLessThan(median(found.lipschitz));
  const summary = Object.entries(found).map(([name, v]) => `${name} ${median(v).toPrecision(3)} (${v.length})`);
  console.log(`bound/error, medians over ${INSTANCES} removals: ${summary.join(', ')}`);
});
