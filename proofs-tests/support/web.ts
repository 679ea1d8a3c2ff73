// The playground in Chromium: built and served once for a test file, opened with WebGPU or without.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { buildSite } from '../../scripts/web/build.ts';
import { serveFolder } from '../../scripts/web/serve.ts';
import { launchChromium } from './browser.ts';

/** How a page is opened. */
export interface PageSettings {
  /** WebGPU (SwiftShader) is there; it is switched off otherwise. */
  readonly gpu: boolean;
  /** Hash of the address with its `#`. */
  readonly hash?: string;
  /** Figure that is opened alone, `figure.html?figure=…`; the article unless given. */
  readonly figure?: string;
  readonly width?: number;
  readonly dark?: boolean;
}

/** The site for the tests of a file. */
export interface Site {
  readonly url: () => string;
  /** Opens a page and uses it; it must complain of nothing and ask nothing of other hosts. */
  readonly open: (settings: PageSettings, use: (page: Page) => Promise<void>) => Promise<void>;
}

/** Builds and serves the site before the tests of a suite. */
export function site(): Site {
  const folder = mkdtempSync(join(tmpdir(), 'ecif-web-'));
  let served: Awaited<ReturnType<typeof serveFolder>>;
  const browsers = new Map<boolean, Promise<Browser>>();
  beforeAll(async () => {
    served = await serveFolder(await buildSite(folder));
  });
  afterAll(async () => {
    for (const browser of browsers.values()) await (await browser).close();
    served?.server.closeAllConnections();
    served?.server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const browserWith = (gpu: boolean): Promise<Browser> => {
    const browser = browsers.get(gpu) ?? launchChromium({ gpu });
    browsers.set(gpu, browser);
    return browser;
  };
  return {
    url: () => served.url,
    open: async ({ gpu, hash = '', figure, width = 1200, dark = false }, use) => {
      const browser = await browserWith(gpu);
      const page = await browser.newPage({
        ...{ viewport: { width, height: 900 }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' },
      });
      const [problems, elsewhere]: [string[], string[]] = [[], []];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
      });
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('request', (asked) => {
        const address = asked.url().replace(/^blob:/, '');
        if (!address.startsWith(served.url) && !address.startsWith('data:')) elsewhere.push(address);
      });
      await page.goto(`${served.url}${figure === undefined ? '' : `figure.html?figure=${figure}`}${hash}`);
      try {
        await use(page);
      } finally {
        await page.close();
      }
      expect(problems).toEqual([]);
      expect(elsewhere).toEqual([]);
    },
  };
}

/** The part of a page that holds a figure. */
export const figureOf = (page: Page, name: string): Locator =>
  page.locator(`[data-figure="${name}"], .alone [data-figure=""]`).first();

/** Waits until a figure has computed what it shows, on a device of a kind where one is given. */
export async function settled(figure: Locator, device?: 'cpu' | 'webgpu', seconds = 60): Promise<void> {
  const state = device === undefined ? '[data-state="done"]' : `[data-state="done"][data-device="${device}"]`;
  await figure
    .locator(`.status${state}`)
    .first()
    .waitFor({ timeout: 1000 * seconds });
}

/** A number that a figure shows, with all its digits. */
export async function numberIn(figure: Locator, name: string): Promise<number> {
  const text = await figure.locator(`[data-name="${name}"]`).first().getAttribute('data-value');
  return text === null ? NaN : Number(text);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds on a page that is serious or worse. */
export async function violations(page: Page): Promise<string[]> {
  // As a script of the test, which the page's own policy would not let in.
  await page.evaluate(AXE);
  const found = await page.evaluate<{ violations: Violation[] }>('axe.run(document)');
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
    );
}
