// npm run build:web: writes the playground to a folder that any static host can serve.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import katex from 'katex';
import { STYLE } from '../../src/report/style.ts';
import { EMOJI } from '../../web/data/emoji.gen.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WEB = join(ROOT, 'web');
const MODEL = join(ROOT, 'models', 'small-clip');
const { resolve: locate } = createRequire(import.meta.url);

/** Files of the small CLIP, as chapter 6 loads them. */
export const MODEL_FILES = [
  ...['config.json', 'preprocessor_config.json', 'tokenizer_config.json', 'vocab.json', 'merges.txt'],
  'model.safetensors',
];

/** Where the site is written unless told. */
const OUT = join(WEB, 'dist');

const read = (...parts: readonly string[]): string => readFileSync(join(WEB, ...parts), 'utf8');

const namesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(WEB, folder))
    .filter((name) => name.endsWith(ending))
    .sort();

const unescaped = (html: string): string =>
  html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Formulas between \( \) and \[ \] set by KaTeX, with MathML beside for those who listen. */
export function setFormulas(html: string): string {
  const set = (tex: string, displayMode: boolean): string =>
    katex.renderToString(unescaped(tex), { displayMode, throwOnError: true, strict: 'error', trust: false });
  return html
    .replace(/\\\[([\s\S]*?)\\\]/g, (_, tex: string) => set(tex, true))
    .replace(/\\\(([\s\S]*?)\\\)/g, (_, tex: string) => set(tex, false));
}

/** A chapter: its place, its heading, its text. */
interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly html: string;
}

/** The chapters in their order. */
function chapters(): Chapter[] {
  return namesIn('chapters', '.html').map((name) => {
    const html = read('chapters', name);
    const [id, title] = [/<section id="([a-z]+)"/.exec(html)?.[1], /<h2>([^<]*)<\/h2>/.exec(html)?.[1]];
    if (id === undefined || title === undefined)
      throw new Error(`web/chapters/${name}: no <section id="…"> with an <h2>; begin as the other chapters do`);
    return { id, title, html: setFormulas(html) };
  });
}

/** Fonts of KaTeX that formulas of the article may use. */
const FONTS =
  /^KaTeX_(?:Main-(?:Regular|Bold|Italic)|Math-Italic|Size[1-4]-Regular|AMS-Regular|Caligraphic-Regular)\.woff2$/;

/** The style sheet of formulas with these fonts alone, which are copied. */
function formulaStyle(out: string): string {
  const folder = dirname(locate('katex/dist/katex.min.css'));
  return readFileSync(join(folder, 'katex.min.css'), 'utf8').replace(
    /@font-face\{([^}]*?)src:url\(fonts\/([\w-]+\.woff2)\)[^}]*\}/g,
    (_, face: string, font: string) => {
      if (!FONTS.test(font)) return '';
      cpSync(join(folder, 'fonts', font), join(out, 'fonts', font));
      return `@font-face{${face}src:url(fonts/${font}) format("woff2")}`;
    },
  );
}

/** Pages, filled in. */
function writePages(out: string): void {
  const all = chapters();
  const links = all.map(({ id, title }) => `<li><a data-chapter="${id}" href="#at=${id}">${title}</a></li>`);
  const fill = (page: string): string =>
    read(page)
      .replace('<!-- head -->', read('head.html'))
      .replace('<!-- contents -->', links.join('\n'))
      .replace('<!-- chapters -->', all.map(({ html }) => html).join('\n'));
  for (const page of ['index.html', 'figure.html']) writeFileSync(join(out, page), fill(page));
}

/**
 * Writes the site.
 * @param out folder; what is in it is replaced
 */
export async function buildSite(out = OUT): Promise<string> {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(out, 'fonts'), { recursive: true });
  await build({
    entryPoints: { main: join(WEB, 'app', 'main.ts'), worker: join(WEB, 'worker.ts') },
    ...{ outdir: out, bundle: true, splitting: true, format: 'esm', platform: 'browser', target: 'es2022' },
    ...{ minify: true, legalComments: 'none', chunkNames: 'chunks/[name]-[hash]', logLevel: 'warning' },
  });
  const style = [STYLE, ...namesIn('style', '.css').map((name) => read('style', name)), formulaStyle(out)];
  writeFileSync(join(out, 'style.css'), style.join('\n'));
  writePages(out);
  for (const { code } of EMOJI)
    cpSync(locate(`@twemoji/svg/${code}.svg`), join(out, 'emoji', `${code}.svg`), { recursive: true });
  for (const name of MODEL_FILES) cpSync(join(MODEL, name), join(out, 'model', name), { recursive: true });
  return out;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [at, ...more] = process.argv.slice(2);
  if (more.length > 0 || at?.startsWith('-')) {
    console.error('usage: npm run build:web -- [FOLDER]   (web/dist unless given)');
    process.exitCode = 2;
  } else
    console.log(
      `the playground is in ${await buildSite(at === undefined ? OUT : resolve(at))}; serve it from any static host`,
    );
}
