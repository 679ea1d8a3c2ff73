// The edit: θ̂ − positiveIF − negativeIF is the first-order move on the way to removal.

import { expect, it } from 'vitest';
import { addScaled, distance } from '../src/array/vector.ts';
import * as ecif from '../src/index.ts';
import { predictedChange } from '../src/verify/claims/influence.ts';
import { matrix, slope } from './support/hand.ts';
import { prove } from './support/proof.ts';
import { acrossBatches } from './support/settings.ts';

prove('eq-edit');

it('by hand: both influences are taken away', async () => {
  const { w } = ecif.removeByInfluence({ w: matrix([[5, 1]]) }, { w: matrix([[1, 2]]) }, { w: matrix([[0.5, -4]]) });
  expect([...(await w.data())]).toEqual([3.5, 3]);
});

it('a part t of the way it misses by t² with the corrected Neg, by t with the printed one', async () => {
  const setting = await acrossBatches();
  const { plain, minimum, optimum } = setting;
  const parts = [0.08, 0.04, 0.02, 0.01];
  const missed = async (form: ecif.NegForm): Promise<number[]> => {
    const change = await predictedChange(setting, form);
    return parts.map((t) => distance(addScaled(optimum, t, change), minimum(plain.removal(t))));
  };
  expect(Math.abs(slope(parts, await missed('corrected')) - 2)).toBeLessThan(0.1);
  expect(Math.abs(slope(parts, await missed('published')) - 1)).toBeLessThan(0.1);
});
