// Programs in Markdown: the ts blocks of a page run one after the other, each compared with the text block that follows it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A file of the repository. */
export const page = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A ts block, and what the page says that it prints. */
export interface Block {
  readonly code: string;
  readonly claimed: string;
}

const FENCE = /^```(\w+)\n([\s\S]*?)^```$/gm;

/** The ts blocks of a page, each with the text block directly after it, if there is one. */
export function blocksOf(text: string): Block[] {
  const fences = [...text.matchAll(FENCE)].map((m) => ({
    language: m[1],
    body: m[2],
    start: m.index,
    end: m.index + m[0].length,
  }));
  return fences.flatMap(({ language, body, end }, i) => {
    if (language !== 'ts') return [];
    const next = fences.at(i + 1);
    const follows = next?.language === 'text' && text.slice(end, next.start).trim() === '';
    return [{ code: body, claimed: follows ? next.body.trimEnd() : '' }];
  });
}

const MARK = '\u0001';

/** Runs blocks as one program; what each prints, without spaces at the ends of lines. */
export function printedBy(blocks: readonly Block[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'ecif-docs-'));
  const file = join(folder, 'program.mts');
  const library = pathToFileURL(join(root, 'src/index.ts')).href;
  const program = blocks.map(({ code }) => `${code}\nconsole.log('${MARK}');\n`).join('');
  writeFileSync(file, program.replace("from 'ecif'", `from '${library}'`));
  try {
    const out = execFileSync(process.execPath, ['--import', 'tsx', file], { cwd: root, encoding: 'utf8' });
    return out
      .split(`${MARK}\n`)
      .slice(0, -1)
      .map((text) => text.replace(/ +$/gm, '').trimEnd());
  } finally {
    rmSync(folder, { recursive: true });
  }
}
