// npm run example:browser: bundles the page and serves it, with the small CLIP beside it, on this machine alone.
// PORT=8080 chooses the port; any that is free unless told.

import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const HERE = fileURLToPath(new URL('./', import.meta.url));
const MODEL = fileURLToPath(new URL('../../models/small-clip/', import.meta.url));
const SAMPLE = createRequire(import.meta.url).resolve('@twemoji/svg/2764.svg');

/** Every path that is answered: nothing else is read, so that no path leads out of these folders. */
const FILES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/': [`${HERE}index.html`, 'text/html; charset=utf-8'],
  '/style.css': [`${HERE}style.css`, 'text/css; charset=utf-8'],
  '/sample.svg': [SAMPLE, 'image/svg+xml'],
  '/model/config.json': [`${MODEL}config.json`, 'application/json'],
  '/model/preprocessor_config.json': [`${MODEL}preprocessor_config.json`, 'application/json'],
  '/model/tokenizer_config.json': [`${MODEL}tokenizer_config.json`, 'application/json'],
  '/model/vocab.json': [`${MODEL}vocab.json`, 'application/json'],
  '/model/merges.txt': [`${MODEL}merges.txt`, 'text/plain; charset=utf-8'],
  '/model/model.safetensors': [`${MODEL}model.safetensors`, 'application/octet-stream'],
};

/** The page may load from this server alone, and show pictures of its own. */
const HEADERS = {
  'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src blob: data:`,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
};

/** The page's script. */
async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`${HERE}main.ts`],
    ...{ bundle: true, write: false, format: 'esm', platform: 'browser', target: 'es2022', minify: true },
  });
  return outputFiles[0].text;
}

function answer(response: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
  response.writeHead(status, { ...HEADERS, 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/**
 * Serves the page at 127.0.0.1.
 * @param port 0 for any that is free
 * @returns the address, and the server to close
 */
export async function servePage(port = 0): Promise<{ url: string; server: Server }> {
  const script = await bundle();
  const server = createServer((request, response) => {
    const [path] = (request.url ?? '/').split('?');
    const found = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
    if (request.method !== 'GET') answer(response, 405, 'text/plain', 'only GET is answered\n');
    else if (path === '/main.js') answer(response, 200, 'text/javascript; charset=utf-8', script);
    else if (found === undefined) answer(response, 404, 'text/plain', 'no such file\n');
    else {
      readFile(found[0]).then(
        (body) => answer(response, 200, found[1], body),
        () => answer(response, 500, 'text/plain', 'the file cannot be read\n'),
      );
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await servePage(Number(process.env.PORT ?? 0));
  console.log(`${url}   (Ctrl-C ends it)`);
}
