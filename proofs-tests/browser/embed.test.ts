// The browser example in Chromium: its numbers are those of the library in Node, on WebGPU and without it.

import { request } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { servePage } from '../../examples/browser/serve.ts';
import * as ecif from '../../src/index.ts';
import { fileFolder } from '../../src/node.ts';
import { describeBrowser, launchChromium, runInBrowser } from '../support/browser.ts';
import { clipVocabularyText } from '../../src/data/clip-vocabulary.node.ts';
import type { main as readFiles } from './files-page.ts';

const MODEL = fileURLToPath(new URL('../../models/small-clip', import.meta.url));
const HOSTILE = '<img src=x onerror="window.hacked = true">';
const CAPTIONS = ['tangerine', 'red heart', HOSTILE, 'cat face', 'soccer ball'];

/** What a line of the page says, or is to say. */
interface Line {
  readonly caption: string;
  readonly cosine: number;
  /** Percent. */
  readonly share: number;
}

/** A picture without alpha, which every decoder reads alike. */
function drawPng(): Promise<Buffer> {
  const svg = createRequire(import.meta.url).resolve('@twemoji/svg/1f34a.svg');
  return sharp(svg, { density: 144 })
    .extend({ right: 13 })
    .flatten({ background: '#fff' })
    .removeAlpha()
    .png()
    .toBuffer();
}

/** Cosines and probabilities by plain loops over embeddings on the CPU, the best first. */
async function expectedLines(png: Buffer): Promise<Line[]> {
  const device = await ecif.openDevice({ kind: 'cpu' });
  const folder = await fileFolder(MODEL);
  const { config, weights, preprocess, tokenizer } = await ecif.openClipDirectory(folder);
  const clip = await ecif.loadClip(config, weights, device);
  const { encode } = await tokenizer();
  await folder.close();
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const pixels = ecif.preprocess({ width, height, channels: 3, data }, preprocess);
  const repeated = Float32Array.from({ length: CAPTIONS.length * pixels.length }, (_, i) => pixels[i % pixels.length]);
  const model = ecif.clipModel(clip);
  const { u, v } = model.embed({}, ecif.clipBatch(config, device, CAPTIONS.map(encode), repeated));
  const [texts, images] = await ecif.readAll([u, v]);
  const { projection } = config;
  const cosines = CAPTIONS.map((_, k) => {
    let product = 0;
    for (let d = 0; d < projection; d++) product += texts[k * projection + d] * images[k * projection + d];
    return product;
  });
  const powers = cosines.map((c) => Math.exp(c * Math.exp(clip.logitScale)));
  const total = powers.reduce((a, b) => a + b);
  return CAPTIONS.map((caption, k) => ({ caption, cosine: cosines[k], share: (100 * powers[k]) / total })).sort(
    (a, b) => b.cosine - a.cosine,
  );
}

/** The ranking on the page. */
async function linesOf(page: Page): Promise<Line[]> {
  const lines = await page.locator('#results li').all();
  const read = async (i: number, part: string): Promise<string> => (await lines[i].locator(part).textContent()) ?? '';
  return Promise.all(
    lines.map(async (_, i) => ({
      caption: await read(i, '.caption'),
      cosine: Number((await read(i, '.cosine')).replace('cosine ', '')),
      share: Number((await read(i, '.share')).replace(' %', '')),
    })),
  );
}

/** The answer to a path as it stands, which fetch and browsers would tidy up. */
const statusOf = (url: string, path: string, method = 'GET'): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path, method }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });

