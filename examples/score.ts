// Scores every pair of a model of your own, and finds the captions that were swapped.

import * as ecif from '../src/index.ts';

const [PAIRS, WIDTH] = [96, 6];
const device = await ecif.openDevice({ kind: 'cpu' });
const rng = ecif.createRng(3);
const normal = (rows: number, columns: number, scale = 1) =>
  ecif.tensor(
    device,
    Float64Array.from({ length: rows * columns }, () => scale * rng.normal()),
    [rows, columns],
  );

// Pairs: each image is a fixed mixture of its caption with noise; in training one caption in six is another pair's.
const mixture = normal(WIDTH, WIDTH, 0.5);
const draw = () => {
  const text = normal(PAIRS, WIDTH);
  return { text, image: ecif.add(ecif.matmul(text, mixture), normal(PAIRS, WIDTH, 0.3)) };
};
const [clean, held] = [draw(), draw()];
const swapped = Array.from({ length: PAIRS }, (_, i) => i % 6 === 0);
const order = swapped.map((bad, i) => (bad ? (i + 6) % PAIRS : i));
const pick = (x: ecif.Tensor, rows: ArrayLike<number>) =>
  ecif.gather(x, ecif.tensor(device, Int32Array.from(rows), [rows.length], 'int'));
const trained = { text: pick(clean.text, order), image: clean.image };

// The model: any function of parameters and a batch to embeddings, written in ops.
const start = { text: normal(WIDTH, 8, 0.4), image: normal(WIDTH, 8, 0.4) };
const model: ecif.Model<typeof start, ecif.PairBatch> = {
  embed: (theta, { text, image }) => ({
    u: ecif.l2Normalize(ecif.tanh(ecif.matmul(text, theta.text))),
    v: ecif.l2Normalize(ecif.tanh(ecif.matmul(image, theta.image))),
  }),
  scale: () => 5,
};
const streamed = (pairs: ecif.PairBatch, l2: number) => ({
  ...{ model, l2, centre: start, partitions: [ecif.drawPartition(rng, PAIRS, 16)] },
  batch: async (rows: Uint32Array) => ({ text: pick(pairs.text, rows), image: pick(pairs.image, rows) }),
});

const loss = streamed(trained, 2); // batches come when their turn is; one at a time is on the device
const { theta, gradientNorm } = await ecif.settle(loss, start, { tolerance: 1e-8 });
const [{ gradient }] = await ecif.targetGradients(streamed(held, 0), theta, [{ name: 'held out', rows: null }]);
const solver = ecif.cgSolver(loss, theta);
const w = await solver.solve(gradient); // one solve,
const scores = new Float64Array(PAIRS);
for await (const { pairs } of ecif.streamScores(loss, theta, { targets: [w] }))
  // one sweep,
  for (const {
    row,
    scores: [found],
  } of pairs)
    scores[row] = found.score; // and every pair has its score.

const first = Array.from(ecif.orderBy(scores, 'lowest').slice(0, 8));
console.log(`trained to ‖∇L‖ = ${gradientNorm.toExponential(0)}, curvature: ${solver.about.curvature}`);
console.log(`most harmful: ${first.map((row) => `${row}${swapped[row] ? ' (swapped)' : ''}`).join(', ')}`);
console.log(`AUROC of swapped captions ${ecif.auroc(scores, swapped, 'lowest').toFixed(3)}`);
