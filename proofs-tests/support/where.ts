// Suites that need something of the machine: skipped loudly where it is missing, failed under ECIF_REQUIRE_GPU=1.

import { describe, it } from 'vitest';

/** `describe` where `available`; otherwise `reason` is said in a warning and in the title of the skipped suite. */
export function describeWhere(available: boolean, reason: string, name: string, fn: () => void): void {
  if (available) {
    describe(name, fn);
  } else if (process.env.ECIF_REQUIRE_GPU === '1') {
    it(`${name} (cannot run)`, () => {
      throw new Error(`ECIF_REQUIRE_GPU=1: ${reason}`);
    });
  } else {
    console.warn(`SKIPPED ${name}: ${reason}`);
    describe.skip(`${name} (skipped: ${reason})`, fn);
  }
}
