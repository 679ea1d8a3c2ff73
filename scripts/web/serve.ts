// npm run playground: builds the playground and serves it on this machine alone.
// PORT=8080 chooses the port; any that is free unless told. BROWSER=none opens no browser.

import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSite } from './build.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** The file that a path asks for; null for none, and for one outside of the folder. */
function fileOf(folder: string, url: string): string | null {
  let path: string;
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return null;
  }
  const file = normalize(join(folder, path.endsWith('/') ? `${path}index.html` : path));
  const inside = file.startsWith(folder + sep) && !path.includes('\0');
  return inside && existsSync(file) && statSync(file).isFile() ? file : null;
}

/**
 * Serves a folder at 127.0.0.1.
 * @param port 0 for any that is free
 * @returns the address, and the server to close
 */
export async function serveFolder(folder: string, port = 0): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const file = request.method === 'GET' || request.method === 'HEAD' ? fileOf(folder, request.url ?? '/') : null;
    const answer = (status: number, type: string, body: string | Buffer): void => {
      const length = Buffer.byteLength(body);
      response.writeHead(status, { 'content-type': type, 'content-length': length, 'cache-control': 'no-cache' });
      response.end(request.method === 'HEAD' ? undefined : body);
    };
    if (file === null) return answer(404, 'text/plain; charset=utf-8', 'no such file\n');
    readFile(file).then(
      (body) => answer(200, TYPES[extname(file)] ?? 'application/octet-stream', body),
      () => answer(500, 'text/plain; charset=utf-8', 'the file cannot be read\n'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

/** Shows an address in the reader's browser, where there is a way to. */
function openBrowser(url: string): void {
  const opener = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(opener, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serveFolder(await buildSite(), Number(process.env.PORT ?? 0));
  console.log(`${url}   (Ctrl-C ends it)`);
  if (process.env.BROWSER !== 'none' && process.env.CI === undefined) openBrowser(url);
}
