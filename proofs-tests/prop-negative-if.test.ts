// The influence of pairs as negatives: the derivative of the trained parameters in ζ, at ζ = 1, with the corrected Neg.

import { expect, it } from 'vitest';
import { influences } from '../src/verify/claims/influence.ts';
import { apart } from '../src/verify/claim.ts';
import { derivative } from '../src/verify/plain.ts';
import { acrossBatches } from './support/settings.ts';
import { prove } from './support/proof.ts';

prove('prop-negative-if');

it('a set over several batches: training again beside ζ = 1, at any small step, gives the corrected form', async () => {
  const setting = await acrossBatches();
  const { plain, minimum } = setting;
  const { negative } = await influences(setting, 'corrected');
  const errors = [4e-2, 2e-2, 1e-2, 1e-3].map((h) =>
    apart(
      derivative((t) => minimum(plain.negative(1 + t)), h),
      negative,
    ),
  );
  expect(errors[0] / errors[1]).toBeGreaterThan(12);
  expect(errors[1] / errors[2]).toBeGreaterThan(12);
  expect(errors[3]).toBeLessThan(1e-8);
  // Controls: neither of the other forms is that derivative, at any step.
  for (const form of ['published', 'exact'] as const) {
    const other = (await influences(setting, form)).negative;
    expect(apart(other, negative), form).toBeGreaterThan(0.05);
  }
});

it('where the expansion is at another ζ the derivative is another one: it grows towards ζ = 0', async () => {
  const setting = await acrossBatches();
  const { plain, minimum } = setting;
  const at = (zeta: number): Float64Array => derivative((t) => minimum(plain.negative(zeta + t)), 1e-3);
  const { negative } = await influences(setting, 'corrected');
  expect(apart(at(1), negative)).toBeLessThan(1e-8);
  expect(apart(at(0.9), negative)).toBeLessThan(apart(at(0.5), negative));
  expect(apart(at(0.5), negative)).toBeGreaterThan(0.02);
});
