// The recipe that the emoji model is trained by, and trained again after a removal: epochs of Adam, then to stationarity.

import { disposeTree } from '../src/autodiff/tensor.ts';
import { TRAIN_OPTIONS } from '../src/cli/train/options.ts';
import * as ecif from '../src/index.ts';
import { Trainer } from '../src/models/fit.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { rateAt } from '../src/models/schedule.ts';
import { settle } from '../src/models/settle.ts';
import { stacked } from '../src/models/stacked.ts';
import { objectiveOf } from '../src/models/streamed.ts';
import { BATCH, emojiLoss, type EmojiProblem, type EmojiStream } from './influence-problem.ts';

/** The epochs of `ecif train` unless told. */
const [EPOCHS, RATE] = [TRAIN_OPTIONS.epochs.default, TRAIN_OPTIONS.rate.default];
const CLIP = 1;
/** Then what `ecif train --to-stationarity` does, at a tolerance relative to the pairs. */
const SETTLE = { iterations: 300, newtonSteps: 50, noise: 1e-7, memory: 2 ** 30 };
/** ‖∇F‖ for each pair at which training ends. */
const STATIONARY = 5e-4;

/** Where training came to, and what it took. */
export interface Training {
  readonly theta: Adapter;
  readonly norm: number;
  readonly converged: boolean;
  readonly ms: { readonly epochs: number; readonly settling: number };
  readonly iterations: { readonly lbfgs: number; readonly newton: number };
}

const pairsOf = ({ partitions }: EmojiStream): number => partitions[0].reduce((n, rows) => n + rows.length, 0);

/** The epochs of Adam. */
async function epochsOf({ device, start }: EmojiProblem, loss: EmojiStream): Promise<Adapter> {
  const copy = ecif.treeSpace<Adapter>().combine([1], [start]);
  const trainer = new Trainer(copy, { l2: loss.l2 / (2 * pairsOf(loss)), centre: start, clip: CLIP });
  const batches = loss.partitions[0];
  const steps = EPOCHS * batches.length;
  for (let step = 0; step < steps; step++) {
    const rows = batches[step % batches.length];
    const batch = await loss.batch(rows);
    const rate = rateAt({ kind: 'cosine', rate: RATE, steps }, step);
    const made = trainer.step(loss.model, batch, rows.length, rate);
    disposeTree([made, batch]);
    await device.tick();
  }
  trainer.dispose();
  await device.sync();
  return trainer.theta;
}

/** The end of the recipe, from any θ: to stationarity, with batches laid together. */
export async function settleEmoji(loss: EmojiStream, from: Adapter): Promise<Training> {
  const begin = performance.now();
  const settled = await settle(await stacked(loss), from, { ...SETTLE, tolerance: STATIONARY * pairsOf(loss) });
  const { theta, gradientNorm: norm, converged, iterations } = settled;
  return { theta, norm, converged, ms: { epochs: 0, settling: performance.now() - begin }, iterations };
}

/** Trains from the start by the recipe. */
export async function trainEmoji(problem: EmojiProblem, loss: EmojiStream): Promise<Training> {
  const begin = performance.now();
  const rough = await epochsOf(problem, loss);
  const epochs = performance.now() - begin;
  const settled = await settleEmoji(loss, rough);
  disposeTree(rough);
  return { ...settled, ms: { ...settled.ms, epochs } };
}

/** Pairs that are trained on, the next ones being those that scores are for, and the others those that accuracy is taken on. */
const [TRAINED, VALIDATION] = [128, 128];

/** A trained model, ∇L_val there, and the pairs that accuracy is taken on. */
export interface TrainedEmoji {
  readonly problem: EmojiProblem;
  readonly loss: EmojiStream;
  readonly training: Training;
  readonly theta: Adapter;
  readonly gradient: Adapter;
  readonly heldOut: Uint32Array;
}

/**
 * Trains the model.
 * @param l2 δ for each pair
 */
export async function trainedEmoji(problem: EmojiProblem, l2: number): Promise<TrainedEmoji> {
  const loss = emojiLoss(problem, TRAINED, BATCH, l2);
  const training = await trainEmoji(problem, loss);
  const { theta } = training;
  const drawn = ecif.drawPartition(ecif.createRng(4), VALIDATION, BATCH);
  const validation = { ...loss, partitions: [drawn.map((rows) => rows.map((row) => TRAINED + row))], l2: 0 };
  const { gradient } = await objectiveOf(validation)(theta);
  const first = TRAINED + VALIDATION;
  const heldOut = Uint32Array.from({ length: problem.count - first }, (_, i) => first + i);
  return { problem, loss, training, theta, gradient, heldOut };
}