describeBrowser('the browser example', () => {
  let browser: Browser;
  let served: Awaited<ReturnType<typeof servePage>>;
  let png: Buffer;
  let expected: Line[];

  beforeAll(async () => {
    png = await drawPng();
    expected = await expectedLines(png);
    served = await servePage();
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    served?.server.closeAllConnections();
    served?.server.close();
  });

  /** Opens the page and uses it; what it complained of, and asked of others, must be nothing. */
  async function open(settings: { gpu: boolean; width?: number; dark?: boolean }, use: (page: Page) => Promise<void>) {
    const { gpu, width = 1100, dark = false } = settings;
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: dark ? 'dark' : 'light' });
    const [problems, elsewhere]: [string[], string[]] = [[], []];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (asked) => {
      const own = asked
        .url()
        .replace(/^blob:/, '')
        .startsWith(served.url);
      if (!own && !asked.url().startsWith('data:')) elsewhere.push(asked.url());
    });
    if (!gpu) await page.addInitScript(`Object.defineProperty(navigator, 'gpu', { value: undefined })`);
    await page.goto(served.url);
    await use(page);
    expect(problems).toEqual([]);
    expect(elsewhere).toEqual([]);
    await page.close();
  }

  const settled = (page: Page, count: number): Promise<void> =>
    page.getByText(new RegExp(`^${count} captions? ranked in `)).waitFor();

  it.each([
    ['on WebGPU', true, /on webgpu \(float32/],
    ['without WebGPU', false, /on cpu \(float64/],
  ])('ranks captions as Node does, %s', async (_where, gpu, device) => {
    await open({ gpu }, async (page) => {
      await settled(page, 6);
      await page.getByLabel('Captions').fill(CAPTIONS.join('\n'));
      await page.getByLabel('Picture').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: png });
      await page.locator('#results li', { hasText: HOSTILE }).waitFor();
      await settled(page, CAPTIONS.length);
      const found = await linesOf(page);
      expect(found.map(({ caption }) => caption)).toEqual(expected.map(({ caption }) => caption));
      // Numbers are rounded to 4 and 1 places; float32 adds little.
      const slack = gpu ? 2e-5 : 1e-9;
      found.forEach(({ cosine, share }, i) => {
        expect(Math.abs(cosine - expected[i].cosine)).toBeLessThanOrEqual(0.5e-4 + slack);
        expect(Math.abs(share - expected[i].share)).toBeLessThanOrEqual(0.05 + 100 * slack);
      });
      expect(expected[0].cosine - expected[1].cosine).toBeGreaterThan(0.01);
      expect(await page.locator('#status').textContent()).toMatch(device);
      expect(await page.locator('#results img').count()).toBe(0);
      expect(await page.evaluate('"hacked" in window')).toBe(false);
    });
  });

  it('says what is wrong with a file, and goes on with the next', async () => {
    await open({ gpu: false }, async (page) => {
      await settled(page, 6);
      const picture = page.getByLabel('Picture');
      await picture.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
      await page.getByText('the file cannot be decoded as a picture; choose another one').waitFor();
      expect(await page.locator('#results li').count()).toBe(0);
      await picture.setInputFiles({ name: 'b.png', mimeType: 'image/png', buffer: png });
      await settled(page, 6);
      await page.getByLabel('Captions').fill(' \n\n');
      await page.getByText('Type a caption.').waitFor();
      expect(await page.locator('#results li').count()).toBe(0);
    });
  });

  it('is reached by the keyboard, and fits a phone in the dark', async () => {
    await open({ gpu: false, width: 360, dark: true }, async (page) => {
      await settled(page, 6);
      const focused: string[] = [];
      for (let i = 0; i < 2; i++) {
        await page.keyboard.press('Tab');
        focused.push(await page.evaluate<string>('document.activeElement.id'));
      }
      expect(focused).toEqual(['picture', 'captions']);
      await page.keyboard.press('Control+A');
      await page.keyboard.type('w'.repeat(400));
      await settled(page, 1);
      const root = 'document.documentElement';
      expect(await page.evaluate<number>(`${root}.scrollWidth - ${root}.clientWidth`)).toBe(0);
      const background = 'getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]';
      expect(await page.evaluate<number>(background)).toBeLessThan(60);
    });
  });

  it('serves its own files and no others', async () => {
    expect(await statusOf(served.url, '/model/config.json')).toBe(200);
    for (const path of [
      '/../../package.json',
      '/model/../../../package.json',
      '/model/%2e%2e/%2e%2e/package.json',
      '/serve.ts',
      '/model/summary.json',
      '/constructor',
      '//',
      '//[',
    ]) {
      expect(await statusOf(served.url, path), path).toBe(404);
    }
    expect(await statusOf(served.url, '/', 'POST')).toBe(405);
  });
});

describeBrowser('files in the page', () => {
  it('are read from blobs in pieces, and gzip is unpacked', async () => {
    const text = await clipVocabularyText();
    const weights = ecif.writeSafetensors([
      { name: 'w', shape: [2, 3], values: [1, -2, 3.5, 4, 0.25, -6] },
      { name: 'half', shape: [2], values: [0.5, 65504], dtype: 'F16' },
    ]);
    const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
    const page = fileURLToPath(new URL('./files-page.ts', import.meta.url));
    const found = await runInBrowser<Awaited<ReturnType<typeof readFiles>>>(page, {
      argument: { vocabulary: base64(gzipSync(text)), weights: base64(weights) },
    });
    expect(found.ids).toEqual([49406, 320, 1125, 539, 320, 2368, 49407]);
    expect(found.cut).toMatch(/bpe_simple_vocab_16e6\.txt\.gz: gzip: cannot be unpacked, .*; is the file complete\?$/);
    expect(found.tensors).toEqual({ w: [1, -2, 3.5, 4, 0.25, -6], half: [0.5, 65504] });
    expect(found.largestRead).toBeLessThan(weights.length);
    expect(found.outside).toBe(
      `f/model.safetensors: bytes 0…${weights.length + 1}: the file has ${weights.length}; is it complete?`,
    );
  });
});
