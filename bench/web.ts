// The playground measured in Chromium: bytes, time to the first figure, how long interactions block the page.
// `npm run bench:web [-- sizes load interactions]` runs all parts, or those named.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { buildSite } from '../scripts/web/build.ts';
import { serveFolder } from '../scripts/web/serve.ts';
import { FIGURES } from '../web/figures/index.ts';
import { chosenParts, type Parts, runParts } from './parts.ts';
import { note, print, type Row, target } from './report.ts';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Figures whose interactions have a limit: those of chapters 1 to 5. */
const LIMITED = ['batch', 'roles', 'removal', 'bounds', 'game'];
/** Milliseconds between beats of the page's own clock: a timer has no finer. */
const BEAT = 4;
/** Times that a page is loaded. */
const LOADS = 5;
/** Controls of a figure that are tried, of each kind. */
const TRIED = 6;

interface Site {
  readonly folder: string;
  readonly url: string;
  readonly browser: Browser;
}

const kilobytes = (bytes: number): number => bytes / 1000;

/** Bytes of files of a folder as they are sent: compressed, but for pictures and fonts that are compressed already. */
function sent(folder: string, keep: (path: string) => boolean): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => keep(path.slice(folder.length + 1)));
  const bytes = paths.map(
    (path) => (extname(path) === '.woff2' ? readFileSync(path) : gzipSync(readFileSync(path))).length,
  );
  return bytes.reduce((a, b) => a + b, 0);
}

async function sizeRows({ folder }: Site): Promise<Row[]> {
  const part = (what: string, keep: (path: string) => boolean): Row =>
    print(note('sizes, gzip', what, `${kilobytes(sent(folder, keep)).toFixed(1)} kB`));
  const model = (path: string): boolean => path.startsWith('model/');
  const total = kilobytes(sent(folder, (path) => !model(path)));
  return [
    part('page: HTML, style, script', (path) => /^(?:index\.html|style\.css|main\.js)$/.test(path)),
    part('worker: the engine and what it computes', (path) => path === 'worker.js'),
    part('chunks, loaded when they are wanted', (path) => path.startsWith('chunks/')),
    part('fonts of formulas', (path) => path.startsWith('fonts/')),
    part('pictures', (path) => path.startsWith('emoji/')),
    part('small CLIP, loaded in chapter 6', model),
    print(target('sizes, gzip', 'all but the small CLIP', total, '≤', 400, ' kB')),
  ];
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1];

const figureOf = (page: Page, name: string): Locator =>
  page.locator(`[data-figure="${name}"], .alone [data-figure=""]`).first();

/** Waits until a figure shows what it computed. */
const settled = (figure: Locator): Promise<void> =>
  figure.locator('.status[data-state="done"]').first().waitFor({ timeout: 120_000 });

async function loadRows({ url, browser }: Site): Promise<Row[]> {
  const times: number[] = [];
  for (let i = 0; i < LOADS; i++) {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    const began = performance.now();
    await page.goto(`${url}#device=cpu`);
    await figureOf(page, FIGURES[0].name).scrollIntoViewIfNeeded();
    await settled(figureOf(page, FIGURES[0].name));
    times.push((performance.now() - began) / 1000);
    await page.close();
  }
  const raw = { best: Math.min(...times), worst: Math.max(...times) };
  return [
    print(target('load', 'first figure shows its numbers, CPU device, median', median(times), '≤', 2, ' s', raw)),
  ];
}

/** Lets the page notice the longest time that its main thread does not answer. */
const WATCH = `(() => {
  const watch = { worst: 0, last: performance.now() };
  setInterval(() => {
    const now = performance.now();
    watch.worst = Math.max(watch.worst, now - watch.last);
    watch.last = now;
  }, ${BEAT});
  globalThis.blocked = () => { const worst = watch.worst; watch.worst = 0; return worst; };
})()`;

/** Milliseconds that the page was blocked while something was done, and until the figure is settled. */
async function blockedBy(page: Page, figure: Locator, act: () => Promise<unknown>): Promise<number> {
  await page.evaluate('blocked()');
  await act();
  await settled(figure);
  await page.waitForTimeout(100);
  return (await page.evaluate<number>('blocked()')) - BEAT;
}

/** Every slider, choice and switch of a figure is moved by the keyboard. */
async function interact(page: Page, figure: Locator): Promise<number[]> {
  const times: number[] = [];
  for (const [kind, keys] of [
    ['input[type="range"]', ['ArrowRight', 'ArrowLeft', 'ArrowLeft']],
    ['select', ['ArrowDown', 'ArrowUp']],
    ['input[type="checkbox"]', [' ', ' ']],
    ['[role="button"][tabindex="0"]', ['ArrowLeft', 'ArrowUp']],
  ] as const) {
    for (const control of (await figure.locator(kind).all()).slice(0, TRIED)) {
      await control.focus();
      for (const key of keys) times.push(await blockedBy(page, figure, () => page.keyboard.press(key)));
    }
  }
  return times;
}

async function interactionRows({ url, browser }: Site): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, title } of FIGURES.filter((figure) => LIMITED.includes(figure.name))) {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    await page.addInitScript(WATCH);
    await page.goto(`${url}figure.html?figure=${name}#device=cpu`);
    await settled(figureOf(page, name));
    const times = await interact(page, figureOf(page, name));
    const [worst, raw] = [Math.max(...times), { median: median(times), interactions: times.length }];
    rows.push(print(target('interactions', `${title}: longest block of ${times.length}`, worst, '≤', 60, ' ms', raw)));
    await page.close();
  }
  return rows;
}

const PARTS: Parts<Site> = { sizes: sizeRows, load: loadRows, interactions: interactionRows };

const chosen = chosenParts('web', PARTS);
if (!existsSync(CHROMIUM)) {
  console.error(`bench:web: no Chromium at ${CHROMIUM}; apt-get install chromium, or set CHROMIUM_PATH`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'ecif-web-'));
const { url, server } = await serveFolder(await buildSite(folder));
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
try {
  await runParts('web', `Chromium ${browser.version()}`, PARTS, chosen, { folder, url, browser });
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
