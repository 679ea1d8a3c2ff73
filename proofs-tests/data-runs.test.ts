// Datasets through the commands: a run chooses, spoils and leaves out pairs, says so, and is scored on the very same pairs.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withDefaults } from '../src/cli/args.ts';
import { openPairs } from '../src/cli/runs/data-run.ts';
import { openTrained } from '../src/cli/runs/opened-run.ts';
import { SCORE_OPTIONS, type ScoreSettings } from '../src/cli/score/options.ts';
import { runScoring } from '../src/cli/score/run.ts';
import { requireConsistent, requireOfUse, settingsOfRun } from '../src/cli/train/options.ts';
import { parseCsv } from '../src/data/csv.ts';
import { decodePartitions } from '../src/data/partitions.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { runCli } from './support/cli.ts';
import { cifarBytes } from './support/containers.ts';
import {
  bytesOf,
  quiet,
  settingsOf,
  temporaryFolder,
  trainHere,
  writeBase,
  writeTinyConfig,
} from './support/shapes.ts';

const CLASSES = ['square', 'circle', 'triangle'];
const device = new CpuDevice();
const scoring = (given: Partial<ScoreSettings>): ScoreSettings =>
  withDefaults(given, SCORE_OPTIONS) as unknown as ScoreSettings;

/** CIFAR-10 files of three classes, eight of each to train on and four to test, and a model to train. */
function writeCifar(folder: string): { data: string; config: string; labels: number[] } {
  const data = join(folder, 'cifar');
  mkdirSync(data);
  const labels = Array.from({ length: 24 }, (_, i) => (i * 5) % 3);
  const paint = (i: number, x: number, y: number, c: number): number => 60 * labels[i] + 9 * c + i + x + y;
  const records = (of: readonly number[]): Uint8Array =>
    cifarBytes(
      of.map((label) => [label]),
      paint,
    );
  writeFileSync(join(data, 'data_batch_1.bin'), records(labels));
  writeFileSync(join(data, 'test_batch.bin'), records(labels.slice(0, 12)));
  writeFileSync(join(data, 'batches.meta.txt'), CLASSES.join('\n'));
  return { data, config: writeTinyConfig(join(folder, 'start')), labels };
}

/** The rows of `truth.csv`. */
const truthOf = (run: string): string[][] =>
  parseCsv('truth.csv', readFileSync(join(run, 'truth.csv'), 'utf8'), ',').map(({ fields }) => [...fields]);

describe('a run on CIFAR', () => {
  it('takes its shots, trades captions, keeps classes apart, records all that, and is scored on the test split', async () => {
    const folder = temporaryFolder();
    const { data, config } = writeCifar(folder);
    const out = join(folder, 'run');
    const record = await trainHere({
      ...{ data, 'from-scratch': config, out, epochs: 2, batch: 3, seed: 5, l2: 3, split: 'train' },
      ...{ shots: 6, noise: 1 / 3, templates: 'a photo of a {}|the {}', sampler: 'distinct' },
    });
    expect(record).toMatchObject({ dataset: { pairs: 18, dropped: [] }, noise: { swapped: 6 } });
    const [head, ...truth] = truthOf(out);
    expect(head).toEqual(['id', 'original_caption', 'original_label', 'caption', 'label', 'swapped']);
    expect(truth).toHaveLength(18);
    const swapped = truth.filter(([, before, label, after, now, said]) => {
      expect(said).toBe(label === now ? 'no' : 'yes');
      expect(CLASSES.map((name) => [`a photo of a ${name}`, `the ${name}`]).flat()).toContain(after);
      expect(after.endsWith(now) && before.endsWith(label)).toBe(true);
      return said === 'yes';
    });
    expect(swapped).toHaveLength(6);
    for (const name of CLASSES) expect(truth.filter(([, , label]) => label === name)).toHaveLength(6);

    const { dataset, close } = await openTrained(out, device, scoring({}), quiet);
    close();
    expect(dataset.rows.map(({ id, caption, label }) => [id, caption, label])).toEqual(
      truth.map(([id, , , caption, label]) => [id, caption, label]),
    );
    const { partitions } = decodePartitions('p', bytesOf(out, 'partitions.bin'));
    for (const batch of partitions.flat()) {
      expect(new Set([...batch].map((row) => dataset.rows[row].label)).size).toBe(batch.length);
    }

    const scores = await runScoring(
      out,
      scoring({ validation: data, split: 'test', out: join(folder, 's.csv'), solver: 'identity' }),
      device,
      quiet,
    );
    expect(scores).toMatchObject({ pairs: 18, targets: [{ pairs: 12 }], dropped: [] });
  });

  it('takes labels of a file by their places in the data, also where only some pairs are taken', async () => {
    const folder = temporaryFolder();
    const { data, labels } = writeCifar(folder);
    const given = labels.map((label, i) => (i % 4 === 0 ? (label + 1) % 3 : label));
    const file = join(folder, 'labels.txt');
    writeFileSync(file, given.map((label, i) => (i % 2 === 0 ? label : CLASSES[label])).join('\n'));
    const { dataset, truth } = await openPairs(settingsOf({ data, 'noise-labels': file, limit: 10, seed: 2 }), quiet);
    expect(dataset.rows).toHaveLength(10);
    const places = dataset.rows.map(({ id }) => Number(id.split('#')[1]));
    expect(dataset.rows.map(({ caption, label }) => [caption, label])).toEqual(
      places.map((i) => [`a photo of a ${CLASSES[given[i]]}`, CLASSES[given[i]]]),
    );
    expect(truth?.swapped).toBe(places.filter((i) => i % 4 === 0).length);
    expect(places.some((i) => i % 4 === 0)).toBe(true);
  });

  it('says which class is too large for its batches', async () => {
    const folder = temporaryFolder();
    const { data, config } = writeCifar(folder);
    const out = join(folder, 'run');
    const record = await trainHere({
      ...{ data, 'from-scratch': config, out, epochs: 0, batch: 12, sampler: 'distinct' },
    });
    expect(record.crowd).toBe('sampler: class "square" has 8 pairs for 2 batches, up to 4 meet in one');
  });

  it('refuses options that do not go together', () => {
    const settings = settingsOf({ data: 'x', 'from-scratch': 'y', out: 'z' });
    expect(() => requireConsistent({ ...settings, noise: 0.5, 'noise-labels': 'f' })).toThrow(
      'train: noise twice; give either --noise or --noise-labels',
    );
    expect(() => requireOfUse(settings, new Set(['noise-kind']))).toThrow(
      '--noise-kind: only of --noise; give a share',
    );
  });
});

