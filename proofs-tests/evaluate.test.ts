// ecif evaluate: recalls and accuracies that can be counted by hand, ties against the model, and the command itself.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { products } from '../src/cli/evaluate/run.ts';
import { openDevice } from '../src/device/open.ts';
import { captionRecall } from '../src/models/retrieval.ts';
import { zeroShot } from '../src/models/zero-shot.ts';
import { runCli } from './support/cli.ts';
import { temporaryFolder, writeBase } from './support/shapes.ts';

describe('recall of hand-made embeddings', () => {
  // Captions e1, e2, e3 against pictures: 0 shows caption 0, 1 and 2 show caption 1, 3 shows caption 2.
  const texts = { width: 3, values: Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1) };
  const images = { width: 3, values: Float64Array.of(0.6, 0.8, 0, 0.8, 0.6, 0, 0, 0.8, 0.6, 0, 0.8, 0.6) };
  const captionOf = [0, 1, 1, 2];

  it('is what one counts', async () => {
    const device = await openDevice({ kind: 'cpu' });
    const s = await products(device, texts, images);
    expect([...s]).toEqual([0.6, 0.8, 0, 0, 0.8, 0.6, 0.8, 0.8, 0, 0, 0.6, 0.6]);
    const { textToImage, imageToText, chance } = captionRecall(s, 3, captionOf);
    // Caption 0: picture 1 is ahead. Caption 1: pictures 0 and 3 tie with its own picture 2. Caption 2: picture 2 ties.
    expect(textToImage).toEqual({ r1: 0, r5: 1, r10: 1 });
    // Picture 0: caption 1 ahead. 1: caption 0 ahead. 2: caption 1 first. 3: caption 1 ahead.
    expect(imageToText).toEqual({ r1: 1 / 4, r5: 1, r10: 1 });
    expect(chance.r1).toBeCloseTo((1 / 4 + 2 / 4 + 1 / 4) / 3, 15);
  });

  it('counts every tie against the model, and so a model that always says the same', () => {
    const { textToImage, imageToText } = captionRecall(new Float64Array(144), 12, [...Array(12).keys()]);
    expect(textToImage).toEqual({ r1: 0, r5: 0, r10: 0 });
    expect(imageToText).toEqual({ r1: 0, r5: 0, r10: 0 });
    expect(captionRecall(new Float64Array(4).fill(NaN), 2, [0, 1]).textToImage.r1).toBe(0);
  });

  it('knows ranks 1, 5 and 10', () => {
    // Picture k of query 0 has similarity −k; the partner of caption i is picture i.
    const s = Float64Array.from({ length: 144 }, (_, i) => -(i % 12));
    const { textToImage, chance } = captionRecall(s, 12, [...Array(12).keys()]);
    expect(textToImage).toEqual({ r1: 1 / 12, r5: 5 / 12, r10: 10 / 12 });
    expect([chance.r1, chance.r5, chance.r10].map((x) => x * 12)).toEqual([1, 5, 10].map((x) => expect.closeTo(x, 12)));
  });
});

describe('zero-shot accuracy', () => {
  it('is what one counts, by class, with ties against the model', () => {
    const s = [0.9, 0.1, 0.2, 0.5, 0.5, 0.1, 0.1, 0.3, 0.2, 0.1, 0.2, 0.3];
    const result = zeroShot(s, [0, 0, 1, 1], ['cat', 'dog', 'owl']);
    expect(result.accuracy).toBe(2 / 4);
    expect(result.top5).toBe(1);
    expect(result.chance).toBe(1 / 3);
    expect(result.classes).toEqual([
      { name: 'cat', count: 2, correct: 1, confusedWith: 'dog' },
      { name: 'dog', count: 2, correct: 1, confusedWith: 'owl' },
      { name: 'owl', count: 0, correct: 0, confusedWith: null },
    ]);
  });
});

describe('the command', () => {
  it('prints one document, or tables', async () => {
    const { data, model } = await writeBase(temporaryFolder());
    const words = ['evaluate', data, '--model', model, '--templates', 'a {}|the photo of a {}', '--device', 'cpu'];
    const { stdout, code } = await runCli([...words, '--json']);
    expect(code).toBe(0);
    const found = JSON.parse(stdout) as { zeroShot: { classes: { name: string; count: number }[] } };
    expect(found).toMatchObject({
      pictures: 12,
      captions: 12,
      retrieval: { pairs: 12, chance: { r1: expect.closeTo(1 / 12, 12) } },
    });
    expect(found.zeroShot.classes.map(({ name, count }) => [name, count])).toEqual([
      ['square', 4],
      ['circle', 4],
      ['triangle', 4],
    ]);
    const text = await runCli(words);
    expect(text.stdout).toMatch(/caption → image +[\d.]+% +[\d.]+% +[\d.]+%/);
    expect(text.stdout).toMatch(/zero-shot accuracy/);
  });

  it('names what is missing', async () => {
    const folder = temporaryFolder();
    expect(await runCli(['evaluate', join(folder, 'x.csv')])).toMatchObject({ code: 2 });
    const { stderr } = await runCli(['evaluate', join(folder, 'x.csv'), '--model', folder, '--device', 'cpu']);
    expect(stderr).toMatch(/^ecif: .*x\.csv: cannot be read/);
  });
});
