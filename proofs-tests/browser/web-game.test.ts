// Chapter 5 of the playground in Chromium: played by mouse and by keyboard; AUROC are those of the library in Node.

import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { openDevice } from '../../src/index.ts';
import { read } from '../../web/app/params.ts';
import { questionOf } from '../../web/figures/game-params.ts';
import { gameFigure } from '../../web/figures/game.ts';
import { roundOf } from '../../web/maths/game-round.ts';
import { gameFound } from '../../web/maths/game.ts';
import { describeBrowser } from '../support/browser.ts';
import { figureOf, numberIn, settled, site } from '../support/web.ts';

const valuesIn = (figure: Locator) => {
  const own = new URL(figure.page().url()).hash.split('&').map((part) => part.replace(/^#?game\./, '').split('='));
  return read(gameFigure.params, Object.fromEntries(own) as Record<string, string>);
};

/** Compares AUROC of all detectors with the library; two cards that float32 cannot tell apart may change places. */
async function compare(figure: Locator, tolerance: number): Promise<void> {
  const cpu = await openDevice({ kind: 'cpu' });
  const { detections } = await gameFound.run(cpu, questionOf(valuesIn(figure)), () => undefined);
  for (const { detector, auroc } of detections)
    expect(Math.abs((await numberIn(figure, `auroc-${detector}`)) - auroc), detector).toBeLessThanOrEqual(tolerance);
}

const card = (figure: Locator, i: number): Locator => figure.locator('.game-card').nth(i);

describeBrowser('find the swapped captions', () => {
  const { open } = site();

  it('is played by mouse; a perfect player finds all, and the machine says what the library says', () =>
    open({ gpu: false, figure: 'game', hash: '#game.seed=4&game.cards=16&game.swapped=3' }, async (page) => {
      const figure = figureOf(page, 'game');
      await settled(figure, 'cpu');
      const { wrong } = roundOf(valuesIn(figure));
      expect(await figure.locator('.game-results').isVisible()).toBe(false);
      for (const i of wrong.flatMap((bad, i) => (bad ? [i] : []))) {
        await card(figure, i).click();
        expect(await card(figure, i).getAttribute('aria-pressed')).toBe('true');
      }
      await figure.getByRole('button', { name: 'Show the truth' }).click();
      await expect.poll(() => numberIn(figure, 'hits')).toBe(3);
      expect([await numberIn(figure, 'misses'), await numberIn(figure, 'alarms')]).toEqual([0, 0]);
      await compare(figure, 1e-12);
      expect(await figure.locator('.game-card', { hasText: '✓ found' }).count()).toBe(3);
      const [influence, cosine] = [await numberIn(figure, 'auroc-ecif'), await numberIn(figure, 'auroc-clipscore')];
      const said = await figure.locator('.game-words').textContent();
      const right = influence > cosine ? 'influence beats' : influence < cosine ? 'CLIPScore beats' : 'are level';
      expect(said).toContain(right);
      await figure.getByRole('button', { name: 'New round' }).click();
      expect(valuesIn(figure)).toMatchObject({ seed: 5, marks: [], shown: false });
    }));

  it('is played by keyboard, kept by a reload, and undone by the back button', () =>
    open({ gpu: false, figure: 'game', hash: '#game.cards=12' }, async (page) => {
      const figure = figureOf(page, 'game');
      await settled(figure, 'cpu');
      await card(figure, 2).focus();
      await page.keyboard.press('Space');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(valuesIn(figure).marks).toEqual([2, 3]);
      await figure.getByRole('button', { name: 'Show the truth' }).focus();
      await page.keyboard.press('Enter');
      const hits = await numberIn(figure, 'hits');
      expect(hits + (await numberIn(figure, 'alarms'))).toBe(2);
      await page.reload();
      await settled(figure, 'cpu');
      expect(await figure.locator('.game-results').isVisible()).toBe(true);
      expect(await numberIn(figure, 'hits')).toBe(hits);
      await page.goBack();
      await expect.poll(() => figure.locator('.game-results').isVisible()).toBe(false);
      await page.goBack();
      expect(await card(figure, 3).getAttribute('aria-pressed')).toBe('false');
      expect(await card(figure, 2).getAttribute('aria-pressed')).toBe('true');
    }));

  it('shows it on WebGPU, in float32', () =>
    open(
      { gpu: true, figure: 'game', hash: '#device=webgpu&game.cards=12&game.swapped=3&game.shown=1' },
      async (page) => {
        const figure = figureOf(page, 'game');
        await settled(figure, 'webgpu');
        await compare(figure, 2 / 27);
      },
    ));
});