describe('pictures that are bad', () => {
  it('stop a run by name; with --bad-images skip they are left out, told, and out of scoring and resuming too', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    const names = Array.from({ length: 12 }, (_, i) => `bad-${i}`);
    names.slice(1).forEach((name) => writeFileSync(join(folder, 'pictures', `${name}.png`), 'no picture'));
    appendFileSync(data, names.map((name) => `pictures/${name}.png,a ${name},${name},square\n`).join(''));
    const out = join(folder, 'run');
    const settings = { data, model, epochs: 1, batch: 6, rank: 1 };
    await expect(trainHere({ ...settings, out: join(folder, 'failed') })).rejects.toThrow(
      /pair "bad-0": .*bad-0\.png: cannot be read/,
    );

    const record = await trainHere({ ...settings, out, 'bad-images': 'skip' });
    expect(record.dataset).toMatchObject({ pairs: 12, dropped: names });
    const lines: string[] = [];
    await openPairs(settingsOf({ data, 'bad-images': 'skip' }), { ...quiet, line: (text) => lines.push(text) });
    expect(lines).toHaveLength(11);
    expect(lines[1]).toMatch(/^left out: pair "bad-1": .*bad-1\.png: cannot be decoded, .*; replace the picture$/);
    expect(lines[10]).toBe('left out: 2 more pairs');

    const opened = await openTrained(out, device, scoring({}), quiet);
    expect(opened.dataset.rows.map(({ id }) => id)).not.toContain('bad-1');
    const validation = await opened.evaluation(data, scoring({}));
    opened.close();
    expect(validation.dropped).toEqual(names);

    writeFileSync(join(out, 'run.json'), JSON.stringify({ ...record, status: 'running' }));
    const again = await trainHere({ ...settings, out, 'bad-images': 'skip', resume: true });
    expect(again.dataset).toEqual(record.dataset);

    const words = ['evaluate', data, '--model', model, '--device', 'cpu', '--json', '--bad-images', 'skip'];
    const { stdout, stderr } = await runCli(words);
    expect(JSON.parse(stdout)).toMatchObject({ pictures: 12, dropped: names });
    expect(stderr).toContain('left out: 2 more pairs');
  });
});

describe('a run folder of before these options', () => {
  it('is scored and resumed', async () => {
    const folder = temporaryFolder();
    const config = writeTinyConfig(join(folder, 'start'));
    const classes = join(folder, 'classes');
    for (const name of CLASSES) {
      mkdirSync(join(classes, name), { recursive: true });
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="${2 + name.length}" height="8"/></svg>`;
      for (const i of [0, 1]) writeFileSync(join(classes, name, `${i}.svg`), svg);
    }
    const out = join(folder, 'run');
    const settings = { 'from-scratch': config, out, epochs: 2, batch: 3, templates: 'the {}' };
    const record = await trainHere({ data: classes, ...settings });
    const NEW = ['split', 'format', 'class-names', 'templates', 'limit', 'bad-images', 'shots', 'sampler', 'noise'];
    const old = Object.entries(record.options).filter(([name]) => !NEW.includes(name) && !name.startsWith('noise-'));
    const { dropped: _, ...dataset } = record.dataset;
    const before = { ...record, dataset, options: { ...Object.fromEntries(old), template: 'the {}' } };
    writeFileSync(join(out, 'run.json'), JSON.stringify(before));
    const { dataset: opened, close } = await openTrained(out, device, scoring({}), quiet);
    close();
    expect(opened.rows.map(({ caption }) => caption)).toEqual(
      ['circle', 'circle', 'square', 'square', 'triangle', 'triangle'].map((name) => `the ${name}`),
    );
    writeFileSync(join(out, 'run.json'), JSON.stringify({ ...before, status: 'running' }));
    const again = await trainHere({ ...settingsOfRun(before.options), resume: true });
    expect(again).toMatchObject({ status: 'done', resumedAt: 4, dataset });
  });
});
