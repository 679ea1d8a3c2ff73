// The demo: finite, reproducible, learns what its control does not, in constant memory, with checked derivatives.
import { beforeAll, describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import { checkDerivatives } from '../src/cli/demo-check.ts';
import { type DemoResult, type DemoSettings, runDemo, SETTINGS, SHUFFLES } from '../src/cli/demo-run.ts';
import { captionFeatures } from '../src/data/captions.ts';
import { emojiCodes, type EmojiPair, pictureFile, readEmoji } from '../src/data/emoji.node.ts';
import { epochBatches } from '../src/data/sampler.ts';
import {
  batchLoss,
  contrastive,
  matmul,
  mul,
  openDevice,
  square,
  stopGradient,
  sum,
  Tensor,
  tensor,
  valueAndGrad,
} from '../src/index.ts';
import { fit } from '../src/models/fit.ts';
import { Adam } from '../src/models/optimizer.ts';
import { pairLosses, type Recall, retrieval } from '../src/models/retrieval.ts';
import { initTwoTower, twoTower, type TwoTower } from '../src/models/two-tower.ts';
import type { PairBatch } from '../src/models/model.ts';
import { runCli } from './support/cli.ts';

const silent = { line: () => undefined, status: () => undefined };

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

/** How far a recall may be from chance: five standard deviations of n independent guesses, over all shuffles. */
const spread = ({ r5 }: Recall, n: number): number => 5 * Math.sqrt((r5 * (1 - r5)) / (SHUFFLES * n));

describe('ecif demo', () => {
  it('prints one JSON document of finite numbers after five steps on the CPU', async () => {
    const { stdout, stderr, code } = await runCli(['demo', '--steps', '5', '--device', 'cpu', '--json']);
    expect(code).toBe(0);
    const result = JSON.parse(stdout) as DemoResult;
    const numbers = numbersIn(result);
    expect(numbers.length).toBeGreaterThan(40);
    expect(result.check.device).toBeNull();
    expect(stdout.match(/\bnull\b/g)).toHaveLength(1);
    expect(numbers.every(Number.isFinite)).toBe(true);
    expect(result.settings.steps).toBe(5);
    expect(result.check.ok).toBe(true);
    expect(stderr).toContain('step 5/5  loss ');
  });
});

describe('a short run', () => {
  const settings: DemoSettings = {
    ...SETTINGS.cpu,
    groups: ['Animals & Nature', 'People & Body'],
    side: 8,
    features: 128,
    hidden: 32,
    shared: 16,
    steps: 150,
    unseen: 60,
  };
  let pairs: EmojiPair[];
  let result: DemoResult;
  const run = async (some: Partial<DemoSettings>, seed = 1): Promise<DemoResult> =>
    runDemo(await openDevice({ kind: 'cpu' }), pairs, { ...settings, ...some }, seed, silent);

  beforeAll(async () => {
    pairs = await readEmoji(settings);
    result = await run({});
  });

  it('lowers the loss below the untrained one and below guessing', () => {
    expect(result.loss.trained).toBeLessThan(0.6 * result.loss.untrained);
    expect(result.loss.trained).toBeLessThan(0.7 * result.loss.even);
  });

  it('retrieves far above chance, on pictures and names it never saw too', () => {
    const { trained, unseenTone, unseenEmoji } = result.retrieval;
    for (const direction of ['textToImage', 'imageToText'] as const) {
      expect(trained[direction].r5).toBeGreaterThan(20 * trained.chance.r5);
      expect(unseenTone[direction].r5).toBeGreaterThan(5 * unseenTone.chance.r5);
      expect(unseenEmoji[direction].r5).toBeGreaterThan(2 * unseenEmoji.chance.r5);
    }
  });

  it('is at chance with shuffled captions', () => {
    const { shuffled } = result.retrieval;
    for (const direction of ['textToImage', 'imageToText'] as const) {
      expect(Math.abs(shuffled[direction].r5 - shuffled.chance.r5)).toBeLessThan(
        spread(shuffled.chance, shuffled.pairs),
      );
    }
  });

  it('has exact derivatives and lists the hardest pairs first', () => {
    expect(result.check.float64.gradient).toBeLessThan(1e-7);
    expect(result.check.float64.hvp).toBeLessThan(1e-7);
    const losses = result.hardest.map(({ loss }) => loss);
    expect(losses).toEqual([...losses].sort((a, b) => b - a));
    expect(losses).toHaveLength(settings.hardest);
  });

  it('gives the same result for the same seed, another for another', async () => {
    const [a, b, c] = [await run({ steps: 8 }), await run({ steps: 8 }), await run({ steps: 8 }, 2)];
    expect({ ...b, timing: a.timing }).toEqual(a);
    expect(c.loss.trained).not.toBe(a.loss.trained);
  });

  it('never trains on an unseen emoji or tone', () => {
    const { trained, unseenEmoji, unseenTone } = result.retrieval;
    expect(trained.pairs + unseenEmoji.pairs).toBe(pairs.length);
    expect(unseenTone.pairs).toBeGreaterThan(200);
    expect(pairs.every(({ pixels, variant }) => variant === null || variant.some((v, i) => v !== pixels[i]))).toBe(
      true,
    );
  });
});

describe('training', () => {
  it('keeps device memory constant', async () => {
    const device = await openDevice({ kind: 'cpu' });
    const rng = createRng(0);
    const random = (n: number, width: number): Tensor =>
      tensor(
        device,
        Float64Array.from({ length: n * width }, () => rng.normal()),
        [n, width],
      );
    const pairs = { text: random(20, 6), image: random(20, 9) };
    const theta = initTwoTower(device, rng, { text: 6, image: 9, hidden: 5, shared: 4 });
    const seen: string[] = [];
    const note = (): void => void seen.push(JSON.stringify([device.memory().live, device.memory().buffers]));
    const batches = epochBatches(rng, 20, 8);
    await fit(twoTower(0.1), theta, pairs, { batches, steps: 25, rate: 1e-2, decay: 0, report: { every: 1, note } });
    expect(new Set(seen).size).toBe(1);
  });

  it('Adam takes the steps of its definition and gives back what it replaces', async () => {
    const device = await openDevice({ kind: 'cpu' });
    let theta: { w: Tensor } = { w: tensor(device, [1, -2]) };
    const adam = new Adam(theta, { rate: 0.1, decay: 0.5 });
    const expected = { w: [1, -2], m: [0, 0], v: [0, 0] };
    for (let t = 1; t <= 4; t++) {
      const { grad } = valueAndGrad(({ w }: { w: Tensor }) => sum(square(w)))(theta);
      theta = adam.step(theta, grad);
      expected.w = expected.w.map((w, i) => {
        expected.m[i] = 0.9 * expected.m[i] + 0.1 * 2 * w;
        expected.v[i] = 0.999 * expected.v[i] + 0.001 * 4 * w * w;
        const step = expected.m[i] / (1 - 0.9 ** t) / (Math.sqrt(expected.v[i] / (1 - 0.999 ** t)) + 1e-8);
        return w - 0.1 * 0.5 * w - 0.1 * step;
      });
    }
    const w = await theta.w.data();
    expect(Math.max(...expected.w.map((x, i) => Math.abs(x - w[i])))).toBeLessThan(1e-12);
  });

  it('the derivative check fails where a gradient or a curvature is wrong', async () => {
    const device = await openDevice({ kind: 'cpu' });
    const theta = initTwoTower(device, createRng(0), { text: 2, image: 2, hidden: 3, shared: 2 });
    const [text, image] = [
      tensor(device, [
        [1, 2],
        [-1, 1],
      ]),
      tensor(device, [
        [1, 0],
        [0.5, 1],
      ]),
    ];
    const batch = { text, image };
    const right = (p: TwoTower, b: PairBatch): Tensor => batchLoss(twoTower(0.5), p, b);
    const constantCaptions = (p: TwoTower, b: PairBatch): Tensor => {
      const { u, v } = twoTower(0.5).embed(p, b);
      return contrastive(matmul(stopGradient(u), v, { form: 'nt', alpha: 2 }));
    };
    const withNaN = (p: TwoTower, b: PairBatch): Tensor => mul(right(p, b), NaN);
    expect(await checkDerivatives(theta, batch, right, 0)).toMatchObject({ ok: true, pairs: 2 });
    const detached = await checkDerivatives(theta, batch, constantCaptions, 0);
    expect(detached.ok).toBe(false);
    expect(Math.min(detached.float64.gradient, detached.float64.hvp)).toBeGreaterThan(1e-3);
    expect((await checkDerivatives(theta, batch, withNaN, 0)).ok).toBe(false);
  });
});

describe('data', () => {
  it('names pictures by code points and stays in its folder', () => {
    expect(emojiCodes('☀️')).toEqual(['2600']);
    expect(emojiCodes('👨‍⚕️')).toEqual(['1f468', '200d', '2695', 'fe0f']);
    expect(emojiCodes('../a')).toEqual(['2e', '2e', '2f', '61']);
    expect(pictureFile('/pictures', ['2600'])).toMatch(/2600\.svg$/);
    for (const name of ['../../etc/passwd', '/../x', 'a/b'])
      expect(() => pictureFile('/pictures', [name])).toThrow('no file name');
  });

  it('draws real pictures: a red apple is red, a green one green', async () => {
    const food = await readEmoji({ groups: ['Food & Drink'], side: 8 });
    const ink = (caption: string): number[] => {
      const { pixels } = food.find((pair) => pair.caption === caption) as EmojiPair;
      return [0, 1, 2].map((c) => pixels.reduce((s, v, i) => (i % 3 === c ? s + v : s), 0));
    };
    const [red, green] = [ink('red apple'), ink('green apple')];
    expect(red[0]).toBeLessThan(red[1] / 2);
    expect(green[1]).toBeLessThan(green[0]);
  });

  it('captions become unit vectors; similar names are similar, whatever the case', () => {
    const dot = (a: string, b: string): number => {
      const other = captionFeatures(b, 512);
      return captionFeatures(a, 512).reduce((s, x, i) => s + x * other[i], 0);
    };
    expect(dot('red apple', 'Red  Apple!')).toBeCloseTo(1, 6);
    expect(dot('red apple', 'green apple')).toBeGreaterThan(0.3);
    expect(Math.abs(dot('red apple', 'fountain'))).toBeLessThan(0.3);
    expect(dot('…', '…')).toBe(0);
  });

  it('an epoch visits pairs at most once', () => {
    const batches = epochBatches(createRng(3), 10, 4);
    const epoch = [...batches.next().value, ...batches.next().value];
    expect(new Set(epoch).size).toBe(8);
    expect(epochBatches(createRng(3), 3, 8).next().value).toHaveLength(3);
  });

  it('recall and pair losses agree with a matrix worked by hand', () => {
    const s = [2, 1, 1, 3, 0, 5, 1, 0, 1]; // caption 0 → picture 0; 1 → 2; 2 ties 0 and 2
    const { textToImage, imageToText } = retrieval(s, 3);
    expect(textToImage).toEqual({ r1: 1 / 3, r5: 1, r10: 1 });
    expect(imageToText).toEqual({ r1: 0, r5: 1, r10: 1 });
    const lse = (...x: number[]): number => Math.log(x.reduce((t, v) => t + Math.exp(v), 0));
    expect(pairLosses(s, 3)[1]).toBeCloseTo(lse(3, 0, 5) + lse(1, 0, 0), 12);
    expect(retrieval(s, 3, [0, 2, 1]).textToImage.r1).toBe(2 / 3);
  });
});
