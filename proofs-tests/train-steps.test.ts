// The parts of training: step sizes, Adam's decay, clipping, L2, random streams, augmentation, the loop's stop at NaN.
import { describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import { affine } from '../src/autodiff/ops/unary.ts';
import { type Tensor, tensor } from '../src/autodiff/tensor.ts';
import { parseLayers, requireConsistent } from '../src/cli/train/options.ts';
import { openDevice } from '../src/device/open.ts';
import { bilinear, type Bilinear } from '../src/models/bilinear.ts';
import { augment } from '../src/models/clip/train-augment.ts';
import { streamOf } from '../src/models/clip/train-streams.ts';
import { DivergedError, train, type TrainTask } from '../src/models/clip/train.ts';
import { clipTree, Trainer, treeNorm } from '../src/models/fit.ts';
import type { PairBatch } from '../src/models/model.ts';
import { Adam } from '../src/models/optimizer.ts';
import { rateAt } from '../src/models/schedule.ts';
import { settingsOf } from './support/shapes.ts';

const device = await openDevice({ kind: 'cpu' });
const numbers = async (x: Tensor): Promise<number[]> => [...(await x.data())];

describe('step sizes', () => {
  it('rise over the warm-up, then fall along a cosine or stay', () => {
    const cosine = { kind: 'cosine', rate: 2, warmup: 4, steps: 12 } as const;
    expect([0, 1, 2, 3].map((step) => rateAt(cosine, step))).toEqual([0.5, 1, 1.5, 2]);
    expect(rateAt(cosine, 4)).toBe(2);
    expect(rateAt(cosine, 8)).toBeCloseTo(1, 12);
    expect(rateAt(cosine, 12)).toBeCloseTo(0, 12);
    expect([0, 4, 11].map((step) => rateAt({ ...cosine, kind: 'constant' }, step))).toEqual([0.5, 2, 2]);
    expect(rateAt({ kind: 'cosine', rate: 3, steps: 5 }, 0)).toBe(3);
  });
});

describe('clipping', () => {
  it('shortens a long gradient to the limit, along the same direction, and leaves a short one alone', async () => {
    const tree = { a: tensor(device, [3, 0]), b: tensor(device, [[0], [4]]) };
    const norm = treeNorm(tree);
    expect(await norm.item()).toBe(5);
    const short = clipTree(tree, norm, 1);
    expect(await numbers(short.a)).toEqual([expect.closeTo(0.6, 15), 0]);
    expect(await numbers(short.b)).toEqual([0, expect.closeTo(0.8, 15)]);
    expect(await numbers(clipTree(tree, norm, 9).a)).toEqual([3, 0]);
  });
});

describe('Adam', () => {
  it('decays toward zero, or toward a centre, apart from the gradient', async () => {
    const step = async (centre?: Tensor): Promise<number[]> => {
      const theta = { x: tensor(device, [10, -10]) };
      const adam = new Adam(theta, { decay: 0.5 }, undefined, centre === undefined ? undefined : { x: centre });
      return numbers(adam.step(theta, { x: tensor(device, [0, 0]) }, 0.1).x);
    };
    expect(await step()).toEqual([9.5, -9.5]);
    expect(await step(tensor(device, [10, 10]))).toEqual([10, -9]);
  });

  it('goes on from its state as if it had never stopped', async () => {
    const g = { x: tensor(device, [1, -2]) };
    const start = (): { x: Tensor } => ({ x: tensor(device, [1, 2]) });
    const whole = new Adam(start());
    let theta = start();
    for (let i = 0; i < 3; i++) theta = whole.step(theta, g, 0.1);
    const first = new Adam(start());
    const half = first.step(first.step(start(), g, 0.1), g, 0.1);
    const second = new Adam(half, {}, first.state);
    expect(await numbers(second.step(half, g, 0.1).x)).toEqual(await numbers(theta.x));
  });
});

/** Pairs of a bilinear model, three of them. */
const pairs = (): PairBatch => ({
  text: tensor(device, [
    [1, 0],
    [0, 1],
    [1, 1],
  ]),
  image: tensor(device, [
    [1, 0.2],
    [0.1, 1],
    [1, -1],
  ]),
});

describe('the trainer', () => {
  it('adds l2·(θ − centre) to the gradient of the mean loss', async () => {
    const start = (): Bilinear => ({
      w: tensor(device, [
        [1, 2],
        [3, 4],
      ]),
    });
    const norms = async (l2: number, centre?: Bilinear): Promise<number> =>
      new Trainer(start(), { l2, centre }).step(bilinear(1), pairs(), 3, 0).norm.item();
    const plain = await norms(0);
    expect(await norms(7, start())).toBeCloseTo(plain, 12);
    expect(await norms(1e6)).toBeCloseTo(1e6 * Math.sqrt(30), -1);
  });
});

describe('the loop', () => {
  const task = (bad: number): TrainTask<Bilinear, PairBatch> => ({
    device,
    model: () => bilinear(1),
    rows: (step) => Uint32Array.of(step, step + 10),
    batch: async (_rows, step) => {
      const { text, image } = pairs();
      return { text, image: step === bad ? affine(image, Infinity, 0) : image };
    },
  });
  const state = () => ({
    step: 0,
    theta: {
      w: tensor(device, [
        [0.1, 0.2],
        [0.3, 0.4],
      ]),
    },
  });

  it('stops at the first loss that is no number and names its batch', async () => {
    const seen: number[] = [];
    const error = await train(task(3), state(), {
      steps: 9,
      rate: () => 0.1,
      onStep: ({ step }) => seen.push(step),
    }).catch((e: unknown) => e);
    expect(seen).toEqual([1, 2, 3]);
    expect(error).toBeInstanceOf(DivergedError);
    expect((error as DivergedError).message).toMatch(/at step 4, on the batch of pairs 3, 13;/);
  });

  it('gives a state every few steps and after the last', async () => {
    const steps: number[] = [];
    await train(task(-1), state(), {
      steps: 7,
      rate: () => 0.1,
      checkpointEvery: 3,
      onCheckpoint: async ({ step, optimizer }) => {
        steps.push(step);
        expect(optimizer?.count).toBe(step);
      },
    });
    expect(steps).toEqual([3, 6, 7]);
  });
});

describe('options', () => {
  it('name layers one by one, as ranges, from the end, all or none', () => {
    const layers = (text: string): number[] => parseLayers('text-layers', text, 6);
    expect(layers('all')).toEqual([0, 1, 2, 3, 4, 5]);
    expect(layers('none')).toEqual([]);
    expect(layers('last:2')).toEqual([4, 5]);
    expect(layers('5,0-2,1')).toEqual([0, 1, 2, 5]);
    for (const odd of ['6', '2-1', 'x', '', '-1', '1.5']) {
      expect(() => layers(odd), odd).toThrow(/^--text-layers: found .*; give all, none, last:2 or layers in 0…5/);
    }
  });

  it.each([
    [{ data: 'a.csv', model: 'm' }, 'no run folder'],
    [{ out: 'r', model: 'm' }, 'DATA is missing'],
    [{ data: 'a.csv', out: 'r' }, 'give either --model DIR or --from-scratch CONFIG'],
    [{ data: 'a.csv', out: 'r', model: 'm', 'from-scratch': 'c' }, 'give either'],
    [{ data: 'a.csv', out: 'r', model: 'm', l2: 0, 'to-stationarity': 1e-6 }, 'has no minimiser'],
  ])('that do not go together are refused: %j', (given, message) => {
    expect(() => requireConsistent(settingsOf(given))).toThrow(message);
  });
});

describe('random streams', () => {
  it('differ by seed, purpose and every place, in whatever order the places are', () => {
    const streams = [
      streamOf(1, 'augment', 2, 3),
      streamOf(1, 'augment', 3, 2),
      streamOf(1, 'augment', 2),
      streamOf(1, 'dropout', 2, 3),
      streamOf(2, 'augment', 2, 3),
      streamOf(1, 'augment', 3, 3),
    ].map((rng) => rng.uniform());
    expect(new Set(streams).size).toBe(streams.length);
    expect(streamOf(1, 'augment', 2, 3).uniform()).toBe(streams[0]);
  });
});

describe('augmentation', () => {
  const image = { width: 8, height: 8, data: Uint8Array.from({ length: 192 }, (_, i) => (i * 7) % 256) };

  it('keeps the size, leaves a picture alone at crop 1, mirrors', () => {
    expect(augment(image, { crop: 1, flip: 0 }, createRng(0))).toBe(image);
    const mirrored = augment(image, { crop: 1, flip: 1 }, createRng(0));
    expect([...mirrored.data.subarray(0, 3)]).toEqual([...image.data.subarray(21, 24)]);
    expect(augment(mirrored, { crop: 1, flip: 1 }, createRng(0)).data).toEqual(image.data);
    const cropped = augment(image, { crop: 0.5, flip: 0 }, createRng(1));
    expect([cropped.width, cropped.height, cropped.data.length]).toEqual([8, 8, 192]);
    expect(cropped.data).not.toEqual(image.data);
    expect(augment(image, { crop: 0.5, flip: 0 }, createRng(1)).data).toEqual(cropped.data);
  });

  it('of one colour gives that colour', () => {
    const flat = { width: 9, height: 9, data: new Uint8Array(243).fill(77) };
    expect(augment(flat, { crop: 0.3, flip: 0.5 }, createRng(5)).data).toEqual(flat.data);
  });
});
