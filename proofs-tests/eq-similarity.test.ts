// The similarity: a cosine over the temperature.

import { expect, it } from 'vitest';
import * as ecif from '../src/index.ts';
import { matrix } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('eq-similarity');

it('by hand: cos((3, 4), (4, 3)) = 24/25, whatever the lengths of the towers, over τ', async () => {
  const batch = { text: matrix([[3, 4]]), image: matrix([[4, 3]]) };
  for (const [length, tau] of [
    [1, 1],
    [7, 1],
    [0.5, 0.5],
    [3, 0.07],
  ]) {
    const tower = matrix([
      [length, 0],
      [0, length],
    ]);
    const s = ecif.similarities(
      ecif.linearTwoTower(tau),
      {
        text: tower,
        image: matrix([
          [2, 0],
          [0, 2],
        ]),
      },
      batch,
    );
    expect(await s.item()).toBeCloseTo(24 / 25 / tau, 11);
  }
});

it('S is not symmetric: row i is the text, column j the image', async () => {
  const batch = {
    text: matrix([
      [1, 0],
      [0, 1],
    ]),
    image: matrix([
      [1, 0],
      [1, 0],
    ]),
  };
  const s = ecif.similarities(
    ecif.bilinear(0.5),
    {
      w: matrix([
        [2, 0],
        [0.5, 1],
      ]),
    },
    batch,
  );
  expect([...(await s.data())]).toEqual([4, 4, 1, 1]);
});
