// Runs the `main()` of a TypeScript module in headless Chromium with WebGPU and gives back its JSON result.
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright-core';
import { describeWhere } from './where.ts';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

// SwiftShader is the one adapter headless Chromium has on a machine without a GPU.
const WITH_GPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];
const WITHOUT_GPU = ['--disable-features=WebGPUService,WebGPU', '--disable-blink-features=WebGPU'];

// Off the network.
const FLAGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];

/** A Chromium off the network, with WebGPU unless told otherwise. */
export const launchChromium = ({ gpu = true } = {}): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...(gpu ? WITH_GPU : WITHOUT_GPU)] });

/** `describe` for tests that need Chromium. */
export function describeBrowser(name: string, fn: () => void): void {
  const reason = `no Chromium at ${CHROMIUM}; apt-get install chromium, or set CHROMIUM_PATH`;
  describeWhere(existsSync(CHROMIUM), reason, name, fn);
}

export interface BrowserOptions {
  /** Passed to `main` as its one argument, as JSON. */
  readonly argument?: unknown;
  readonly timeoutMs?: number;
}

/** Bundles `entry` (an absolute path), opens it in Chromium and returns what its exported `main()` resolves to. */
export async function runInBrowser<T>(entry: string, options: BrowserOptions = {}): Promise<T> {
  const server = await serve(await bundle(entry));
  let browser: Browser | undefined;
  try {
    browser = await launchChromium();
    return await evaluateMain<T>(browser, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, options);
  } finally {
    await browser?.close();
    server.closeAllConnections();
    server.close();
  }
}

async function evaluateMain<T>(browser: Browser, url: string, options: BrowserOptions): Promise<T> {
  const page = await browser.newPage();
  page.setDefaultTimeout(options.timeoutMs ?? 60_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(url);
  // As text: vitest rewrites `import()` in functions, which the page would not understand.
  const argument = JSON.stringify(options.argument) ?? '';
  const toJson = '(value) => JSON.stringify(value ?? null)';
  const json = await Promise.race([
    page.evaluate<string>(`import('/main.js').then((module) => module.main(${argument})).then(${toJson})`),
    expired(options.timeoutMs ?? 60_000),
  ]);
  if (errors.length) throw new Error(`runInBrowser: the page reported errors\n${errors.join('\n')}`);
  return JSON.parse(json) as T;
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    sourcemap: 'inline',
    external: ['webgpu', 'node:*'],
    logLevel: 'silent',
  });
  return outputFiles[0].text;
}

function serve(script: string): Promise<Server> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/main.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    // The empty icon stops Chromium from asking for /favicon.ico.
    response.end(
      isScript ? script : '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>ecif</title>',
    );
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function expired(ms: number): Promise<never> {
  return new Promise((_, reject) => {
    const message = `runInBrowser: main() did not finish within ${ms} ms`;
    setTimeout(() => reject(new Error(message)), ms).unref();
  });
}
