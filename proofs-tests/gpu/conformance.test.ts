// Reference files on WebGPU: every quantity to 1e-3 of its largest entry.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareQuantities, convexQuantities } from '../../src/ecif/conformance.ts';
import { parseConvex } from '../../src/ecif/convex-file.ts';
import { type Device, openDevice } from '../../src/index.ts';
import { describeGpu } from '../support/gpu.ts';

await describeGpu('convex reference files in float32', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ kind: 'webgpu' });
  });
  afterAll(() => device.destroy());

  it.each([1, 2, 3, 4, 5])('convex-%i', async (i) => {
    const { problem, json } = parseConvex(
      'file',
      readFileSync(new URL(`../vectors/convex-${i}.json`, import.meta.url), 'utf8'),
    );
    const expected = json.expected as Parameters<typeof compareQuantities>[1];
    const tolerance = (quantity: string): number | null => (quantity.endsWith('.published') ? null : 1e-3);
    const comparisons = compareQuantities(await convexQuantities(problem, device), expected, tolerance);
    expect(comparisons).toHaveLength(30);
    expect(comparisons.filter((c) => !c.pass)).toEqual([]);
  });
});
