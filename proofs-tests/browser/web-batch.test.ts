// Chapter 1 of the playground in Chromium: its numbers are those of the library in Node; moved by mouse and by keyboard.

import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { openDevice } from '../../src/index.ts';
import { read } from '../../web/app/params.ts';
import { batchFigure } from '../../web/figures/batch.ts';
import { batchFound } from '../../web/maths/batch.ts';
import { describeBrowser } from '../support/browser.ts';
import { figureOf, numberIn, settled, site } from '../support/web.ts';

/** What the library says in Node of the state that an address holds. */
async function expected(hash: string) {
  const own = hash.split('&').map((part) => part.replace(/^#?batch\./, '').split('=') as [string, string]);
  const { texts, images, t, pair } = read(batchFigure.params, Object.fromEntries(own));
  const device = await openDevice({ kind: 'cpu' });
  return { pair, ...(await batchFound.run(device, { texts, images, temperature: t }, () => undefined)) };
}

/** Compares the figure with the library. */
async function compare(figure: Locator, tolerance: number): Promise<void> {
  const { loss, losses, rows, pair } = await expected(new URL(figure.page().url()).hash);
  expect(Math.abs((await numberIn(figure, 'loss')) - loss)).toBeLessThan(tolerance * loss);
  expect(Math.abs((await numberIn(figure, 't2i')) - losses.t2i[pair])).toBeLessThan(tolerance);
  expect(Math.abs((await numberIn(figure, 'i2t')) - losses.i2t[pair])).toBeLessThan(tolerance);
  const cells = await figure
    .locator('.matrix tbody td')
    .evaluateAll((all) => all.map((td) => Number((td as HTMLElement).dataset.value)));
  expect(cells).toHaveLength(rows.length);
  cells.forEach((cell, i) => expect(Math.abs(cell - rows[i])).toBeLessThan(tolerance));
}

describeBrowser('a contrastive batch', () => {
  const { open } = site();

  for (const [gpu, device, tolerance] of [
    [true, 'webgpu', 1e-4],
    [false, 'cpu', 1e-12],
  ] as const) {
    it(`shows what the library computes, on ${device}`, () =>
      open({ gpu, figure: 'batch' }, async (page) => {
        const figure = figureOf(page, 'batch');
        await settled(figure, device);
        await compare(figure, tolerance);
        const before = await numberIn(figure, 'loss');

        const tomato = figure.getByRole('button', { name: /^caption tomato/ });
        const box = (await tomato.boundingBox())!;
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
        await page.mouse.down();
        await page.mouse.move(box.x - 60, box.y + 90, { steps: 4 });
        await page.mouse.up();
        await expect.poll(() => numberIn(figure, 'loss')).not.toBe(before);
        await expect
          .poll(async () =>
            Math.abs((await numberIn(figure, 'loss')) - (await expected(new URL(page.url()).hash)).loss),
          )
          .toBeLessThan(50 * tolerance);
        await compare(figure, tolerance);
      }));
  }

  it('is moved by the keyboard, kept by a reload, and undone by the back button', () =>
    open({ gpu: false, hash: '#batch.t=0.5&batch.pair=3' }, async (page) => {
      const figure = figureOf(page, 'batch');
      await settled(figure, 'cpu');
      await compare(figure, 1e-12);
      const before = await numberIn(figure, 'loss');
      await figure.getByRole('button', { name: /^picture of fox/ }).focus();
      await page.keyboard.press('Shift+ArrowLeft');
      await expect.poll(() => numberIn(figure, 'loss')).not.toBe(before);
      const moved = await numberIn(figure, 'loss');
      await compare(figure, 1e-12);
      await page.reload();
      await settled(figure, 'cpu');
      expect(await numberIn(figure, 'loss')).toBe(moved);
      await page.goBack();
      await expect.poll(() => numberIn(figure, 'loss')).toBe(before);
    }));

  it('takes steps of training that lower the loss, at a low temperature too', () =>
    open({ gpu: false, figure: 'batch', hash: '#batch.t=0.1' }, async (page) => {
      const figure = figureOf(page, 'batch');
      await settled(figure);
      for (let step = 0; step < 3; step++) {
        const before = await numberIn(figure, 'loss');
        await figure.getByRole('button', { name: 'One step of training' }).click();
        await expect.poll(() => numberIn(figure, 'loss')).not.toBe(before);
        expect(await numberIn(figure, 'loss')).toBeLessThan(before);
      }
    }));
});
