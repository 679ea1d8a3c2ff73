// One sign for all scores: positive where removing the pair hurts.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { cpu, matrix } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-03-signs');

it('a pair with the wrong image scores below zero, every right pair above, and retraining agrees', async () => {
  const unit = (i: number): number[] => [0, 1, 2, 3].map((j) => (i === j ? 1 : 0));
  const [texts, images] = [
    [0, 1, 2, 3, 0],
    [0, 1, 2, 3, 1],
  ];
  const batch = { text: matrix(texts.map(unit)), image: matrix(images.map(unit)) };
  const clean = { text: matrix([0, 1, 2, 3].map(unit)), image: matrix([0, 1, 2, 3].map(unit)) };
  const problem = { model: ecif.bilinear(0.5), batches: [batch], decay: 1 };
  const { theta } = await ecif.minimise(ecif.totalLoss(problem), { w: ecif.zeros(cpu, [4, 4]) });
  const evaluation = (t: ecif.Bilinear): ecif.Tensor => ecif.batchLoss(problem.model, t, clean);
  const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta);
  const w = await h.solve(ecif.grad(evaluation)(theta));
  const scores = (await ecif.pairScores(problem, theta, w, 'corrected')).map(({ score }) => score);
  const before = await evaluation(theta).item();
  const changes: number[] = [];
  for (const position of [0, 1, 2, 3, 4]) {
    const without = ecif.lossWithout(problem, [{ batch: 0, positions: [position] }]);
    changes.push((await evaluation((await ecif.minimise(without, theta)).theta).item()) - before);
  }
  expect(scores.map(Math.sign)).toEqual([1, 1, 1, 1, -1]);
  expect(changes.map(Math.sign)).toEqual([1, 1, 1, 1, -1]);
});
