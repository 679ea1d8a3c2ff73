// ecif detect on the small CLIP with swapped captions: what it writes, against the model itself and plain counting.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawPairs, HELD_OUT, readHeldOut } from '../scripts/small-clip/emoji.ts';
import { withDefaults } from '../src/cli/args.ts';
import { DETECT_OPTIONS, type DetectSettings } from '../src/cli/detect/options.ts';
import { runDetection } from '../src/cli/detect/run.ts';
import { parseCsv } from '../src/data/csv.ts';
import { SCORE_COLUMNS, scoreRow } from '../src/data/score-columns.ts';
import { readTable } from '../src/data/score-reader.node.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import type { DetectRecord } from '../src/report/records.ts';
import { runCli } from './support/cli.ts';
import { quiet, trainHere } from './support/shapes.ts';

const home = join(tmpdir(), `ecif-detect-${process.pid}`);
const model = fileURLToPath(new URL('../models/small-clip', import.meta.url));
const [run, device] = [join(home, 'run'), new CpuDevice()];
const [COUNT, HELD] = [40, 12];

const settings = (given: Partial<DetectSettings>): DetectSettings =>
  withDefaults({ probes: 6, top: 12, ...given }, DETECT_OPTIONS) as unknown as DetectSettings;
const detect = (given: Partial<DetectSettings> = {}): Promise<DetectRecord> =>
  runDetection(run, settings(given), device, quiet);

/** Rows of a CSV file by the names of its columns. */
function rowsOf(name: string): Record<string, string>[] {
  const [head, ...records] = parseCsv(name, readFileSync(join(run, name), 'utf8'), ',');
  return records.map(({ fields }) => Object.fromEntries(head.fields.map((key, i) => [key, fields[i]])));
}

/** Share of couples of a swapped and another pair in which the swapped one is the more suspicious. */
function byCouples(rows: readonly Record<string, string>[]): number {
  const values = (which: string): number[] =>
    rows.filter(({ swapped }) => swapped === which).map(({ suspicion }) => Number(suspicion));
  const wins = values('yes').flatMap((bad) =>
    values('no').map((good): number => (bad > good ? 1 : bad === good ? 0.5 : 0)),
  );
  return wins.reduce((a, b) => a + b, 0) / wins.length;
}

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const concepts = readHeldOut(join(model, 'concepts.csv'));
  const some = (count: number, first: number) => concepts.filter((_, i) => i % 33 === first).slice(0, count);
  const data = await drawPairs(home, 'pairs.csv', some(COUNT, 0), [HELD_OUT]);
  await drawPairs(home, 'held.csv', some(HELD, 7), [HELD_OUT]);
  const lora = { rank: 1, alpha: 2, targets: 'v_proj', 'text-layers': 'last:1', 'vision-layers': 'last:1' };
  await trainHere({ data, model, out: run, ...lora, batch: 20, epochs: 1, partitions: 1, l2: 20, noise: 0.2, seed: 3 });
}, 120_000);

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('without validation pairs', () => {
  it('ranks swapped pairs high, by its own count and by that of every couple', async () => {
    const record = await detect({ by: 'combined' });
    const rows = rowsOf('detect.csv');
    expect(rows).toHaveLength(COUNT);
    expect(record.truth?.swapped).toBe(COUNT / 5);
    const auroc = record.truth?.measures.find(({ name }) => name === 'combined')?.auroc;
    expect(auroc).toBeCloseTo(byCouples(rows), 12);
    expect(auroc).toBeGreaterThan(0.75);
    const turned = rows.map((row) => ({ ...row, suspicion: String(-Number(row.suspicion)) }));
    expect(byCouples(turned)).toBeLessThan(0.25);
  });

  it('lists the most suspicious first, explained by other pairs', async () => {
    const { suspects, cutoff, batch, histogram } = await detect({ by: 'fit' });
    const rows = rowsOf('detect.csv');
    const values = rows.map(({ suspicion }) => Number(suspicion));
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    expect(rows.filter(({ flagged }) => flagged === 'yes')).toHaveLength(cutoff.flagged);
    expect(suspects.map(({ id }) => id)).toEqual(rows.slice(0, 12).map(({ id }) => id));
    for (const { id, hardest, otherCaption, loss, fit } of suspects) {
      expect(loss).toBeCloseTo(-fit, 9);
      expect(hardest.every((rival) => rival.id !== id)).toBe(true);
      expect(otherCaption.id).not.toBe(id);
    }
    expect(histogram.all.reduce((a, b) => a + b, 0)).toBe(COUNT);
    expect(histogram.swapped?.reduce((a, b) => a + b, 0)).toBe(COUNT / 5);
    expect(batch?.pairs[batch.at].id).toBe(suspects[0].id);
    const row = rows.find(({ id }) => id === suspects[0].id);
    const cosine = batch?.cosines[batch.at * batch.pairs.length + batch.at];
    expect(cosine).toBeCloseTo(Number(row?.clipscore), 9);
  });

  it('ranks by one signal if told', async () => {
    await detect({ by: 'clipscore' });
    const cosines = rowsOf('detect.csv').map(({ clipscore }) => Number(clipscore));
    expect(cosines).toEqual(cosines.toSorted((a, b) => a - b));
  });
});

