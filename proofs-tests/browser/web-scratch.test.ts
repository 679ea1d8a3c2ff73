// Chapter 7 of the playground in Chromium: written, chosen and checked by mouse and by keyboard; its numbers are the library's.

import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openDevice } from '../../src/index.ts';
import { stateOf, tableOf } from '../../web/app/state.ts';
import { scratchAsked, scratchFigure } from '../../web/figures/scratch.ts';
import { scratchFound, type ScratchFound } from '../../web/maths/scratch.ts';
import { describeBrowser } from '../support/browser.ts';
import { figureOf, numberIn, settled, site } from '../support/web.ts';

/** What the library says in Node of the state that an address holds. */
async function expected(page: Page): Promise<ScratchFound> {
  const values = stateOf(tableOf([scratchFigure] as never), new URL(page.url()).hash).get('scratch');
  const found = await scratchFound.run(
    await openDevice({ kind: 'cpu' }),
    scratchAsked(values as never),
    () => undefined,
  );
  if (found.kind === 'wrong') throw new Error(found.message);
  return found;
}

/** The numbers of a column. */
const column = (figure: Locator, name: string): Promise<number[]> =>
  figure
    .locator(`.scratch-entries [data-name="${name}"]`)
    .evaluateAll((all) => all.map((td) => Number((td as HTMLElement).dataset.value)));

/** Compares what is shown with the library, to a tolerance relative to the largest entry. */
async function compare(figure: Locator, tolerance: number): Promise<void> {
  const found = await expected(figure.page());
  await expect.poll(async () => Math.abs((await numberIn(figure, 'value')) / found.value - 1)).toBeLessThan(tolerance);
  for (const name of ['gradient', 'direction', 'product'] as const) {
    const cells = await column(figure, name);
    expect(cells).toHaveLength(found[name].length);
    const size = Math.max(...found[name].map(Math.abs), 1e-9);
    cells.forEach((x, i) => expect(Math.abs(x - found[name][i])).toBeLessThan(tolerance * size));
  }
  expect(await figure.locator('.scratch-node').count()).toBe(found.graph.nodes.length);
}

describeBrowser('from scratch', () => {
  const { open } = site();

  for (const [gpu, device, tolerance] of [
    [true, 'webgpu', 1e-3],
    [false, 'cpu', 1e-12],
  ] as const) {
    it(`shows what the library computes, on ${device}`, () =>
      open({ gpu, figure: 'scratch', hash: gpu ? '#device=webgpu' : '' }, async (page) => {
        const figure = figureOf(page, 'scratch');
        await settled(figure, device);
        await compare(figure, tolerance);
        expect(await figure.locator('.scratch-good').count()).toBe(4);
        if (gpu) return;
        await figure.getByLabel('Examples').selectOption('a small network');
        await figure.getByLabel('Graph of').selectOption('product');
        await expect.poll(() => figure.getByRole('button', { name: /^geluCurvature/ }).count()).toBe(1);
        await compare(figure, tolerance);
        await figure.getByRole('button', { name: 'W[1,0]' }).click();
        await expect.poll(async () => (await column(figure, 'direction'))[2]).toBe(1);
        await compare(figure, tolerance);
      }));
  }

  it('shows the WGSL, the rules and the record of an op that is chosen, by mouse and by arrow keys', () =>
    open({ gpu: false, figure: 'scratch', hash: '#scratch.view=value' }, async (page) => {
      const figure = figureOf(page, 'scratch');
      await settled(figure);
      const panel = figure.locator('.scratch-panel');
      await figure.getByRole('button', { name: /^contrastive value/ }).click();
      await expect.poll(() => panel.textContent()).toContain('contrastiveGrad(x) . ct');
      expect(await panel.getByRole('region', { name: 'WGSL of contrastiveStats' }).textContent()).toContain('@compute');
      await page.keyboard.press('ArrowUp');
      await expect.poll(() => panel.textContent()).toContain('2 * x');
      expect(await page.evaluate('document.activeElement?.getAttribute("aria-label")')).toContain('affine 4×4');
      await page.keyboard.press('ArrowUp');
      await expect.poll(() => panel.textContent()).toContain("a * b'");
      expect(await panel.getByRole('region', { name: 'Record of matmul' }).textContent()).toContain('cpuMatmul');
      const hash = new URL(page.url()).hash;
      await page.reload();
      await settled(figure);
      await expect.poll(() => panel.textContent()).toContain("a * b'");
      expect(new URL(page.url()).hash).toBe(hash);
    }));

  it('is written in by keyboard, says what is wrong, mends it, and keeps its history', () =>
    open({ gpu: false, figure: 'scratch' }, async (page) => {
      const figure = figureOf(page, 'scratch');
      await settled(figure);
      const before = await numberIn(figure, 'value');
      const field = figure.getByLabel('f =');
      await field.fill('sum(tanh(x * y))');
      await page.keyboard.press('Enter');
      const mend = figure.getByRole('button', { name: "Use sum(tanh(x' * y))" });
      await mend.focus();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await figure.locator('mark').textContent()).toBe('x * y');
      await page.keyboard.press('Enter');
      await expect.poll(() => field.inputValue()).toBe("sum(tanh(x' * y))");
      await expect.poll(() => field.getAttribute('aria-invalid')).toBe('false');
      await compare(figure, 1e-12);
      await page.reload();
      await settled(figure);
      expect(await field.inputValue()).toBe("sum(tanh(x' * y))");
      await compare(figure, 1e-12);
      await page.goBack();
      await page.goBack();
      await expect.poll(() => numberIn(figure, 'value')).toBe(before);
      await field.fill('<img src=x onerror=alert(1)>');
      await expect.poll(() => figure.locator('.scratch-wrong').textContent()).toBe('<img src=x onerror=alert(1)>');
      expect(await figure.locator('img').count()).toBe(0);
    }));

  it('gives no verdict where f is not finite, and lets go of what was wrong before when a call fails', () =>
    open({ gpu: false, figure: 'scratch', hash: '#scratch.e=sum(log(W))' }, async (page) => {
      const figure = figureOf(page, 'scratch');
      await settled(figure);
      await figure.getByText('f is not a finite number').waitFor();
      expect(await figure.locator('.scratch-good, .scratch-bad').count()).toBe(0);
      expect(await numberIn(figure, 'slope')).toBeNaN();
      const field = figure.getByLabel('f =');
      await field.fill('t');
      await expect.poll(() => figure.locator('.scratch-good').count()).toBe(4);
      expect(await figure.getByText('f is not a finite number').count()).toBe(0);
      await compare(figure, 1e-12);
      await field.fill('sum(');
      await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
      await page.evaluate(() => {
        const { postMessage } = Worker.prototype;
        Worker.prototype.postMessage = function (this: Worker, message: object) {
          postMessage.call(this, { ...message, name: 'none' });
        };
      });
      await field.fill('sum(W)');
      await figure.locator('.status[data-state="failed"]').first().waitFor();
      await expect.poll(() => field.getAttribute('aria-invalid')).toBe('false');
      expect(await figure.locator('.scratch-results.scratch-stale').count()).toBe(1);
    }));
});
