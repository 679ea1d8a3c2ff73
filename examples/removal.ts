// Removes one pair from a trained model without training again, and says how far from retraining that can be.

import * as ecif from '../src/index.ts';

const device = await ecif.openDevice({ kind: 'cpu' });
const rng = ecif.createRng(7);
const rows = (width: number) =>
  ecif.tensor(
    device,
    Float64Array.from({ length: 8 * width }, () => rng.normal()),
    [8, width],
  );
const batches = [0, 1].map(() => ({ text: rows(4), image: rows(3) })); // two batches of eight pairs
const problem = { model: ecif.bilinear(1), batches, decay: 1 };

const { theta } = await ecif.minimise(ecif.totalLoss(problem), { w: ecif.zeros(device, [4, 3]) });
const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta);
const seg = [{ batch: 0, positions: [3] }]; // pair 3 of the first batch
const removal = ecif.removalOf(problem, theta, seg, h);

const retrained = await ecif.minimise(removal.without, theta); // what the edits are to come close to
const distance = async (edited: ecif.Bilinear) => {
  const [a, b] = await ecif.readAll([edited.w, retrained.theta.w]);
  return Math.hypot(...a.map((x: number, i: number) => x - b[i]));
};
const rungs = {
  nothing: theta,
  published: await ecif.removeLinear(removal, 'published'),
  corrected: await ecif.removeLinear(removal, 'corrected'),
  Newton: await ecif.removeByNewton(removal),
};
for (const [name, edited] of Object.entries(rungs)) {
  const { p1, p3 } = await ecif.certificates(problem, edited, seg);
  console.log(
    `${name.padEnd(9)} ${(await distance(edited)).toFixed(4)} from retraining, certified ${(p3 ?? p1).toFixed(4)}`,
  );
}

const evaluation = (t: ecif.Bilinear) => ecif.batchLoss(problem.model, t, batches[1]);
const w = await h.solve(ecif.grad(evaluation)(theta)); // one solve, one sweep: the score of every pair
const scores = await ecif.pairScores(problem, theta, w, 'corrected');
const [worst] = scores.toSorted((a, b) => a.score - b.score);
console.log(`most harmful: batch ${worst.batch}, pair ${worst.position}, score ${worst.score.toFixed(4)}`);
