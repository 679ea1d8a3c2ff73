// Scoring runs: killed and resumed, cut in shards and merged, the file has the bytes of one undisturbed run.
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import { mergeShards, recordPath } from '../src/data/score-merge.node.ts';
import { journalFolder, openScoreRun } from '../src/data/score-run.node.ts';
import { blocksOf, parseShard } from '../src/data/score-shard.ts';
import { tableFormat } from '../src/data/score-table.ts';
import { openTable } from '../src/data/score-writer.node.ts';
import { runCli } from './support/cli.ts';
import { RUN_COLUMNS, rowsOfBlock } from './support/score-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'ecif-run-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FORMATS = ['csv', 'jsonl', 'parquet'] as const;
const BLOCKS = 12;

/** The file that a run should make, written without journal or shards. */
async function wholeFile(path: string, blocks = BLOCKS): Promise<Buffer> {
  const table = await openTable(path, RUN_COLUMNS);
  for (let block = 0; block < blocks; block++) await table.write(rowsOfBlock(block));
  await table.close();
  return readFileSync(path);
}

/** Runs all of a run, or the part that a shard is. */
async function score(out: string, shard?: string, blocks = BLOCKS, signature = 'test'): Promise<void> {
  const part = shard === undefined ? undefined : parseShard(shard);
  const run = await openScoreRun(out, { columns: RUN_COLUMNS, signature, blocks, shard: part });
  while (run.next < run.range.end) await run.append(rowsOfBlock(run.next));
  await run.finish();
}

/** The files of all shards of a run. */
async function scoreShards(name: string, format: string, count: number): Promise<string[]> {
  const paths = Array.from({ length: count }, (_, i) => join(folder, `${name}-${i}.${format}`));
  for (const [i, path] of paths.entries()) await score(path, `${i}/${count}`);
  return paths;
}

