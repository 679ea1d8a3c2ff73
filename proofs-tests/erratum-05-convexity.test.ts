// L⁻ with the printed Neg is not convex at θ̂, so that it has no minimiser to speak of.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { settle } from '../src/verify/setting.ts';
import { cpu } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-05-convexity');

it('its Hessian at θ̂ is indefinite in about 90 % of cases with the printed Neg, in none with the exact one', async () => {
  const count = { published: 0, exact: 0 };
  const cases = 60;
  for (let seed = 0; seed < cases; seed++) {
    const setting = await settle(randomInstance(seed), cpu);
    for (const form of ['published', 'exact'] as const) {
      const loss = ecif.surrogateLoss(setting.problem, setting.seg, form);
      const { matrix, size } = await ecif.hessian(loss, setting.theta);
      if (ecif.symmetricEigen(matrix, size).values[0] < 0) count[form]++;
    }
    setting.dispose();
  }
  expect(count.published / cases).toBeGreaterThan(0.8);
  expect(count.exact).toBe(0);
});

it('it falls without end: far out along some direction L⁻ with the printed Neg is below any level', async () => {
  const { problem, seg, theta } = await settle(randomInstance(4, { text: 2, image: 2, pairs: 6, batches: 1 }), cpu);
  const loss = ecif.surrogateLoss(problem, seg, 'published');
  const at = (c: number): Promise<number> => ecif.scope(() => loss({ w: ecif.affine(theta.w, c, 0) })).item();
  const along = Math.min(await at(60), await at(-60));
  expect(along).toBeLessThan((await at(1)) - 1e6);
});
