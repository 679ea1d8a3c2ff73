// ecif score on a trained run: equal to gradients of each pair, by any shards, and after any number of kills.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dot } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { withDefaults } from '../src/cli/args.ts';
import { openTrained } from '../src/cli/runs/opened-run.ts';
import { SCORE_OPTIONS, type ScoreSettings } from '../src/cli/score/options.ts';
import { runScoring, type ScoreRecord } from '../src/cli/score/run.ts';
import { SCORE_COLUMNS, type ScoreRow, scoreRow } from '../src/data/score-columns.ts';
import { readTable } from '../src/data/score-reader.node.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { denseOf } from '../src/ecif/curvature/index.ts';
import { targetGradients } from '../src/ecif/targets.ts';
import * as ecif from '../src/index.ts';
import { runCli } from './support/cli.ts';
import { quiet, trainHere, writeBase } from './support/shapes.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const home = join(tmpdir(), `ecif-score-${process.pid}`);
const [run, device] = [join(home, 'run'), new CpuDevice()];
let data: string;

const settings = (given: Partial<ScoreSettings>): ScoreSettings =>
  withDefaults({ validation: data, tolerance: 1e-10, ...given }, SCORE_OPTIONS) as unknown as ScoreSettings;
const score = (given: Partial<ScoreSettings>): Promise<ScoreRecord> => runScoring(run, settings(given), device, quiet);
const path = (name: string): string => join(home, name);
const rowsOf = async (name: string): Promise<ScoreRow[]> => {
  const rows: ScoreRow[] = [];
  for await (const cells of readTable(path(name), SCORE_COLUMNS)) rows.push(scoreRow(cells));
  return rows;
};

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const { data: list, model } = await writeBase(home);
  data = list;
  const lora = { rank: 1, alpha: 2, targets: 'v_proj', 'text-layers': 'last:1', 'vision-layers': 'last:1' };
  const loop = { epochs: 2, batch: 6, l2: 3, 'to-stationarity': 1e-9, seed: 4 };
  await trainHere({ data, model, out: run, ...lora, ...loop });
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('scores of a run', () => {
  it('are the mean over partitions of each pair’s gradient along H⁻¹∇L, with their standard error', async () => {
    const record = await score({ out: path('a.csv') });
    expect(record).toMatchObject({
      pairs: 12,
      partitions: 2,
      rows: 12,
      curvature: { method: 'cg', l2: 3, settings: { preconditioner: 'joint' } },
    });
    expect(record.gradientNorm).toBeLessThan(1e-8);
    const rows = await rowsOf('a.csv');
    const { loss, theta, dataset, evaluation, close } = await openTrained(run, device, settings({}), quiet);
    const flat = new Flat(theta);
    const [{ gradient }] = await targetGradients((await evaluation(data, settings({}))).loss, theta, [
      { name: '', rows: null },
    ]);
    const dense = await denseOf(loss, theta, { curvature: record.curvature.curvature });
    const w = await flat.toVector(await dense.solver().solve(gradient));
    const found = new Map<string, number[]>();
    for (const members of loss.partitions.flat()) {
      const problem = { model: loss.model, batches: [await loss.batch(members)], decay: 0 };
      for (const [position, row] of members.entries()) {
        const f = ecif.lossOf(problem, [{ batch: 0, positions: [position] }], 'corrected');
        const { id } = dataset.rows[row];
        const value = dot(await flat.toVector(ecif.grad(f)(theta)), w);
        found.set(id, [...(found.get(id) ?? []), value]);
      }
    }
    close();
    expect(new Set(rows.map(({ id }) => id)).size).toBe(12);
    const size = Math.max(...rows.map((row) => Math.abs(row.score ?? 0)));
    for (const { id, score: value, positive, negative, t2i, i2t, error, flag } of rows) {
      const [one, two] = found.get(id) as [number, number];
      expect(Math.abs((value as number) - (one + two) / 2)).toBeLessThan(1e-7 * size);
      expect((positive as number) + (negative as number)).toBeCloseTo(value as number, 12);
      expect((t2i as number) + (i2t as number)).toBeCloseTo(value as number, 12);
      // The standard error of the mean of two is half their difference.
      expect(Math.abs((error as number) - Math.abs(one - two) / 2)).toBeLessThan(1e-7 * size);
      // Student's t of one degree of freedom at 95 % is 12.706.
      expect(flag !== null).toBe(Math.abs(one + two) / 2 < (12.706 * Math.abs(one - two)) / 2);
    }
  });

  it('are summed up by the pairs at either end', async () => {
    const { ends } = await score({ out: path('ends.csv'), top: 3 });
    const rows = (await rowsOf('ends.csv')).sort((a, b) => (a.score as number) - (b.score as number));
    expect(ends.map(({ target }) => target)).toEqual(['validation']);
    expect(ends[0].harmful.map(({ id }) => id)).toEqual(rows.slice(0, 3).map(({ id }) => id));
    expect(ends[0].valuable.map(({ id }) => id)).toEqual(
      rows
        .toReversed()
        .slice(0, 3)
        .map(({ id }) => id),
    );
    expect(ends[0].harmful[0]).toMatchObject({ score: rows[0].score, caption: rows[0].caption });
  });

  it('have the same bytes from shards in any format, and at any number of them', async () => {
    await score({ out: path('whole.parquet') });
    const parts = ['0/3', '1/3', '2/3'];
    for (const [i, shard] of parts.entries())
      await score({ out: path(`part-${i}.${i === 1 ? 'jsonl' : 'csv'}`), shard });
    const files = ['part-0.csv', 'part-2.csv', 'part-1.jsonl'].map(path);
    const { code, stderr } = await runCli(['merge', path('merged.parquet'), ...files]);
    expect([code, stderr]).toEqual([0, '']);
    expect(readFileSync(path('merged.parquet')).equals(readFileSync(path('whole.parquet')))).toBe(true);
    const [merged, whole] = ['merged', 'whole'].map((name) => {
      const record = JSON.parse(readFileSync(path(`${name}.parquet.json`), 'utf8')) as ScoreRecord;
      const { out: _out, seconds, options, ...rest } = record;
      expect(seconds.sweep).toBeGreaterThan(0);
      return { ...rest, options: { ...options, out: null } };
    });
    expect(merged).toEqual(whole);
  });

  it('take a class or a pair as target, each with its own solve, and add up to those of all', async () => {
    await score({ out: path('classes.csv'), targets: 'classes' });
    const [all, classes] = [await rowsOf('a.csv'), await rowsOf('classes.csv')];
    expect(new Set(classes.map(({ target }) => target))).toEqual(new Set(['square', 'circle', 'triangle']));
    for (const { id, score: value } of all) {
      const mine = classes.filter((row) => row.id === id);
      expect(mine).toHaveLength(3);
      // Each class holds a third of the pairs, so that the mean over classes is the mean over all.
      const mean = mine.reduce((sum, row) => sum + (row.score as number), 0) / 3;
      expect(Math.abs(mean - (value as number))).toBeLessThan(1e-6 * Math.abs(value as number) + 1e-9);
    }
  });

  it.each(['ekfac', 'none'] as const)('do not depend on the preconditioner: %s', async (preconditioner) => {
    const record = await score({ out: path(`${preconditioner}.csv`), preconditioner, tolerance: 1e-10 });
    expect(record.curvature.settings.preconditioner).toBe(preconditioner === 'none' ? null : preconditioner);
    await score({ out: path('joint.csv'), tolerance: 1e-10 });
    const [found, joint] = [await rowsOf(`${preconditioner}.csv`), await rowsOf('joint.csv')];
    for (const [i, row] of found.entries()) {
      const expected = joint[i].score as number;
      expect(Math.abs((row.score as number) - expected)).toBeLessThan(1e-6 * Math.abs(expected) + 1e-9);
    }
  });

  it('depend on the solver, and the record says which it was', async () => {
    const identity = await score({ out: path('identity.csv'), solver: 'identity', damping: 2 });
    expect(identity.curvature).toMatchObject({ method: 'identity', damping: 2 });
    const ekfac = await score({ out: path('ekfac.csv'), solver: 'ekfac' });
    expect(ekfac.curvature).toMatchObject({ method: 'ekfac', curvature: 'gauss-newton' });
    const [exact, one, two] = [await rowsOf('a.csv'), await rowsOf('identity.csv'), await rowsOf('ekfac.csv')];
    const off = (rows: ScoreRow[]): number =>
      Math.hypot(...rows.map((row, i) => (row.score as number) - (exact[i].score as number)));
    expect(off(two)).toBeGreaterThan(0);
    expect(off(one)).toBeGreaterThan(off(two));
  });

  it('hold self and relative scores where probes are asked for', async () => {
    const record = await score({ out: path('probes.jsonl'), probes: 8 });
    // The first is slow without a preconditioner, which all have from then on.
    const statuses = record.solves.map(({ status }) => status);
    expect(statuses).toEqual(['slow', ...Array.from({ length: 9 }, () => 'converged')]);
    const rows = await rowsOf('probes.jsonl');
    expect(rows.every(({ self_error: a, relative_error: b }) => (a as number) > 0 && (b as number) > 0)).toBe(true);
    expect((await rowsOf('a.csv')).every(({ self }) => self === null)).toBe(true);
  });
});

