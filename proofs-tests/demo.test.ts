// The demo on a few emoji: every part of the story is there, its numbers are those of the files, its commands parse.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseWords, type OptionSpecs, type Parsed } from '../src/cli/args.ts';
import { type DemoResult, runDemo } from '../src/cli/demo/run.ts';
import type { DemoSettings } from '../src/cli/demo/settings.ts';
import { demoText } from '../src/cli/demo/text.ts';
import { CURVES_OPTIONS } from '../src/cli/curves/options.ts';
import { DETECT_OPTIONS } from '../src/cli/detect/options.ts';
import { EVALUATE_OPTIONS } from '../src/cli/evaluate/command.ts';
import { REMOVE_OPTIONS } from '../src/cli/remove/options.ts';
import { SCORE_OPTIONS } from '../src/cli/score/options.ts';
import { TRACE_OPTIONS } from '../src/cli/trace/options.ts';
import { TRAIN_OPTIONS } from '../src/cli/train/options.ts';
import { emojiCodes, type EmojiPair, pictureFile, readEmoji } from '../src/data/emoji.node.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import type { DetectRecord, PredictedActual, RemovalRecord, TraceRecord } from '../src/report/records.ts';
import { runCli } from './support/cli.ts';
import { quiet } from './support/shapes.ts';

const home = mkdtempSync(join(tmpdir(), 'ecif-demo-'));
const model = fileURLToPath(new URL('../models/small-clip', import.meta.url));
const settings: DemoSettings = {
  ...{ pairs: 12, held: 12, noise: 0.2, batch: 6, epochs: 1, l2: 96, stationarity: 0.05 },
  tolerance: 0.3,
  curves: { shares: '0.2', ends: 'harmful,random' },
};
const asked = { out: join(home, 'demo'), model, seed: 5, settings, fresh: false };
const lines: string[] = [];
const told = { ...quiet, line: (text: string): void => void lines.push(text) };
const run = join(asked.out, 'run');
let result: DemoResult;

const json = <T>(...path: string[]): T => JSON.parse(readFileSync(join(run, ...path), 'utf8')) as T;

/** Rows of a table of the run by the names of their columns. */
function rowsOf(file: string): Record<string, string>[] {
  const [head, ...rows] = readFileSync(join(run, file), 'utf8').trimEnd().split('\n');
  return rows.map((row) => Object.fromEntries(row.split(',').map((cell, i) => [head.split(',')[i], cell])));
}

