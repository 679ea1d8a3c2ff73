// npm run web:screenshots: pictures of every chapter, wide, on a phone and in the dark, for docs/playground.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator } from 'playwright-core';
import { FIGURES } from '../../web/figures/index.ts';
import { buildSite } from './build.ts';
import { type Look, LOOKS, openBrowser, savePicture, STILL } from './looks.ts';
import { serveFolder } from './serve.ts';

const OUT = fileURLToPath(new URL('../../docs/playground/', import.meta.url));

/** States worth a picture, where it is not the one that a figure begins with, and what is pressed first. */
const STATES: Readonly<Record<string, { hash?: string; press?: string }>> = {
  bounds: { hash: '&bounds.problem=line&bounds.decay=0.001' },
  game: { hash: '&game.marks=0_4_8&game.shown=1' },
  trace: { hash: '&trace.on=1&trace.by=score&trace.remove=0_16_17&trace.retrain=1' },
};

/** Milliseconds that a chapter may take. */
const PATIENCE = 120_000;

/** Waits until a figure has computed all that it shows: for a second nothing was under way. */
async function rested(figure: Locator): Promise<void> {
  for (let still = 0; still < 10; still++) {
    await figure.locator('.status[data-state="done"]').first().waitFor({ timeout: PATIENCE });
    await figure.page().waitForTimeout(100);
    const bars = figure.locator('progress:visible');
    const under = await bars.evaluateAll((all) => all.some((bar) => (bar as HTMLProgressElement).position < 1));
    if (under || (await figure.locator('[data-state="busy"]').count()) > 0) still = 0;
  }
}

async function shoot(browser: Browser, url: string, name: string, look: Look): Promise<void> {
  const page = await browser.newPage({ ...LOOKS[look], ...STILL });
  const { hash = '', press } = STATES[name] ?? {};
  await page.goto(`${url}index.html#at=${name}${hash}`);
  const figure = page.locator(`[data-figure="${name}"]`);
  await figure.scrollIntoViewIfNeeded();
  if (press !== undefined) await figure.getByRole('button', { name: press }).click();
  await rested(figure);
  // Pictures that are loaded when they come into view.
  await figure.locator('img').evaluateAll((all) =>
    Promise.all(
      (all as HTMLImageElement[]).map((image) => {
        image.loading = 'eager';
        return image.decode();
      }),
    ),
  );
  const picture = await page.locator(`section#${name}`).screenshot();
  await savePicture(picture, join(OUT, `${name}-${look}.png`));
  await page.close();
}

const { url, server } = await serveFolder(await buildSite());
const browser = await openBrowser();
mkdirSync(OUT, { recursive: true });
const asked = process.argv.slice(2);
try {
  for (const { name } of FIGURES.filter((figure) => asked.length === 0 || asked.includes(figure.name))) {
    for (const look of Object.keys(LOOKS) as Look[]) await shoot(browser, url, name, look);
  }
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
}
