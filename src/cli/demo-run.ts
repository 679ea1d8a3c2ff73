// The demo's computation: train a small model on emoji, measure what it learned, check its derivatives.

import { createRng } from '../array/rng.ts';
import { treeLeaves } from '../array/tree.ts';
import { disposeTree, scope, type Tensor } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import type { EmojiPair } from '../data/emoji.node.ts';
import { epochBatches } from '../data/sampler.ts';
import { fit, rowsOf } from '../models/fit.ts';
import { nearestOther, pairLosses, type Retrieval, retrieval, shuffledRetrieval } from '../models/retrieval.ts';
import { batchLoss, type PairBatch, similarities } from '../models/model.ts';
import { initTwoTower, twoTower, type TwoTower } from '../models/two-tower.ts';
import { checkDerivatives, type DerivativeCheck } from './demo-check.ts';
import { type PairSet, split } from './demo-data.ts';
import type { Progress } from './progress.ts';

/** Sizes of the demo. */
export interface DemoSettings {
  readonly groups: readonly string[];
  /** Pixels a side. */
  readonly side: number;
  /** Hashed features of a caption. */
  readonly features: number;
  readonly hidden: number;
  readonly shared: number;
  readonly batch: number;
  readonly steps: number;
  readonly rate: number;
  readonly decay: number;
  readonly temperature: number;
  /** Emoji kept from training. */
  readonly unseen: number;
  /** Pairs of the derivative check, and pairs listed. */
  readonly hardest: number;
}

/** Permutations of the control. */
export const SHUFFLES = 100;

const COMMON = {
  groups: ['Smileys & Emotion', 'People & Body', 'Animals & Nature', 'Food & Drink', 'Objects'],
  decay: 0.1,
  temperature: 0.1,
  unseen: 100,
  hardest: 16,
};

/** Sizes for about half a minute on two cores: fewer pixels and units where every op runs in float64 on the CPU. */
export const SETTINGS: Readonly<Record<Device['kind'], DemoSettings>> = {
  webgpu: { ...COMMON, side: 16, features: 512, hidden: 128, shared: 64, batch: 128, steps: 600, rate: 2e-3 },
  cpu: { ...COMMON, side: 12, features: 256, hidden: 64, shared: 32, batch: 64, steps: 600, rate: 4e-3 },
};

/** A pair the model finds hard. */
export interface HardPair {
  readonly emoji: string;
  readonly caption: string;
  readonly loss: number;
  /** The other caption that its picture is most similar to. */
  readonly nearest: string;
}

/** What the demo found. */
export interface DemoResult {
  readonly device: string;
  readonly seed: number;
  readonly settings: DemoSettings;
  readonly parameters: number;
  /** Mean loss of a caption or picture among all trained pairs: before, after, and of guessing evenly. */
  readonly loss: { readonly untrained: number; readonly trained: number; readonly even: number };
  readonly retrieval: {
    readonly trained: Retrieval;
    readonly unseenTone: Retrieval;
    readonly unseenEmoji: Retrieval;
    /** The trained pairs with their captions permuted, the mean of several permutations: must be at chance. */
    readonly shuffled: Retrieval;
  };
  readonly check: DerivativeCheck;
  readonly hardest: readonly HardPair[];
  readonly timing: { readonly trainSeconds: number; readonly stepsPerSecond: number };
  readonly peakBytes: number;
}

/** Similarities of all captions with all pictures of a batch, on the host. */
async function readSimilarities(theta: TwoTower, batch: PairBatch, temperature: number): Promise<ArrayLike<number>> {
  const s = scope(() => similarities(twoTower(temperature), theta, batch));
  const values = await s.data();
  s.dispose();
  return values;
}

const meanLoss = (losses: Float64Array): number => losses.reduce((a, b) => a + b, 0) / (2 * losses.length);

