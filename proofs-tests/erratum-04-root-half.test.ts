// The proposition with √2/2 points away from where the parameters go.

import { expect, it } from 'vitest';
import { addScaled, dot, norm } from '../src/array/vector.ts';
import { predictedChange } from '../src/verify/claims/influence.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { settle } from '../src/verify/setting.ts';
import { cpu, median } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-04-root-half');

it('its cosine with the change that retraining makes has a median below −0.9', async () => {
  const cosines: number[] = [];
  for (let seed = 0; seed < 40; seed++) {
    const setting = await settle(randomInstance(seed), cpu);
    const truth = addScaled(setting.minimum(setting.plain.removal(1)), -1, setting.optimum);
    const printed = (await predictedChange(setting, 'corrected')).map((x) => -Math.SQRT1_2 * x);
    cosines.push(dot(printed, truth) / (norm(printed) * norm(truth)));
    setting.dispose();
  }
  expect(median(cosines)).toBeLessThan(-0.9);
});
