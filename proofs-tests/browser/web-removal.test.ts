// Chapter 3 of the playground in Chromium: its numbers are those of the library in Node; every pair is retrained live.

import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { openDevice, pearson, spearman } from '../../src/index.ts';
import { read } from '../../web/app/params.ts';
import { problemOf, removalFigure } from '../../web/figures/removal.ts';
import { leftOut, removalFound, trainedModel } from '../../web/maths/removal.ts';
import { describeBrowser } from '../support/browser.ts';
import { figureOf, numberIn, settled, site } from '../support/web.ts';

const quiet = (): void => undefined;

/** What the library says in Node of the state that an address holds. */
async function expected(hash: string) {
  const own = hash.split('&').map((part) => part.replace(/^#?removal\./, '').split('=') as [string, string]);
  const values = read(removalFigure.params, Object.fromEntries(own));
  const [problem, device] = [problemOf(values), await openDevice({ kind: 'cpu' })];
  const trained = await trainedModel.run(device, problem, quiet);
  const found = await removalFound.run(device, { problem, theta: trained.theta, remove: values.remove }, quiet);
  const out = async (): Promise<number[]> => {
    const changes: number[] = [];
    for (const pair of problem.pairs.keys())
      changes.push((await leftOut.run(device, { problem, theta: trained.theta, pair }, quiet)).actual);
    return changes;
  };
  return { trained, edits: found.edits, out };
}

/** Largest relative difference of the figure's table from the library. */
async function difference(figure: Locator): Promise<number> {
  const { edits } = await expected(new URL(figure.page().url()).hash);
  const names = { published: 'published', corrected: 'corrected', exact: 'exact gradient', newton: 'Newton' } as const;
  const errors: number[] = [];
  for (const [key, name] of Object.entries(names))
    for (const kind of ['error', 'length'] as const)
      errors.push(Math.abs((await numberIn(figure, `${kind}-${key}`)) / (edits[name][kind] ?? NaN) - 1));
  return Math.max(...errors);
}

const retrained = (figure: Locator): Promise<void> =>
  figure.locator('.removal-count[data-done="true"]').waitFor({ timeout: 60_000 });

describeBrowser('remove it without retraining', () => {
  const { open } = site();

  it('shows what the library computes on the CPU, ranks every pair against retraining, and trains again for another decay', () =>
    open({ gpu: false, figure: 'removal' }, async (page) => {
      const figure = figureOf(page, 'removal');
      await settled(figure, 'cpu');
      expect(await difference(figure)).toBeLessThan(1e-6);
      await retrained(figure);
      const { trained, out } = await expected('');
      const actual = await out();
      const { corrected, published } = trained.scores;
      expect(await numberIn(figure, 'spearman-corrected')).toBeCloseTo(spearman(corrected, actual), 10);
      expect(await numberIn(figure, 'pearson-corrected')).toBeCloseTo(pearson(corrected, actual), 6);
      expect(await numberIn(figure, 'spearman-published')).toBeCloseTo(spearman(published, actual), 10);
      expect(await numberIn(figure, 'pearson-newton')).toBeGreaterThan(0.99);

      await figure.getByLabel('Weight decay').focus();
      await page.keyboard.press('End');
      await expect.poll(() => numberIn(figure, 'error-corrected')).toBeLessThan(0.5);
      expect(await difference(figure)).toBeLessThan(1e-6);
      await retrained(figure);
      expect(await numberIn(figure, 'spearman-newton')).toBeGreaterThan(0.95);
      await figure.getByRole('button', { name: 'Keep all' }).click();
      await expect.poll(() => figure.locator('.removal-plane').textContent()).toContain('nothing moves');
    }));

  it('computes the same on WebGPU, as far as float32 goes', () =>
    open({ gpu: true, figure: 'removal', hash: '#device=webgpu&removal.batch=4' }, async (page) => {
      const figure = figureOf(page, 'removal');
      await settled(figure, 'webgpu');
      expect(await difference(figure)).toBeLessThan(1e-2);
    }));

  it('removes pairs by mouse and keyboard, is kept by a reload, and undone by the back button', () =>
    open({ gpu: false, figure: 'removal' }, async (page) => {
      const figure = figureOf(page, 'removal');
      await settled(figure, 'cpu');
      const before = await numberIn(figure, 'error-corrected');
      await figure.getByRole('button', { name: 'kite' }).click();
      await expect.poll(() => numberIn(figure, 'error-corrected')).not.toBe(before);
      await figure.getByRole('button', { name: 'tulip' }).focus();
      await page.keyboard.press('Space');
      await expect.poll(() => new URL(page.url()).hash).toBe('#removal.remove=5_13');
      await expect.poll(() => difference(figure)).toBeLessThan(1e-6);
      const after = await numberIn(figure, 'error-corrected');
      await page.reload();
      await settled(figure, 'cpu');
      expect((await numberIn(figure, 'error-corrected')) / after).toBeCloseTo(1, 10);
      expect(await figure.locator('[aria-pressed="true"]').allTextContents()).toEqual(['cat face', 'kite']);
      await page.goBack();
      await page.goBack();
      await expect.poll(() => numberIn(figure, 'error-corrected')).toBeCloseTo(before, 10);
    }));
});
