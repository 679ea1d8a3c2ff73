// Chapter 6 of the playground in Chromium: answers, sources and edits are those of the library in Node on the same pixels.

import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, expect, it } from 'vitest';
import { type DecodedImage, openDevice } from '../../src/index.ts';
import { fileFolder } from '../../src/node.ts';
import { EMOJI } from '../../web/data/emoji.gen.ts';
import { FIRST_ASKED, TRACE_PAIRS } from '../../web/maths/trace-pairs.ts';
import { traceAnswer, type TraceAsked, traceRemoval, traceSources } from '../../web/maths/trace.ts';
import { describeBrowser } from '../support/browser.ts';
import { figureOf, numberIn, settled, site, violations } from '../support/web.ts';

const folder = fileFolder(fileURLToPath(new URL('../../models/small-clip', import.meta.url)));
const cpu = openDevice({ kind: 'cpu' });
const place = (name: string): number => EMOJI.findIndex(({ caption }) => caption === name);
const rowOf = (name: string): number => TRACE_PAIRS.indexOf(place(name));
const CLOCK = rowOf('seven o’clock');

/** Keeps what the page sends to its worker from now on. */
const listen = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (this: Worker, message: never, transfer: never) {
      Object.assign(globalThis, { asked: message });
      postMessage.call(this, message, transfer);
    };
  });

/** The question that the page asked last, with the pixels that it sent. */
async function lastAsked(page: Page): Promise<TraceAsked> {
  const sent = await page.evaluate(() => {
    const { argument } = (globalThis as unknown as { asked: { argument: TraceAsked } }).asked;
    const packed = ({ data, ...rest }: DecodedImage) => {
      let text = '';
      for (const byte of data) text += String.fromCharCode(byte);
      return { ...rest, data: btoa(text) };
    };
    return { ...argument, pictures: argument.pictures.map(packed), picture: packed(argument.picture) };
  });
  const unpacked = (image: (typeof sent)['picture']): DecodedImage => ({
    ...image,
    data: new Uint8Array(Buffer.from(image.data, 'base64')),
  });
  return { ...sent, model: await folder, pictures: sent.pictures.map(unpacked), picture: unpacked(sent.picture) };
}

const quiet = (): void => undefined;

/** Gives the figure files that are no pictures, and one that is. */
async function ownPicture(page: Page, figure: Locator): Promise<void> {
  await listen(page);
  const input = figure.getByLabel(/picture of your own/);
  const take = (name: string, buffer: Buffer): Promise<void> =>
    input.setInputFiles({ name, mimeType: 'image/png', buffer });
  const dataTransfer = await page.evaluateHandle(() => {
    const dropped = new DataTransfer();
    dropped.items.add(new File(['no picture'], 'a.png', { type: 'image/png' }));
    return dropped;
  });
  await figure.locator('.trace-picker').dispatchEvent('drop', { dataTransfer });
  await figure.getByText('Not taken: the file cannot be decoded as a picture').waitFor();
  await take('b.png', Buffer.alloc(26e6));
  await figure.getByText('Not taken: the file has 26 MB, at most 25 MB are taken').waitFor();
  const [width, height] = [48, 40];
  const data = Uint8Array.from({ length: 3 * width * height }, (_, i) => (97 * i * i + 31 * i) % 256);
  await take(
    'c.png',
    await sharp(data, { raw: { width, height, channels: 3 } })
      .png()
      .toBuffer(),
  );
  await figure.getByRole('img', { name: 'your picture' }).waitFor();
  await settled(figure, 'cpu');
  const asked = await lastAsked(page);
  expect(asked.picture.data.filter((_, i) => i % 4 < 3)).toEqual(data);
  const own = { ...asked, picture: { width, height, channels: 3, data } } as const;
  const { after, caption } = await traceAnswer(await cpu, own, quiet);
  expect(await numberIn(figure, `after-${caption}`)).toBeCloseTo(after[caption], 8);
  expect(after[caption]).toBe(Math.max(...after));
  await page.reload();
  await figure.getByText('is not part of the address: choose it again').waitFor();
}

/** Loads the model by the button. */
async function load(page: Page): Promise<Locator> {
  const figure = figureOf(page, 'trace');
  await listen(page);
  await figure.getByRole('button', { name: 'Load the small CLIP' }).press('Enter');
  return figure;
}

/** Waits until a number is there. */
const awaited = (figure: Locator, name: string): Promise<void> =>
  figure.locator(`[data-name="${name}"]`).first().waitFor({ timeout: 120_000 });

