// Chapter 2 of the playground in Chromium: its numbers are those of the library in Node; faded by mouse and by keyboard.

import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { openDevice } from '../../src/index.ts';
import { read } from '../../web/app/params.ts';
import { batchFigure } from '../../web/figures/batch.ts';
import { rolesFigure } from '../../web/figures/roles.ts';
import { rolesFound } from '../../web/maths/roles.ts';
import { describeBrowser } from '../support/browser.ts';
import { figureOf, numberIn, settled, site } from '../support/web.ts';

/** What the library says in Node of the state that an address holds. */
async function expected(hash: string) {
  const own = hash.split('&').map((part) => part.replace(/^#?roles\./, '').split('=') as [string, string]);
  const { pair, t, zeta, eps, form } = read(rolesFigure.params, Object.fromEntries(own));
  const { texts, images } = batchFigure.params;
  const argument = { texts: texts.default, images: images.default, temperature: t, pair, zeta, epsilon: eps, form };
  return rolesFound.run(await openDevice({ kind: 'cpu' }), argument, () => undefined);
}

/** Largest difference of the figure from the library, each number relative to its size. */
async function difference(figure: Locator): Promise<number> {
  const { pos, neg, loss, full, removed, rows, columns } = await expected(new URL(figure.page().url()).hash);
  const wanted = {
    ...{ pos, loss, full, removed },
    ...{ 'neg-exact': neg.exact, 'neg-corrected': neg.corrected, 'neg-published': neg.published },
    ...{ 'slope-true': neg.corrected, 'slope-published': neg.published },
  };
  const errors: number[] = [];
  for (const [name, value] of Object.entries(wanted))
    errors.push(Math.abs((await numberIn(figure, name)) - value) / Math.max(1, Math.abs(value)));
  const cells = await figure
    .locator('.matrix tbody td')
    .evaluateAll((all) => all.map((td) => Number((td as HTMLElement).dataset.value)));
  expect(cells).toHaveLength(rows.length + columns.length);
  cells.forEach((cell, i) => errors.push(Math.abs(cell - [...rows, ...columns][i])));
  return Math.max(...errors);
}

describeBrowser('one pair, two roles', () => {
  const { open } = site();

  for (const [gpu, device, tolerance] of [
    [true, 'webgpu', 1e-4],
    [false, 'cpu', 1e-12],
  ] as const) {
    it(`shows what the library computes, on ${device}`, () =>
      open({ gpu, figure: 'roles' }, async (page) => {
        const figure = figureOf(page, 'roles');
        await settled(figure, device);
        expect(await difference(figure)).toBeLessThan(tolerance);
        await figure.getByRole('button', { name: 'pair rocket' }).click();
        await expect.poll(() => difference(figure)).toBeLessThan(tolerance);
        expect(new URL(page.url()).hash).toBe('#roles.pair=5');
        await figure.getByRole('button', { name: 'Pair removed' }).click();
        await expect.poll(() => difference(figure)).toBeLessThan(tolerance);
        const [loss, removed] = [await numberIn(figure, 'loss'), await numberIn(figure, 'removed')];
        expect(Math.abs(loss - removed)).toBeLessThan(10 * tolerance);
      }));
  }

  it('fades by the keyboard, is kept by a reload, and undone by the back button', () =>
    open({ gpu: false, figure: 'roles', hash: '#roles.pair=2' }, async (page) => {
      const figure = figureOf(page, 'roles');
      await settled(figure, 'cpu');
      const before = await numberIn(figure, 'loss');
      await figure.getByLabel('Weight as negative').focus();
      for (let i = 0; i < 3; i++) await page.keyboard.press('PageDown');
      await expect.poll(() => numberIn(figure, 'loss')).toBeLessThan(before);
      await expect.poll(() => difference(figure)).toBeLessThan(1e-12);
      await figure.getByLabel('Fade as positive').focus();
      await page.keyboard.press('Home');
      await expect.poll(() => difference(figure)).toBeLessThan(1e-12);
      expect(await figure.locator('.roles-curves .label').last().textContent()).toBe('loss of the other anchors');
      await figure.getByLabel('logarithmic axis').focus();
      await page.keyboard.press('Space');
      await expect.poll(() => figure.locator('.roles-curves .label').last().textContent()).toBe('loss that goes away');
      await figure.getByLabel('Neg arrows').selectOption('published');
      await expect.poll(() => figure.locator('.roles-note').textContent()).toContain('times too short');
      const faded = await numberIn(figure, 'loss');
      expect(new URL(page.url()).hash).toContain('roles.eps=-1');
      await page.reload();
      await settled(figure, 'cpu');
      expect(await numberIn(figure, 'loss')).toBe(faded);
      for (let i = 0; i < 3; i++) await page.goBack();
      await expect.poll(() => numberIn(figure, 'loss')).toBeGreaterThan(faded);
    }));
});
