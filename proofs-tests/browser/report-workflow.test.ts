// The report of a run in Chromium: offline, quiet, sortable by mouse and keyboard, no wider than a phone, hard to inject.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Findings } from '../../src/report/findings.ts';
import { workflowReport } from '../../src/report/workflow-report.ts';
import { describeBrowser, launchChromium } from '../support/browser.ts';
import { detectionOf, FINDINGS } from '../support/findings.ts';

const LONG = `<script>document.title = 'evil'</script>"><img src=x onerror="document.title='evil'"> ${'wörd'.repeat(2500)}`;

/** Findings in which some texts are as bad as can be. */
function hostile(): Findings {
  const detect = detectionOf();
  const [first, ...others] = detect.suspects;
  const suspects = [
    { ...first, id: LONG, caption: LONG },
    { ...others[0], caption: 'שלום \u202e עולם' },
    ...others.slice(1),
  ];
  return { ...FINDINGS, name: LONG.slice(0, 200), detect: { ...detect, suspects, method: LONG } };
}

describeBrowser('the report of a run in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ecif-report-'));
  const file = join(folder, 'report.html');
  let browser: Browser;

  beforeAll(async () => {
    const square = sharp({ create: { width: 96, height: 96, channels: 3, background: '#c33' } });
    const address = `data:image/png;base64,${(await square.png().toBuffer()).toString('base64')}`;
    const thumbnail = (id: string): Promise<string | null> => Promise.resolve(id === '1f436' ? null : address);
    writeFileSync(file, await workflowReport(hostile(), thumbnail));
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a page and uses it; gives what it complained of, and checks that it asked for nothing. */
  async function visit(
    path: string,
    width: number,
    scheme: 'light' | 'dark',
    use: (page: Page) => Promise<void>,
  ): Promise<string[]> {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: scheme, offline: true });
    const page = await context.newPage();
    const [problems, requests]: [string[], string[]] = [[], []];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    const url = pathToFileURL(path).href;
    await page.goto(url);
    await use(page);
    expect(requests.filter((u) => u !== url && !u.startsWith('data:'))).toEqual([]);
    await context.close();
    return problems;
  }

  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

  it.each([
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
  ] as const)('at %i px, %s: every part is seen and nothing sticks out', async (width, scheme) => {
    const problems = await visit(file, width, scheme, async (page) => {
      await page.locator('details').evaluateAll((all) => all.forEach((one) => one.setAttribute('open', '')));
      expect(await page.evaluate<number>(overflow)).toBe(0);
      expect(await page.title()).not.toBe('evil');
      for (const selector of [
        'section',
        'svg.plot',
        '.card',
        '.panel',
        '.removal',
        '.counts li',
        '.thumb',
        '.badge',
        '.list',
        'figcaption',
      ]) {
        const sizes = await page.locator(selector).evaluateAll((all) =>
          all.map((one) => {
            const { width: w, height: h, right } = one.getBoundingClientRect();
            return { least: Math.min(w, h), right };
          }),
        );
        expect(sizes.length, selector).toBeGreaterThan(0);
        expect(Math.min(...sizes.map(({ least }) => least)), selector).toBeGreaterThan(8);
        const wide = ['svg.plot', '.list', '.thumb', '.badge'].includes(selector);
        if (!wide) expect(Math.max(...sizes.map(({ right }) => right)), selector).toBeLessThanOrEqual(width);
      }
      const loaded = '[...document.images].every((image) => image.naturalWidth > 0) && document.images.length';
      expect(await page.evaluate<number>(loaded)).toBeGreaterThan(50);
    });
    expect(problems).toEqual([]);
  });

  const texts = (page: Page, column: number): Promise<string[]> =>
    page.locator(`#suspects table tbody tr td:nth-child(${column})`).allTextContents();
  const head = (page: Page, name: string): Locator => page.locator('#suspects th', { hasText: name });

  it('sorts by mouse: numbers from the largest, then from the smallest', async () => {
    const problems = await visit(file, 1280, 'light', async (page) => {
      const ranks = detectionOf().suspects.map(({ rank }) => String(rank));
      expect(await texts(page, 1)).toEqual(ranks);
      await head(page, 'Rank').getByRole('button').click();
      expect(await texts(page, 1)).toEqual(ranks.toReversed());
      expect(await head(page, 'Rank').getAttribute('aria-sort')).toBe('descending');
      await head(page, 'Cosine').getByRole('button').click();
      await head(page, 'Cosine').getByRole('button').click();
      expect(await head(page, 'Rank').getAttribute('aria-sort')).toBeNull();
      const values = await page
        .locator('#suspects tbody td:nth-child(7)')
        .evaluateAll((cells) => cells.map((cell) => Number((cell as HTMLElement).dataset.value)));
      expect(values).toEqual(values.toSorted((a, b) => a - b));
      expect(new Set(values).size).toBeGreaterThan(20);
    });
    expect(problems).toEqual([]);
  });

  it('sorts by keyboard, says so, and shows where the focus is', async () => {
    await visit(file, 1280, 'light', async (page) => {
      const button = head(page, 'Looks wrong').getByRole('button');
      await button.focus();
      await page.keyboard.press('Enter');
      const words = await texts(page, 5);
      expect(words).toEqual(words.toSorted());
      await page.keyboard.press('Space');
      expect(await texts(page, 5)).toEqual(words.toReversed());
      expect(await page.locator('#suspects [role=status]').textContent()).toBe('Sorted by Looks wrong, descending.');
      expect(await button.evaluate((one) => getComputedStyle(one).outlineStyle)).toBe('solid');
    });
  });

  it('is led through by keyboard: first the link past the navigation, then the sections', async () => {
    await visit(file, 1280, 'light', async (page) => {
      await page.keyboard.press('Tab');
      const skip = page.locator('a.skip');
      expect(await skip.evaluate((one) => one === document.activeElement)).toBe(true);
      expect((await skip.boundingBox())?.x).toBeGreaterThanOrEqual(0);
      await page.keyboard.press('Enter');
      expect(await page.evaluate<string>('document.activeElement.id')).toBe('main');
      const links = await page.locator('nav a').evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
      for (const link of links) expect(await page.locator(`section${link} > h2`).count()).toBe(1);
    });
  });

  it('runs no other script, though its text be changed', async () => {
    const changed = join(folder, 'changed.html');
    const evil = `<script>document.title = 'evil'</script><img src="data:image/png;base64,AAAA" onerror="document.title = 'evil'"><svg onload="document.title = 'evil'"></svg>`;
    writeFileSync(changed, readFileSync(file, 'utf8').replace('<main', `${evil}<main`));
    const problems = await visit(changed, 1280, 'light', async (page) => {
      await page.waitForTimeout(100);
      expect(await page.title()).not.toBe('evil');
      expect(await head(page, 'Rank').getByRole('button').count()).toBe(1);
    });
    expect(problems.filter((text) => text.includes('Content Security Policy')).length).toBeGreaterThanOrEqual(3);
  });

  it('can be read without its script', async () => {
    const plain = join(folder, 'plain.html');
    writeFileSync(plain, readFileSync(file, 'utf8').replace(/&#39;sha256-[^;]*&#39;/, '&#39;none&#39;'));
    await visit(plain, 1280, 'light', async (page) => {
      expect(await page.locator('#suspects th button').count()).toBe(0);
      expect(await texts(page, 1)).toHaveLength(detectionOf().suspects.length);
      expect(await head(page, 'Suspicion').isVisible()).toBe(true);
    });
  });

  it('is dark on a dark screen, light on paper, where the navigation is gone', async () => {
    await visit(file, 1280, 'dark', async (page) => {
      const background = 'getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]';
      expect(await page.evaluate<number>(background)).toBeLessThan(60);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      expect(await page.evaluate<number>(background)).toBeGreaterThan(200);
      expect(await page.locator('nav.sections').isVisible()).toBe(false);
    });
  });
});
