// The influence of pairs as positives: the derivative of the trained parameters in their weight.

import { expect, it } from 'vitest';
import { influences } from '../src/verify/claims/influence.ts';
import { apart } from '../src/verify/claim.ts';
import { derivative } from '../src/verify/plain.ts';
import { acrossBatches } from './support/settings.ts';
import { prove } from './support/proof.ts';

prove('prop-positive-if');

it('a set over several batches: training again with ε of any small size gives the same derivative', async () => {
  const { plain, minimum, ...setting } = await acrossBatches();
  const { positive } = await influences({ plain, minimum, ...setting }, 'corrected');
  const errors = [4e-2, 2e-2, 1e-2, 1e-3].map((h) =>
    apart(
      derivative((t) => minimum(plain.positive(t)), h),
      positive,
    ),
  );
  // Differences of fourth order: half the step, a sixteenth of the error.
  expect(errors[0] / errors[1]).toBeGreaterThan(12);
  expect(errors[1] / errors[2]).toBeGreaterThan(12);
  expect(errors[3]).toBeLessThan(1e-8);
});

it('control: the influence of the same number of other pairs is another vector', async () => {
  const [one, other] = [await acrossBatches(0), await acrossBatches(1)];
  const of = async (s: typeof one): Promise<Float64Array> => (await influences(s, 'corrected')).positive;
  expect(one.optimum).toEqual(other.optimum);
  expect(apart(await of(one), await of(other))).toBeGreaterThan(0.1);
});
