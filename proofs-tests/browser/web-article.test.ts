// The playground as a whole in Chromium: every chapter loads, is accessible, keeps to itself, and works by keyboard.

import { expect, it } from 'vitest';
import { FIGURES } from '../../web/figures/index.ts';
import { describeBrowser } from '../support/browser.ts';
import { figureOf, settled, site, violations } from '../support/web.ts';

/** Figures that compute by themselves; the others wait for the reader. */
const WAITING = ['trace'];

describeBrowser('the playground', () => {
  const { open, url } = site();

  it('shows every chapter in one article, in which axe finds nothing serious', () =>
    open({ gpu: false }, async (page) => {
      for (const { name } of FIGURES) {
        const figure = figureOf(page, name);
        await figure.scrollIntoViewIfNeeded();
        if (!WAITING.includes(name)) await settled(figure);
      }
      expect(await page.locator('.chapter').count()).toBe(FIGURES.length);
      expect(await page.locator('nav ol li').count()).toBe(FIGURES.length);
      expect(await page.locator('.katex-error').count()).toBe(0);
      expect(await violations(page)).toEqual([]);
    }));

  it('has figures that stand alone, in the dark and on a phone', async () => {
    for (const { name, title } of FIGURES) {
      await open({ gpu: false, figure: name, dark: true, width: 360 }, async (page) => {
        if (!WAITING.includes(name)) await settled(figureOf(page, name));
        expect(await page.locator('h1').textContent()).toBe(title);
        expect(await violations(page)).toEqual([]);
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        expect(wide, `${name} is wider than the page`).toBeLessThanOrEqual(0);
      });
    }
  });

  it('leads to a chapter by its link, back and forth', () =>
    open({ gpu: false }, async (page) => {
      const { name } = FIGURES[FIGURES.length - 1];
      const link = page.locator(`a[data-chapter="${name}"]`);
      await link.focus();
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe(name);
      expect(new URL(page.url()).hash).toBe(`#at=${name}`);
      const figure = figureOf(page, name);
      await settled(figure);
      const top = (): Promise<number> =>
        page.evaluate<number>(`document.getElementById('${name}').getBoundingClientRect().top`);
      await expect.poll(async () => Math.abs(await top())).toBeLessThan(60);
      await page.goBack();
      expect(new URL(page.url()).hash).toBe('');
    }));

  it('keeps its state when a reader skips to the article, and one step of history for a row of keys', () =>
    open({ gpu: false, hash: '#batch.t=0.1&batch.pair=3' }, async (page) => {
      const figure = figureOf(page, 'batch');
      await settled(figure);
      await page.locator('.skip').focus();
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement?.id')).toBe('main');
      expect(new URL(page.url()).hash).toBe('#batch.t=0.1&batch.pair=3');
      const steps = await page.evaluate<number>('history.length');
      const slider = figure.getByRole('slider', { name: 'Temperature τ' });
      await slider.focus();
      for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
      expect(await page.evaluate<number>('history.length')).toBe(steps + 1);
      expect(new URL(page.url()).hash).toContain('at=batch');
    }));

  it('has matrices that can be read in the dark, also where shares are large', () =>
    open({ gpu: false, figure: 'batch', hash: '#batch.t=0.1', dark: true }, async (page) => {
      await settled(figureOf(page, 'batch'));
      expect(await violations(page)).toEqual([]);
    }));

  it('chooses the device for all figures, and says why', () =>
    open({ gpu: true, figure: 'batch' }, async (page) => {
      const figure = figureOf(page, 'batch');
      await settled(figure, 'webgpu');
      await page.getByLabel('Compute on').selectOption('cpu');
      await settled(figure, 'cpu');
      expect(await figure.locator('.status').textContent()).toBe('Computed on cpu (float64): chosen above.');
      expect(new URL(page.url()).hash).toBe('#device=cpu');
      await page.goBack();
      await settled(figure, 'webgpu');
    }));

  it('says in the figure what is wrong where WebGPU is asked for and missing', () =>
    open({ gpu: false, figure: 'batch', hash: '#device=webgpu' }, async (page) => {
      const status = figureOf(page, 'batch').locator('.status[data-state="failed"]');
      await status.waitFor();
      expect(await status.textContent()).toContain('choose cpu, or auto');
    }));

  it('does no harm with a strange address', async () => {
    await open({ gpu: false, figure: '<img src=x onerror=alert(1)>' }, async (page) => {
      expect(await page.locator('main').textContent()).toContain('There is no figure');
      expect(await page.locator('main img').count()).toBe(0);
    });
    await open(
      { gpu: false, figure: 'batch', hash: '#batch.t=NaN&batch.texts=1_2&__proto__=1&%&batch.pair=99' },
      (page) => settled(figureOf(page, 'batch')),
    );
  });

  it('is served to this machine alone, and nothing from outside of its folder', async () => {
    expect(new URL(url()).hostname).toBe('127.0.0.1');
    for (const path of ['..%2f..%2fpackage.json', 'emoji', '%00', '%zz']) {
      expect((await fetch(url() + path)).status).toBe(404);
    }
    expect((await fetch(url(), { method: 'POST' })).status).toBe(404);
  });
});
