// docs/your-data.md: its five commands, as they stand, on a folder of pictures with a list of captions.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawPairs, HELD_OUT, readHeldOut } from '../../scripts/small-clip/emoji.ts';
import { runCli } from '../support/cli.ts';
import { page, root } from './blocks.ts';

const home = mkdtempSync(join(tmpdir(), 'ecif-your-data-'));
const MARKER = 'npm run -s ecif -- ';
const lines = page('docs/your-data.md')
  .split('\n')
  .filter((line) => line.startsWith(MARKER) && line.includes(' run'));

/** Words of a line as a shell has them, with the names of the page in place of real ones. */
const wordsOf = (line: string): string[] =>
  (line.slice(MARKER.length).match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => {
    const bare = word.replace(/^["']([\s\S]*)["']$/, '$1');
    if (bare === 'CLIP') return join(root, 'models/small-clip');
    return /^(?:my\/|run(?:\/|$))/.test(bare) ? join(home, bare) : bare;
  });

/** Exchanges the captions of the first rows of a list. */
function exchange(list: string, count: number): void {
  const path = join(home, 'my', list);
  const [head, ...rows] = readFileSync(path, 'utf8').trimEnd().split('\n');
  const parts = rows.map((row) => /^([^,]*),(.*),([^,]*)$/.exec(row)?.slice(1) ?? []);
  const after = parts.map(([image, caption, id], i) => [image, i < count ? parts[(i + 1) % count][1] : caption, id]);
  writeFileSync(path, `${[head, ...after.map((row) => row.join(','))].join('\n')}\n`);
}

beforeAll(async () => {
  const concepts = readHeldOut(join(root, 'models/small-clip/concepts.csv'));
  const some = (count: number, first: number) => concepts.filter((_, i) => i % 47 === first).slice(0, count);
  mkdirSync(join(home, 'my'));
  await drawPairs(join(home, 'my'), 'pairs.csv', some(34, 0), [HELD_OUT]);
  await drawPairs(join(home, 'my'), 'held-out.csv', some(8, 9), [HELD_OUT]);
  exchange('pairs.csv', 4);
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('docs/your-data.md', () => {
  it('has five commands', () => {
    expect(lines.map((line) => wordsOf(line)[0])).toEqual(['train', 'detect', 'trace', 'remove', 'report']);
  });

  it('runs them one after the other', async () => {
    for (const line of lines) {
      const words = wordsOf(line);
      const { code, stderr } = await runCli([...words, '--device', 'cpu']);
      expect(`${words[0]}: exit ${code}${code === 0 ? '' : stderr}`).toBe(`${words[0]}: exit 0`);
    }
    for (const file of ['detect.csv', 'scores.parquet', 'trace.json', 'current.json', 'report.html']) {
      expect(existsSync(join(home, 'run', file)), file).toBe(true);
    }
  }, 240_000);
});
