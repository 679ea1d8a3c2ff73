// Chapter 4 of the playground in Chromium: its numbers are those of the library in Node; the broken bound is said to be so.

import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { openDevice } from '../../src/index.ts';
import { read } from '../../web/app/params.ts';
import { questionsOf } from '../../web/figures/bounds-params.ts';
import { boundsFigure } from '../../web/figures/bounds.ts';
import { boundsFound } from '../../web/maths/bounds.ts';
import { describeBrowser } from '../support/browser.ts';
import { figureOf, numberIn, settled, site } from '../support/web.ts';

const NAMES = ['error', 'change', 'printed', 'lipschitz', 'selfConcordant', 'p1', 'p2', 'p3'] as const;

/** How far the figure is from what the library says in Node of the state in its address, relatively, at worst. */
async function apart(figure: Locator): Promise<number> {
  const own = new URL(figure.page().url()).hash.split('&').map((part) => part.replace(/^#?bounds\./, '').split('='));
  const { here } = questionsOf(read(boundsFigure.params, Object.fromEntries(own) as Record<string, string>));
  const [at] = await boundsFound.run(await openDevice({ kind: 'cpu' }), here, () => undefined);
  const errors: number[] = [];
  for (const name of NAMES) {
    const [shown, known] = [await numberIn(figure, name), at[name]];
    errors.push(known === null ? (Number.isNaN(shown) ? 0 : Infinity) : Math.abs(shown / known - 1));
  }
  return Math.max(...errors.map((x) => (Number.isNaN(x) ? Infinity : x)));
}

const words = (figure: Locator): Promise<string | null> => figure.locator('.bounds-words').textContent();

describeBrowser('how wrong can it be?', () => {
  const { open } = site();

  it('shows what the library computes, on cpu, and the counterexample at a click', () =>
    open({ gpu: false, figure: 'bounds' }, async (page) => {
      const figure = figureOf(page, 'bounds');
      await settled(figure, 'cpu');
      expect(await apart(figure)).toBeLessThan(1e-9);
      await figure.getByRole('button', { name: 'Show the counterexample' }).click();
      await expect.poll(() => words(figure), { timeout: 10_000 }).toContain('The printed bound is broken');
      expect(await apart(figure)).toBeLessThan(1e-9);
      expect((await numberIn(figure, 'printed')).toFixed(3)).toBe('1.571');
      expect(await figure.locator('tr.bounds-broken').textContent()).toContain('printed theorem');
      await expect.poll(() => words(figure), { timeout: 20_000 }).toContain('it is broken at 6');
      expect(await figure.locator('.bounds-word').first().textContent()).toBe('broken here');
      await expect.poll(() => numberIn(figure, 'curvatureRetrained'), { timeout: 20_000 }).toBeCloseTo(0.008642, 6);
    }));

  it('shows it on WebGPU, in float32', () =>
    open(
      { gpu: true, figure: 'bounds', hash: '#device=webgpu&bounds.problem=line&bounds.decay=0.001' },
      async (page) => {
        const figure = figureOf(page, 'bounds');
        await expect.poll(() => numberIn(figure, 'error'), { timeout: 60_000 }).toBeCloseTo(2.9, 1);
        // Near the float64 of the CPU, and not the same.
        expect(await apart(figure)).toBeLessThan(1e-2);
        expect(await apart(figure)).toBeGreaterThan(1e-10);
        expect(await words(figure)).toContain('The printed bound is broken');
      },
    ));

  it('is moved by the keyboard, kept by a reload, and undone by the back button', () =>
    open({ gpu: false, hash: '#at=bounds&bounds.removed=2' }, async (page) => {
      const figure = figureOf(page, 'bounds');
      await settled(figure, 'cpu');
      const before = await numberIn(figure, 'error');
      await figure.getByRole('slider', { name: 'Weight decay' }).focus();
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => numberIn(figure, 'error'), { timeout: 10_000 }).not.toBe(before);
      expect(await apart(figure)).toBeLessThan(1e-9);
      await figure.getByRole('combobox', { name: 'Edit' }).focus();
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => apart(figure), { timeout: 10_000 }).toBeLessThan(1e-9);
      const moved = await numberIn(figure, 'error');
      expect(await numberIn(figure, 'printed')).toBeNaN();
      await page.reload();
      await settled(figure, 'cpu');
      expect(await numberIn(figure, 'error')).toBe(moved);
      await page.goBack();
      await page.goBack();
      await expect.poll(() => numberIn(figure, 'error'), { timeout: 10_000 }).toBe(before);
    }));
});
