// With a cosine similarity and plain weight decay there is no minimiser; about a centre there is.

import { expect, it } from 'vitest';
import { treeMap } from '../src/array/tree.ts';
import * as ecif from '../src/index.ts';
import { cpu } from './support/hand.ts';
import { prove } from './support/proof.ts';
import { towerProblem } from './support/towers.ts';

prove('erratum-12-no-minimiser');

it('scaling the towers by c leaves the batch losses as they are and the decay c² times as large', async () => {
  const { problem, start } = towerProblem(cpu, 3);
  const { centre, ...plain } = problem;
  expect(centre).toBe(start);
  const at = (c: number): ecif.LinearTwoTower =>
    treeMap<ecif.Tensor, ecif.LinearTwoTower>(start, (x) => ecif.affine(x, c, 0));
  const total = (c: number): Promise<number> => ecif.scope(() => ecif.totalLoss(plain)(at(c))).item();
  const decay = await ecif.scope(() => ecif.decayTerm(start, plain.decay)).item();
  const rest = (await total(1)) - decay;
  for (const c of [0.5, 2, 10]) expect(Math.abs((await total(c)) - rest - c * c * decay)).toBeLessThan(1e-6);
});
