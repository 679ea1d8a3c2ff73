// The certificates: known from the edited model alone, never below its distance to retraining.

import { describe, expect, it } from 'vitest';
import { certificateRatios, gather } from './support/bound-ratios.ts';
import { median } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('thm-certificates');

describe.each(['nothing', 'corrected', 'exact gradient', 'Newton'])('the edit by %s', (rung) => {
  it('700 removals: no certificate is ever below the error, and half of each sometimes is', async () => {
    const found = await gather(700, (one) => certificateRatios(rung, one));
    for (const name of ['p1', 'p2', 'p3']) {
      expect(found[name].length, name).toBeGreaterThan(50);
      expect(Math.min(...found[name]) / 2, name).toBeLessThan(1);
    }
    expect(median(found.p3)).toBeLessThan(median(found.p1));
  });
});