describe('a run that is killed', () => {
  const child = join(folder, 'child.mjs');
  beforeAll(async () => {
    const source = fileURLToPath(new URL('support/score-run-child.ts', import.meta.url));
    await build({ entryPoints: [source], outfile: child, bundle: true, format: 'esm', platform: 'node' });
  });
  const running = new Set<ChildProcess>();
  afterAll(() => running.forEach((process) => process.kill('SIGKILL')));

  /** Runs it, and kills it some time after its `lines`-th line; gives what it said. */
  function attempt(out: string, blocks: number, lines: number, delay: number): Promise<string[]> {
    return new Promise((resolve) => {
      const started = spawn(process.execPath, [child, out, String(blocks)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      running.add(started);
      let said = '';
      started.stdout.setEncoding('utf8').on('data', (text: string) => {
        const before = said.split('\n').length - 1;
        said += text;
        if (before < lines && said.split('\n').length - 1 >= lines) {
          void setTimeout(delay).then(() => started.kill('SIGKILL'));
        }
      });
      started.on('close', () => {
        running.delete(started);
        resolve(said.trim().split('\n'));
      });
    });
  }

  it('goes on where it was, and its file is that of one run', async () => {
    const blocks = 40;
    const out = join(folder, 'killed.parquet');
    const expected = await wholeFile(join(folder, 'undisturbed.parquet'), blocks);
    const random = createRng(1);
    let before = 0;
    for (let time = 0; time < 5; time++) {
      const said = await attempt(out, blocks, 1 + random.int(4), random.int(4));
      const began = Number(said[0].split(' ')[1]);
      expect(began - before).toBeGreaterThanOrEqual(0);
      expect(began - before).toBeLessThanOrEqual(1);
      before = began + said.length - 1;
      expect(existsSync(out)).toBe(false);
    }
    expect(before).toBeGreaterThan(0);
    for (const delay of [0, 4]) {
      await attempt(out, blocks, blocks - before + 1, delay);
      if (existsSync(out)) expect(readFileSync(out).equals(expected)).toBe(true);
    }
    expect((await attempt(out, blocks, Infinity, 0)).at(-1)).toBe('done');
    expect(readFileSync(out).equals(expected)).toBe(true);
    expect(readdirSync(folder).filter((name) => name.startsWith('killed.parquet.'))).toEqual([]);
  });

  it('between its file and the end of its journal writes the same file again', async () => {
    const out = join(folder, 'late.csv');
    const expected = await wholeFile(join(folder, 'late-whole.csv'));
    const run = await openScoreRun(out, { columns: RUN_COLUMNS, signature: 'test', blocks: BLOCKS });
    await expect(run.finish()).rejects.toThrow(`${out}: block 0 of 12 is missing`);
    while (run.next < run.range.end) await run.append(rowsOfBlock(run.next));
    await run.close();
    writeFileSync(out, expected);
    writeFileSync(`${out}.part`, 'half');
    await score(out);
    expect(readFileSync(out).equals(expected)).toBe(true);
    expect(existsSync(journalFolder(out))).toBe(false);
  });
});

describe('shards', () => {
  it('are neighbouring blocks that cover the run once', () => {
    for (const count of [1, 2, 5, 7]) {
      for (const blocks of [0, 1, 6, 12]) {
        const ranges = Array.from({ length: count }, (_, index) => blocksOf({ index, count }, blocks));
        const covered = ranges.flatMap(({ first, end }) => Array.from({ length: end - first }, (_, i) => first + i));
        expect(covered).toEqual(Array.from({ length: blocks }, (_, i) => i));
      }
    }
    for (const text of ['2/2', '1', '-1/2', '0/0', '1/2/3', 'a/b', '0.5/2']) {
      expect(() => parseShard(text)).toThrow(`shard: found "${text}"; give i/n with i from 0 to n - 1, as in 0/4`);
    }
  });

  it.each(FORMATS)('merged as %s give the bytes of one run, in any order and of any format', async (format) => {
    const expected = await wholeFile(join(folder, `single.${format}`));
    await score(join(folder, `run.${format}`));
    expect(readFileSync(join(folder, `run.${format}`)).equals(expected)).toBe(true);
    for (const count of [1, 2, 5, 17]) {
      const from = count === 2 ? FORMATS[(FORMATS.indexOf(tableFormat(`x.${format}`)) + 1) % 3] : format;
      const paths = await scoreShards(`part-${format}-${count}`, from, count);
      const out = join(folder, `merged-${count}.${format}`);
      await mergeShards(out, paths.toReversed());
      expect(readFileSync(out).equals(expected)).toBe(true);
    }
  });

  describe('are refused', () => {
    let paths: string[] = [];
    const out = join(folder, 'refused.csv');
    const refused = async (given: readonly string[], message: string): Promise<void> => {
      await expect(mergeShards(out, given)).rejects.toThrow(message);
      expect(existsSync(out)).toBe(false);
      expect(existsSync(`${out}.part`)).toBe(false);
    };
    beforeAll(async () => {
      paths = await scoreShards('some', 'csv', 3);
    });

    it('where one is missing, there twice, or is the file to write', async () => {
      await refused(paths.slice(0, 2), 'shard 2/3 is missing; give its file too');
      await refused([...paths, paths[1]], `${paths[1]}: shard 1/3, as ${paths[1]}; give each shard once`);
      await expect(mergeShards(paths[0], paths)).rejects.toThrow(`${paths[0]}: is the file of a shard too`);
    });

    it('where they are of different runs', async () => {
      const others: [string, () => Promise<void>][] = [
        ['n', () => score(join(folder, 'n.csv'), '2/4')],
        ['signature', () => score(join(folder, 'signature.csv'), '2/3', BLOCKS, 'another')],
        ['blocks', () => score(join(folder, 'blocks.csv'), '2/3', BLOCKS + 1)],
      ];
      for (const [name, make] of others) {
        await make();
        const path = join(folder, `${name}.csv`);
        await refused([paths[0], paths[1], path], `${path}: of another run than ${paths[0]}`);
      }
    });

    it('where a file was changed, or its record is not there or none', async () => {
      const [path] = await scoreShards('changed', 'csv', 1);
      const record = readFileSync(recordPath(path), 'utf8');
      appendFileSync(path, 'x,,,1\n');
      await refused([path], `${path}: changed since its run, or cut off; run the shard again`);
      for (const text of [
        '',
        '{}',
        '[]',
        'null',
        record.replace('"float64"', '"float65"'),
        record.replace(/"rows": /, '$&-'),
      ]) {
        writeFileSync(recordPath(path), text);
        await refused([path], `${recordPath(path)}: not the record of a shard`);
      }
      rmSync(recordPath(path));
      await refused([path], `${path}: no ${recordPath(path)} beside it`);
    });
  });

  it('are merged on the command line, with JSON or a line', async () => {
    const paths = await scoreShards('cli', 'parquet', 2);
    const out = join(folder, 'cli.parquet');
    const expected = await wholeFile(join(folder, 'cli-whole.parquet'));
    const [json, line, missing] = await Promise.all([
      runCli(['merge', out, ...paths, '--json']),
      runCli(['merge', `${out}.csv`, ...paths]),
      runCli(['merge', join(folder, 'missing.csv'), paths[0]]),
    ]);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({ out, shards: 2, rows: 4062, bytes: expected.length });
    expect(readFileSync(out).equals(expected)).toBe(true);
    expect(line.stdout).toMatch(/^\S+cli\.parquet\.csv: 4062 rows of 2 shards, [\d.]+ KiB\n$/);
    const stderr = `ecif: ${paths[0]}: shard 1/2 is missing; give its file too\n`;
    expect(missing).toEqual({ stdout: '', stderr, code: 2 });
  });
});