describe('a scoring run that is killed', () => {
  it('goes on where it was, with the bytes of one that was not', async () => {
    const words = ['score', run, '--validation', data, '--tolerance', '1e-10', '--device', 'cpu', '--seed', '9'];
    const out = path('killed.parquet');
    const start = (): Promise<number | null> =>
      new Promise((resolve) => {
        const args = ['--import', 'tsx', join(root, 'src/cli/main.ts'), ...words, '--partitions', '12', '--out', out];
        const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
        let seen = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          seen += text;
          // The first time in the solve, the second time in the sweep.
          if (kills < 2 && seen.includes(kills === 0 ? 'cg 12 ' : 'batch 9 of')) {
            kills++;
            child.kill('SIGKILL');
          }
        });
        child.on('exit', (code) => resolve(code));
      });
    let kills = 0;
    expect(await start()).toBeNull();
    expect(existsSync(out)).toBe(false);
    expect(await start()).toBeNull();
    expect(existsSync(out)).toBe(false);
    expect(await start()).toBe(0);
    expect(kills).toBe(2);
    expect(existsSync(`${out}.partial`)).toBe(false);
    rmSync(join(run, 'solutions'), { recursive: true });
    const again = path('unharmed.parquet');
    await score({ out: again, partitions: 12, seed: 9 });
    expect(readFileSync(again).equals(readFileSync(out))).toBe(true);
  }, 240_000);

  it('is refused by name for what is missing', async () => {
    await expect(score({ validation: undefined })).rejects.toThrow('give --validation DATA');
    await expect(score({ shard: '3/3' })).rejects.toThrow('give i/n');
    await expect(runScoring(home, settings({}), device, quiet)).rejects.toThrow('no run');
    const { code, stderr } = await runCli(['score', path('nowhere'), '--validation', data, '--device', 'cpu']);
    expect(code).toBe(2);
    expect(stderr).toContain('nowhere');
  });
});
