// The small CLIP in models/small-clip: small, complete, and far better than chance on a vendor it never saw.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawPairs, HELD_OUT, readHeldOut } from '../scripts/small-clip/emoji.ts';
import { TRAIN_WORDS } from '../scripts/small-clip/config.ts';
import { learnVocabulary } from '../scripts/small-clip/vocabulary.ts';
import { evaluatePairs, openEmbedder } from '../src/cli/evaluate/run.ts';
import { readyPairs } from '../src/cli/runs/pairs.ts';
import { readDataset } from '../src/data/dataset.node.ts';
import { openDevice } from '../src/device/open.ts';
import { bytesSource } from '../src/models/clip/byte-source.ts';
import { readHfVocabulary } from '../src/models/clip/formats/vocabulary.ts';
import { createTokenizer } from '../src/models/clip/tokenizer.ts';
import { quiet, temporaryFolder } from './support/shapes.ts';

const model = fileURLToPath(new URL('../models/small-clip', import.meta.url));

describe('a vocabulary learnt from captions', () => {
  it('is read by the tokenizer, and joins what stands together', async () => {
    const { vocab, merges, size } = learnVocabulary(['red apple', 'green apple', 'red heart', 'red'], 100);
    const source = (name: string, text: string) => bytesSource(name, new TextEncoder().encode(text));
    const vocabulary = await readHfVocabulary(source('vocab.json', vocab), source('merges.txt', merges));
    const tokenizer = createTokenizer(vocabulary, { contextLength: 16 });
    expect(tokenizer.size).toBe(size);
    expect(tokenizer.encode('red apple')).toHaveLength(4);
    expect(tokenizer.encode('zebra').length).toBeGreaterThan(5);
    expect(learnVocabulary(['red apple', 'green apple', 'red heart', 'red'], 100).merges).toBe(merges);
  });
});

describe.skipIf(!existsSync(join(model, 'model.safetensors')))('models/small-clip', () => {
  it('is at most 8 MB, and its summary is of these weights and of the settings in the script', () => {
    expect(statSync(join(model, 'model.safetensors')).size).toBeLessThanOrEqual(8e6);
    const summary = JSON.parse(readFileSync(join(model, 'summary.json'), 'utf8')) as {
      words: string;
      sha256: string;
      heldOut: { retrieval: Record<'textToImage' | 'imageToText' | 'chance', { r10: number }> };
    };
    expect(summary.words).toBe(TRAIN_WORDS.join(' '));
    const weights = readFileSync(join(model, 'model.safetensors'));
    expect(createHash('sha256').update(weights).digest('hex')).toBe(summary.sha256);
    const { textToImage, imageToText, chance } = summary.heldOut.retrieval;
    for (const { r10 } of [textToImage, imageToText]) expect(r10).toBeGreaterThan(75 * chance.r10);
  });

  it('finds pictures of the held-out vendor', async () => {
    const folder = temporaryFolder();
    const concepts = readHeldOut(join(model, 'concepts.csv')).filter((_, i) => i % 8 === 0);
    const dataset = await readDataset(await drawPairs(folder, 'pairs.csv', concepts, [HELD_OUT]));
    const device = await openDevice({ kind: 'cpu' });
    const embedder = await openEmbedder(model, undefined, device);
    const pairs = await readyPairs(embedder, dataset, 2 ** 26);
    const { textToImage, imageToText, chance } = (await evaluatePairs(embedder, pairs, ['{}'], quiet)).retrieval;
    for (const { r1, r10 } of [textToImage, imageToText]) {
      expect(r1).toBeGreaterThan(70 * chance.r1);
      expect(r10).toBeGreaterThan(16 * chance.r10);
    }
  });
});