describeBrowser('the trace of a mistake', () => {
  const { open } = site();
  afterAll(async () => (await folder).close());

  it('answers, traces and removes as the library does, on the CPU, and takes a picture of the reader', () =>
    open({ gpu: false, figure: 'trace' }, async (page) => {
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      const figure = await load(page);
      await settled(figure, 'cpu');
      expect(requests.filter((url) => url.includes('model.safetensors'))).toHaveLength(1);
      const device = await cpu;
      const asked = await lastAsked(page);
      const answer = await traceAnswer(device, asked, quiet);
      const { sources } = await traceSources(device, asked, quiet);
      const near = async (name: string, x: number): Promise<void> =>
        expect(Math.abs((await numberIn(figure, name)) - x)).toBeLessThan(1e-6 * Math.abs(x));
      await near('loss-after', answer.loss.after);
      await near(`after-${FIRST_ASKED}`, answer.after[FIRST_ASKED]);
      await near(`before-${FIRST_ASKED}`, answer.before[FIRST_ASKED]);
      const source = sources.find(({ row }) => row === CLOCK)!;
      await near(`score-${CLOCK}`, source.score);
      await near(`relative-${CLOCK}`, source.relative);
      expect(await figure.locator('.trace-against tr').nth(1).textContent()).toContain('“beating heart” swapped');

      // By the keyboard: the pair is removed; a reload keeps that, the back button takes it back.
      await figure.locator(`input[data-row="${CLOCK}"]`).press('Space');
      await awaited(figure, 'edited');
      const removal = await traceRemoval(device, { ...asked, remove: [CLOCK], retrain: false }, quiet);
      await near('predicted', removal.predicted);
      await near('edited', removal.edited.loss);
      const edited = await numberIn(figure, 'edited');
      expect(await violations(page)).toEqual([]);
      await page.reload();
      await awaited(figure, 'edited');
      expect(await numberIn(figure, 'edited')).toBe(edited);
      await expect(figure.locator(`input[data-row="${CLOCK}"]`).isChecked()).resolves.toBe(true);
      await page.goBack();
      await expect.poll(() => figure.locator('[data-name="edited"]').count()).toBe(0);

      // Another picture by arrow keys, another order by the mouse.
      const at = figure.getByRole('radio', { name: 'twelve-thirty' });
      await at.press('ArrowRight');
      await expect(at.isChecked()).resolves.toBe(false);
      await figure.locator('.trace-against').waitFor();
      await settled(figure, 'cpu');
      await figure.getByLabel('Order the pairs by').selectOption('score');
      const first = figure.locator('.trace-against tr').nth(1);
      await expect.poll(() => first.textContent()).toContain('“carrot” swapped');
      await ownPicture(page, figure);
    }));

  it('ranks captions on WebGPU as the library does in float64', () =>
    open({ gpu: true, figure: 'trace', hash: '#device=webgpu' }, async (page) => {
      const figure = await load(page);
      await awaited(figure, `after-${FIRST_ASKED}`);
      const { after } = await traceAnswer(await cpu, await lastAsked(page), quiet);
      expect(Math.abs((await numberIn(figure, `after-${FIRST_ASKED}`)) - after[FIRST_ASKED])).toBeLessThan(2e-3);
      const names = await figure.locator('.trace-ranking tbody th').allTextContents();
      expect(names[0]).toContain(EMOJI[after.indexOf(Math.max(...after))].caption);
    }));

  it('stops waiting where the picture is missing, and keeps files that are dropped beside it out of the window', () =>
    open({ gpu: false, figure: 'trace', hash: '#trace.on=1&trace.picture=72' }, async (page) => {
      const figure = figureOf(page, 'trace');
      await figure.getByText('is not part of the address: choose it again').waitFor();
      await figure.getByRole('radio', { name: 'rocket' }).check({ force: true });
      const busy = figure.locator('.status[data-state="busy"]');
      await busy.waitFor();
      await page.goBack();
      await figure.getByText('is not part of the address: choose it again').waitFor();
      await expect.poll(() => busy.count()).toBe(0);
      expect(await figure.locator('.status').first().textContent()).toBe('');
      const dropped = (file: boolean): Promise<boolean[]> =>
        page.evaluate((withFile) => {
          const dataTransfer = new DataTransfer();
          if (withFile) dataTransfer.items.add(new File(['a'], 'a.png', { type: 'image/png' }));
          else dataTransfer.setData('text/plain', 'a');
          return ['dragover', 'drop'].map((kind) => {
            const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
            document.body.dispatchEvent(event);
            return event.defaultPrevented;
          });
        }, file);
      expect(await dropped(true)).toEqual([true, true]);
      expect(await dropped(false)).toEqual([false, false]);
    }));
});