beforeAll(async () => {
  result = await runDemo(asked, new CpuDevice(), told);
}, 240_000);

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the story', () => {
  it('says what the files of the run say', () => {
    const detect = json<DetectRecord>('detect.json');
    const swapped = new Set(rowsOf('truth.csv').flatMap((row) => (row.swapped === 'yes' ? [row.id] : [])));
    expect(result.trained).toMatchObject({ pairs: 12, swapped: 2, parameters: 10_752 });
    expect(swapped.size).toBe(2);
    expect(result.detected.scores.map(({ name, auroc }) => [name, auroc])).toEqual(
      detect.truth?.measures.map(({ name, auroc }) => [name, auroc]),
    );
    expect(result.detected.scores.map(({ name }) => name)).toEqual(expect.arrayContaining(['score', 'clipscore']));
    expect(result.detected.flagged).toBe(detect.cutoff.flagged);
    expect(result.traced.query).toEqual(json<TraceRecord>('trace.json').queries[0]);
    for (const { rung, seconds, measures, error } of result.removed.edits) {
      const record = json<RemovalRecord>('removals', rung, 'removal.json');
      expect(record).toMatchObject({ rung, editSeconds: seconds, retrained: { error } });
      expect(record.measures?.edited).toEqual(measures);
      expect(record.removed.filter(({ id }) => swapped.has(id))).toHaveLength(result.removed.swapped);
      expect(record.removed).toHaveLength(result.removed.pairs);
    }
    expect(result.removed.edits.map(({ rung }) => rung)).toEqual(['corrected', 'newton']);
    expect(result.curves.groups.map(({ name, pairs }) => [name, pairs])).toEqual(
      ['harmful', 'random'].map((end) => [`${end} 20%`, 2]),
    );
    expect(result.curves.before).toEqual(result.removed.before);
    const points = json<PredictedActual[]>('predicted.json')[0].points.map(({ actual }) => actual);
    expect(result.curves.groups.map(({ actual }) => actual)).toEqual(points);
    const page = readFileSync(result.report, 'utf8');
    for (const title of ['Predicted against retrained', 'Removing more and more pairs']) expect(page).toContain(title);
  });

  it('trains again once for both edits', () => {
    const again = lines.filter((line) => /^training again .*removals/.test(line));
    expect(again).toHaveLength(1);
    const [first, second] = ['corrected', 'newton'].map(
      (rung) => json<RemovalRecord>('removals', rung, 'removal.json').retrained,
    );
    expect(second?.seconds).toBe(first?.seconds);
    expect(second?.measures).toEqual(first?.measures);
  });

  it('prints commands that parse', () => {
    const specs: Record<string, OptionSpecs> = {
      ...{ evaluate: EVALUATE_OPTIONS, train: TRAIN_OPTIONS, score: SCORE_OPTIONS, detect: DETECT_OPTIONS },
      ...{ trace: TRACE_OPTIONS, remove: REMOVE_OPTIONS, curves: CURVES_OPTIONS, report: {} },
    };
    const printed = demoText(result)
      .split('\n')
      .flatMap((line) => (line.startsWith('$ ecif ') ? [line.slice(7)] : []));
    expect(printed.map((line) => line.split(' ')[0])).toEqual(
      ['evaluate', 'train', 'score', 'detect', 'trace', 'remove', 'remove', 'curves', 'report'], // prettier-ignore
    );
    for (const line of printed) {
      const words =
        line.match(/(?:'[^']*'|\\'|[^\s'])+/g)?.map((word) => word.replace(/'([^']*)'|\\(')/g, '$1$2')) ?? [];
      const parsed: Parsed = { values: {}, operands: [] };
      parseWords(words.slice(1), specs[words[0]], parsed);
      expect(parsed.operands).toHaveLength(1);
      if (words[0] === 'remove') expect(parsed.values.where).toMatch(/^(?:flagged = 'yes'|highest 20% by suspicion)$/);
    }
  });

  it('is shown again without work, and not mistaken for another', async () => {
    lines.length = 0;
    expect(await runDemo(asked, new CpuDevice(), told)).toEqual(result);
    expect(lines.filter((line) => line.startsWith('$ '))).toEqual([`$ ${result.commands.report}`]);
    await expect(runDemo({ ...asked, seed: 6 }, new CpuDevice(), quiet)).rejects.toThrow(
      'holds a demo of 12 pairs on cpu with seed 5; give --fresh to begin anew, or another --out',
    );
  });
});

describe('misuse', () => {
  it('of its folder and its options is told in one line, and nothing is lost', async () => {
    const taken = join(home, 'taken');
    mkdirSync(taken);
    writeFileSync(join(taken, 'diary.txt'), 'mine');
    for (const [words, message] of [
      [['--out', taken, '--fresh', '--device', 'cpu'], 'holds something that is no demo; give another --out'],
      [['--seed', '-1'], '--seed: found "-1"; give a whole number'],
      [['--quik'], 'unknown option --quik; did you mean --quick?'],
    ] as const) {
      const { stdout, stderr, code } = await runCli(['demo', ...words]);
      expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
      expect(stderr.trimEnd().split('\n').at(-1)).toContain(message);
    }
    expect(readFileSync(join(taken, 'diary.txt'), 'utf8')).toBe('mine');
  });
});

describe('data', () => {
  it('names pictures by code points and stays in its folder', () => {
    expect(emojiCodes('☀️')).toEqual(['2600']);
    expect(emojiCodes('👨‍⚕️')).toEqual(['1f468', '200d', '2695', 'fe0f']);
    expect(emojiCodes('../a')).toEqual(['2e', '2e', '2f', '61']);
    expect(pictureFile('/pictures', ['2600'])).toMatch(/2600\.svg$/);
    for (const name of ['../../etc/passwd', '/../x', 'a/b'])
      expect(() => pictureFile('/pictures', [name])).toThrow('no file name');
  });

  it('draws real pictures: a red apple is red, a green one green', async () => {
    const food = await readEmoji({ groups: ['Food & Drink'], side: 8 });
    const ink = (caption: string): number[] => {
      const { pixels } = food.find((pair) => pair.caption === caption) as EmojiPair;
      return [0, 1, 2].map((c) => pixels.reduce((s, v, i) => (i % 3 === c ? s + v : s), 0));
    };
    const [red, green] = [ink('red apple'), ink('green apple')];
    expect(red[0]).toBeLessThan(red[1] / 2);
    expect(green[1]).toBeLessThan(green[0]);
  });
});