describe('with validation pairs', () => {
  it('takes the scores of ecif score', async () => {
    const record = await detect({ validation: join(home, 'held.csv'), by: 'score', probes: 0, solver: 'ekfac' });
    const scores = new Map<string, number | null>();
    for await (const cells of readTable(join(run, 'scores.parquet'), SCORE_COLUMNS)) {
      const { id, score } = scoreRow(cells);
      scores.set(id, score);
    }
    const rows = rowsOf('detect.csv');
    for (const { id, score, suspicion } of rows) {
      expect(Number(score)).toBe(scores.get(id));
      expect(Number(suspicion)).toBe(-Number(score));
    }
    expect(record.suspects[0].self).toBeNull();
  });

  it('leaves scores of another question as they are', async () => {
    const scores = join(run, 'scores.parquet');
    const asked = { validation: join(home, 'held.csv'), by: 'score', probes: 0, solver: 'ekfac' } as const;
    const before = readFileSync(scores);
    await detect(asked);
    expect(existsSync(join(run, 'detect-scores.parquet'))).toBe(false);
    await detect({ ...asked, validation: join(home, 'pairs.csv') });
    expect(readFileSync(scores).equals(before)).toBe(true);
    expect(existsSync(join(run, 'detect-scores.parquet'))).toBe(true);
  });
});

describe('a truth of one’s own', () => {
  const truth = join(home, 'truth.csv');
  const write = (line: (row: Record<string, string>) => string): void =>
    writeFileSync(truth, `id,swapped\n${rowsOf('truth.csv').map(line).join('\n')}\n`);

  it('is what is judged by', async () => {
    const before = await detect({ by: 'fit' });
    write(({ id, swapped }) => `${id},${swapped === 'yes' ? 'no' : 'yes'}`);
    const after = await detect({ by: 'fit', truth });
    const auroc = ({ truth: found }: DetectRecord): number => found?.measures[0].auroc ?? NaN;
    expect(auroc(after)).toBeCloseTo(1 - auroc(before), 12);
  });

  it.each([
    ['lacks pairs', (row: Record<string, string>) => `other-${row.id},no`, /no pair/],
    [
      'has other words',
      (row: Record<string, string>) => `${row.id},perhaps`,
      /swapped: found "perhaps"; give yes or no/,
    ],
  ])('is refused where it %s', async (_, line, message) => {
    write(line);
    await expect(detect({ truth })).rejects.toThrow(message);
  });
});

describe('what cannot be', () => {
  it.each([
    [['detect', run, '--by', 'score', '--device', 'cpu'], /no score without --validation DATA/],
    [['detect', run, '--probes', '3', '--device', 'cpu'], /3 are too few/],
    [['detect', join(home, 'nothing'), '--device', 'cpu'], /nothing/],
    [['detect', run, '--truth', join(home, 'none.csv'), '--device', 'cpu'], /none\.csv/],
    [['detect', run, '--bye', 'fit'], /--by/],
  ])('%j ends with exit 2 and one line', async (words, message) => {
    const { code, stderr } = await runCli(words);
    expect(code).toBe(2);
    const errors = stderr.split('\n').filter((line) => line.startsWith('ecif'));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(message);
  });
});
