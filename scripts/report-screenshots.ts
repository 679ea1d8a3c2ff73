// npm run report:screenshots [-- RUN]: pictures of the report of a run, that of the demo unless named, for docs.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LOOKS, type Look, openBrowser, savePicture, STILL } from './web/looks.ts';

const OUT = fileURLToPath(new URL('../docs/', import.meta.url));
/** Pixels from the top of the page. */
const HEIGHT: Readonly<Record<Look, number>> = { wide: 2020, dark: 2020, phone: 2400 };
/** Sections that have a picture of their own. */
const SECTIONS = ['removals', 'figures'];

const report = resolve(process.argv[2] ?? '.cache/demo/run', 'report.html');
if (!existsSync(report)) {
  console.error(`${report}: not there; run npm run demo first, or name a run folder`);
  process.exit(2);
}
const browser = await openBrowser();
try {
  for (const look of Object.keys(LOOKS) as Look[]) {
    const page = await browser.newPage({ ...LOOKS[look], ...STILL });
    await page.goto(pathToFileURL(report).href);
    const { width } = LOOKS[look].viewport;
    const picture = await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width, height: HEIGHT[look] } });
    await savePicture(picture, join(OUT, `report-${look}.png`));
    // In a window as high as the page nothing that stays at its top lies on a section.
    await page.setViewportSize({ width, height: await page.evaluate(() => document.documentElement.scrollHeight) });
    for (const id of look === 'wide' ? SECTIONS : [])
      await savePicture(await page.locator(`section#${id}`).screenshot(), join(OUT, `report-${id}.png`));
    await page.close();
  }
} finally {
  await browser.close();
}
