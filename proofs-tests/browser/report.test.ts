// The report in Chromium: visible, quiet, complete in itself, and no wider than the page.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyReport } from '../../src/report/verify-report.ts';
import type { ClaimResult, Figure, VerifyResult } from '../../src/verify/result.ts';
import { describeBrowser, launchChromium } from '../support/browser.ts';

const claimOf = (id: string, parts: Partial<ClaimResult>): ClaimResult => ({
  ...{
    id,
    place: 'Eq. 5, Appendix A',
    symbol: 'Neg(E)',
    erratum: null,
    instances: 20,
    tolerance: 1e-6,
    byMedian: false,
  },
  statement: 'dθ̂_ζ/dζ at ζ = 1 is −H⁻¹·∇Neg with Neg = Σ_k 1/P_k over the kept anchors k, in both directions.',
  ...{ correction: null, counterexample: null, verdict: 'holds', expected: 'holds', agrees: true },
  worst: { printed: 1e-12, corrected: null, control: 0.3 },
  ...parts,
});

const curve = (scale: number): [number, number][] => [0.01, 0.1, 1, 10].map((x) => [x, scale / (1 + x)]);

const FIGURES: Figure[] = (['lines', 'points'] as const).map((kind, i) => ({
  ...{
    id: kind,
    title: `Figure of ${kind}`,
    caption: 'A caption of some length, so that it wraps on a narrow page.',
    kind,
  },
  x: { label: 'weight decay δ', log: true },
  y: { label: 'relative parameter error', log: i === 0 },
  diagonal: i === 1,
  series: ['published', 'corrected', 'Newton', 'a series of unusual name'].map((name, s) => ({
    name,
    points: curve(10 ** (2 - s)),
  })),
}));

const RESULT: VerifyResult = {
  device: 'webgpu (float32, an adapter with a rather long description of itself)',
  seed: 1,
  instances: 20,
  claims: [
    claimOf('eq-batch-loss', {}),
    claimOf('erratum-05-with-a-name-that-is-longer-than-its-column', {
      verdict: 'holds as corrected',
      expected: 'holds as corrected',
      correction: 'Neg = Σ_k P_k.',
      erratum: 5,
      worst: { printed: 238, corrected: 1e-11, control: 0.3 },
      counterexample: `x=(${'1, -1, 0.5, '.repeat(20)}), ${'y'.repeat(300)}`,
    }),
    claimOf('thm-error-bound', { verdict: 'fails as printed', agrees: false, statement: '<script>throw 1</script>' }),
  ],
  figures: FIGURES,
};

describeBrowser('the report in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ecif-report-'));
  const file = join(folder, 'report.html');
  let browser: Browser;

  beforeAll(async () => {
    writeFileSync(file, verifyReport(RESULT, { ecif: '0.0.0', node: '20.0.0' }));
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens the report and uses it; what the page complained of and what it asked for must be nothing. */
  async function open(width: number, scheme: 'light' | 'dark', use: (page: Page) => Promise<void>): Promise<void> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
    const [problems, requests]: [string[], string[]] = [[], []];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    const url = pathToFileURL(file).href;
    await page.goto(url);
    await use(page);
    expect(problems).toEqual([]);
    expect(requests.filter((u) => u !== url && !u.startsWith('data:'))).toEqual([]);
    await page.close();
  }

  it.each([400, 900, 1280])('at %i px every row and picture is seen and nothing sticks out', async (width) => {
    await open(width, 'light', async (page) => {
      for (const details of await page.locator('summary').all()) await details.click();
      const sizes = async (selector: string): Promise<number[]> =>
        (await Promise.all((await page.locator(selector).all()).map((e) => e.boundingBox()))).map((box) =>
          Math.min(box?.width ?? 0, box?.height ?? 0),
        );
      expect(await page.locator('tbody tr[id]').count()).toBe(RESULT.claims.length);
      expect(await page.locator('svg.plot').count()).toBe(FIGURES.length);
      for (const selector of ['tbody tr[id]', 'svg.plot', '.legend li svg', '.badge', 'figcaption', 'details p']) {
        expect(Math.min(...(await sizes(selector))), selector).toBeGreaterThan(8);
      }
      const cells = await page.locator('td:has(> .badge)').all();
      for (const cell of cells) {
        const [outer, inner] = [await cell.boundingBox(), await cell.locator('.badge').boundingBox()];
        expect((inner?.x ?? Infinity) + (inner?.width ?? 0)).toBeLessThanOrEqual((outer?.x ?? 0) + (outer?.width ?? 0));
      }
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate<number>(overflow)).toBe(0);
    });
  });

  it('the head of the table stays in view', async () => {
    await open(1280, 'light', async (page) => {
      await page.locator('tr#thm-error-bound').evaluate((row) => row.scrollIntoView({ block: 'start' }));
      const box = await page.locator('thead th').first().boundingBox();
      expect(box?.y).toBeGreaterThanOrEqual(-1);
      expect(box?.y).toBeLessThan(60);
    });
  });

  it('is dark on a dark screen, light on paper', async () => {
    await open(1280, 'dark', async (page) => {
      const background = 'getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]';
      expect(await page.evaluate<number>(background)).toBeLessThan(60);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      expect(await page.evaluate<number>(background)).toBeGreaterThan(200);
    });
  });
});
