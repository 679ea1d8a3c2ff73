// A claim as tests: it holds (as corrected) on generated instances, its printed form fails, and a wrong answer is seen.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../../src/device/cpu.ts';
import type { ConvexFile } from '../../src/ecif/convex-file.ts';
import { type Claim, type Measurement, toleranceOn } from '../../src/verify/claim.ts';
import { CLAIMS } from '../../src/verify/claims/index.ts';
import { randomInstance, type Shape } from '../../src/verify/instance.ts';
import { measureOn, summary } from '../../src/verify/run.ts';

const device = new CpuDevice();

/** Instances of a claim: sizes, constants and features, those of the claim's shape fixed. */
export const instances = (shape: Shape = {}): fc.Arbitrary<ConvexFile> =>
  fc
    .record({
      seed: fc.integer({ min: 0, max: 1e6 }),
      batches: fc.integer({ min: 1, max: 3 }),
      size: fc.integer({ min: 3, max: 6 }),
      text: fc.integer({ min: 1, max: 4 }),
      image: fc.integer({ min: 1, max: 4 }),
      temperature: fc.constantFrom(1, 0.5, 0.2),
      decay: fc.constantFrom(1, 5, 0.2, 0.05),
      remove: fc.integer({ min: 1, max: 3 }),
    })
    .map(({ seed, size, ...drawn }) =>
      randomInstance(seed, {
        pairs: drawn.batches * size,
        ...drawn,
        ...shape,
        ...fitting(shape, drawn.batches * size),
      }),
    );

/** A shape that fixes the number of batches fixes what the number of pairs must be a multiple of. */
const fitting = ({ batches, pairs }: Shape, drawn: number): Shape =>
  batches !== undefined && pairs === undefined ? { pairs: Math.max(batches * 3, Math.ceil(drawn / 3)) } : {};

/** The claim of a name. */
export function claimOf(id: string): Claim {
  const claim = CLAIMS.find((c) => c.id === id);
  if (claim === undefined) throw new Error(`no claim ${id}`);
  return claim;
}

/** Measurements of `runs` generated instances; the property fails at the first error above the tolerance, shrunk. */
async function examine(claim: Claim, runs: number): Promise<Measurement[]> {
  const tolerance = toleranceOn(claim, device);
  const seen: Measurement[] = [];
  const property = fc.asyncProperty(instances(claim.shape), async (file) => {
    const measured = await measureOn(claim, file, device);
    seen.push(measured);
    const error = claim.expected === 'holds' ? measured.printed : measured.corrected;
    if (error !== undefined && claim.byMedian !== true) expect(error).toBeLessThanOrEqual(tolerance);
  });
  await fc.assert(property, { numRuns: runs, seed: 20_240_611 });
  for (const file of claim.always ?? []) seen.push(await measureOn(claim, file, device));
  if (claim.byMedian === true) {
    const corrected = summary(
      seen.map((m) => m.corrected),
      true,
    );
    expect(corrected).toBeLessThanOrEqual(tolerance);
  }
  return seen;
}

/**
 * The tests of one claim.
 * @param runs generated instances
 */
export function prove(id: string, runs = 16): void {
  const claim = claimOf(id);
  const tolerance = toleranceOn(claim, device);
  describe(`${claim.place}: ${claim.statement}`, () => {
    let started: Promise<Measurement[]> | undefined;
    const seen = (): Promise<Measurement[]> => (started ??= examine(claim, claim.recorded === true ? 1 : runs));
    if (claim.expected === 'holds') {
      it('holds', async () => void (await seen()));
    } else {
      it('fails as printed', async () => {
        expect(Math.max(...(await seen()).map((m) => m.printed))).toBeGreaterThan(2 * tolerance);
      });
      if (claim.correction !== undefined) {
        it(`holds as corrected: ${claim.correction}`, async () => {
          expect((await seen()).every((m) => m.corrected !== undefined)).toBe(true);
        });
      }
    }
    it('an answer that is wrong on purpose is seen', async () => {
      const controls = (await seen()).flatMap((m) => m.control ?? []);
      expect(controls.length).toBeGreaterThan(0);
      expect(Math.max(...controls)).toBeGreaterThan(tolerance);
    });
  });
}