/** The pairs with the highest loss, highest first. */
function rankHardest(
  s: ArrayLike<number>,
  losses: Float64Array,
  { pairs }: PairSet,
  count: number,
): { rows: number[]; list: HardPair[] } {
  const n = pairs.length;
  const rows = Array.from(losses.keys())
    .sort((a, b) => losses[b] - losses[a])
    .slice(0, count);
  const list = rows.map((k) => {
    const { emoji, caption } = pairs[k];
    return { emoji, caption, loss: losses[k], nearest: pairs[nearestOther(s, n, k)].caption };
  });
  return { rows, list };
}

/** Trains with a line of progress now and then. */
async function train(
  theta: TwoTower,
  { pairs, batch }: PairSet,
  settings: DemoSettings,
  seed: number,
  progress: Progress,
) {
  const { steps, rate, decay, temperature } = settings;
  const began = performance.now();
  let timed = { step: 0, at: began };
  const note = (step: number, loss: number): void => {
    const now = performance.now();
    // The first step compiles kernels, so speed is counted from its end.
    if (step === 1) timed = { step, at: now };
    const speed = step > timed.step ? (1000 * (step - timed.step)) / (now - timed.at) : null;
    const rest = speed === null ? '' : `  ${speed.toFixed(1)} steps/s  ${Math.ceil((steps - step) / speed)} s left`;
    progress.status(`step ${step}/${steps}  loss ${loss.toFixed(3)}${rest}`);
  };
  const batches = epochBatches(createRng(seed).fork(2), pairs.length, settings.batch);
  const report = { every: Math.max(1, Math.round(steps / 12)), note };
  const trained = await fit(twoTower(temperature), theta, batch, { batches, steps, rate, decay, report });
  await batch.text.device.sync();
  const seconds = (performance.now() - began) / 1000;
  return { trained, timing: { trainSeconds: seconds, stepsPerSecond: steps / seconds } };
}

/**
 * Trains and measures. Equal seeds give equal results on one device.
 * @param pairs emoji with their names
 */
export async function runDemo(
  device: Device,
  pairs: readonly EmojiPair[],
  settings: DemoSettings,
  seed: number,
  progress: Progress,
): Promise<DemoResult> {
  const { temperature, features, hidden, shared, side, unseen } = settings;
  const rng = createRng(seed);
  const sets = split(device, rng.fork(0), pairs, unseen, features);
  const start = initTwoTower(device, rng.fork(1), { text: features, image: 3 * side * side, hidden, shared });
  const n = sets.trained.pairs.length;
  const read = (theta: TwoTower, set: PairSet): Promise<ArrayLike<number>> =>
    readSimilarities(theta, set.batch, temperature);
  const untrained = meanLoss(pairLosses(await read(start, sets.trained), n));
  const { trained, timing } = await train(start, sets.trained, settings, seed, progress);
  progress.line('measuring retrieval and checking derivatives');
  const s = await read(trained, sets.trained);
  const losses = pairLosses(s, n);
  const { rows, list } = rankHardest(s, losses, sets.trained, settings.hardest);
  const measure = async (set: PairSet): Promise<Retrieval> => retrieval(await read(trained, set), set.pairs.length);
  const batch = scope(() => rowsOf(sets.trained.batch, rows));
  const check = await checkDerivatives(trained, batch, (p, b) => batchLoss(twoTower(temperature), p, b), seed);
  const result: DemoResult = {
    device: device.name,
    seed,
    settings,
    parameters: treeLeaves<Tensor>(trained).reduce((count, x) => count + x.size, 0),
    loss: { untrained, trained: meanLoss(losses), even: Math.log(n) },
    retrieval: {
      trained: retrieval(s, n),
      unseenTone: await measure(sets.unseenTone),
      unseenEmoji: await measure(sets.unseenEmoji),
      shuffled: shuffledRetrieval(s, n, rng.fork(4), SHUFFLES),
    },
    check,
    hardest: list,
    timing,
    peakBytes: device.memory().peak,
  };
  disposeTree([trained, batch, sets.trained.batch, sets.unseenTone.batch, sets.unseenEmoji.batch]);
  return result;
}
