// Questions to a run are told apart by all that the model sees, and averages over partitions by what is averaged.
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { distance, dot, norm } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { withDefaults } from '../src/cli/args.ts';
import { type OpenedRun, openTrained } from '../src/cli/runs/opened-run.ts';
import { requireSolverUse, SCORE_OPTIONS, type ScoreSettings } from '../src/cli/score/options.ts';
import { runScoring, type ScoreRecord } from '../src/cli/score/run.ts';
import { SCORE_COLUMNS, type ScoreRow, scoreRow } from '../src/data/score-columns.ts';
import { readTable } from '../src/data/score-reader.node.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { targetGradients } from '../src/ecif/targets.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { runCli } from './support/cli.ts';
import { quiet, trainHere, writeBase, writeShapes } from './support/shapes.ts';
import type { TrainSettings } from '../src/cli/train/options.ts';

const home = join(tmpdir(), `ecif-questions-${process.pid}`);
const [run, device] = [join(home, 'run'), new CpuDevice()];
let [data, model] = ['', ''];

const path = (name: string): string => join(home, name);
const settings = (given: Partial<ScoreSettings>): ScoreSettings =>
  withDefaults({ validation: data, tolerance: 1e-10, ...given }, SCORE_OPTIONS) as unknown as ScoreSettings;
const score = (given: Partial<ScoreSettings>, from = run): Promise<ScoreRecord> =>
  runScoring(from, settings(given), device, quiet);
const rowsOf = async (name: string): Promise<ScoreRow[]> => {
  const rows: ScoreRow[] = [];
  for await (const cells of readTable(path(name), SCORE_COLUMNS)) rows.push(scoreRow(cells));
  return rows;
};
const scoresOf = async (name: string): Promise<Float64Array> =>
  Float64Array.from((await rowsOf(name)).map((row) => row.score as number));
/** Scores by the id of the pair and the target. */
const byName = async (name: string): Promise<Map<string, number>> =>
  new Map((await rowsOf(name)).map((row) => [`${row.id} ${row.target}`, row.score as number]));

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  ({ data, model } = await writeBase(home));
  const lora = { rank: 1, alpha: 2, targets: 'v_proj', 'text-layers': 'last:1', 'vision-layers': 'last:1' };
  await trainHere({ data, model, out: run, ...lora, epochs: 2, batch: 6, l2: 3, 'to-stationarity': 1e-9, seed: 4 });
  await score({ out: path('plain.csv') });
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Shapes of their own, to be changed. */
async function otherShapes(name: string): Promise<string> {
  mkdirSync(path(name));
  return writeShapes(path(name));
}

describe('what is kept of a question', () => {
  it('is not taken for that of other labels', async () => {
    const list = await otherShapes('labels');
    await score({ validation: list, targets: 'classes', out: path('before.csv') });
    const relabelled = readFileSync(list, 'utf8')
      .split('\n')
      .map((line, i) => line.replace(/(square|circle|triangle)$/, i % 2 === 0 ? 'square' : 'circle'))
      .join('\n');
    writeFileSync(list, relabelled);
    await score({ validation: list, targets: 'classes', out: path('after.csv') });
    rmSync(join(run, 'solutions'), { recursive: true });
    await score({ validation: list, targets: 'classes', out: path('anew.csv') });
    const [before, after, anew] = [await byName('before.csv'), await byName('after.csv'), await byName('anew.csv')];
    expect(after).toEqual(anew);
    expect([...after].some(([name, value]) => Math.abs(value - (before.get(name) ?? value)) > 1e-6)).toBe(true);
  });

  it('is not taken for that of other pictures', async () => {
    const list = await otherShapes('swapped');
    await score({ validation: list, out: path('first.csv') });
    const pictures = join(home, 'swapped', 'pictures');
    const names = readdirSync(pictures).sort();
    names.forEach((name, i) => renameSync(join(pictures, name), join(pictures, `${i}`)));
    names.forEach((name, i) => renameSync(join(pictures, `${(i + 1) % names.length}`), join(pictures, name)));
    await score({ validation: list, out: path('second.csv') });
    rmSync(join(run, 'solutions'), { recursive: true });
    await score({ validation: list, out: path('third.csv') });
    const [first, second, third] = [
      await scoresOf('first.csv'),
      await scoresOf('second.csv'),
      await scoresOf('third.csv'),
    ];
    expect(second).toEqual(third);
    expect(distance(first, second)).toBeGreaterThan(0.1 * norm(first));
  });

  it('is one folder for the same pictures under another path', async () => {
    const list = await otherShapes('copied');
    await score({ validation: data, out: path('here.csv') });
    const solutions = readdirSync(join(run, 'solutions'));
    await score({ validation: list, out: path('there.csv') });
    expect(readdirSync(join(run, 'solutions'))).toEqual(solutions);
  });

  it('is not of another base model, which is refused', async () => {
    const other = path('other-base');
    cpSync(model, other, { recursive: true });
    const weights = join(other, 'model.safetensors');
    const bytes = readFileSync(weights);
    bytes[bytes.length - 2] ^= 1;
    writeFileSync(weights, bytes);
    cpSync(run, path('other-run'), { recursive: true });
    const file = path('other-run/run.json');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(JSON.stringify(model), JSON.stringify(other)));
    await expect(score({}, path('other-run'))).rejects.toThrow('the model is not the one the run was trained on');
  });
});

describe('a run that is moved', () => {
  it('is scored where it lies with its data, or without, and says what is nowhere', async () => {
    const moved = path('moved');
    mkdirSync(moved);
    cpSync(run, join(moved, 'run'), { recursive: true });
    const record = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as { options: { data: string } };
    const write = (options: object, more: object): void =>
      writeFileSync(
        join(moved, 'run', 'run.json'),
        JSON.stringify({ ...record, options: { ...record.options, ...options }, ...more }),
      );
    const out = path('moved.csv');
    // As typed in a folder that is not this one: found from there, and then beside the run.
    write({ data: 'pairs.csv', model: 'base' }, { cwd: home, places: {} });
    await score({ out }, join(moved, 'run'));
    const expected = readFileSync(out);
    for (const name of ['pairs.csv', 'pictures', 'base'])
      cpSync(join(home, name), join(moved, name), { recursive: true });
    write(
      { data: 'pairs.csv', model: 'base' },
      { cwd: '/nowhere', places: { data: '../pairs.csv', model: '../base' } },
    );
    await score({ out }, join(moved, 'run'));
    expect(readFileSync(out).equals(expected)).toBe(true);
    rmSync(join(moved, 'pairs.csv'));
    await expect(score({ out }, join(moved, 'run'))).rejects.toThrow(
      /run: data of the run is not there, looked for at .*pairs\.csv/,
    );
  });
});

describe('random partitions', () => {
  it('are none of training, move neither curvature nor evaluation, and are what scores are averaged over', async () => {
    const plain = JSON.parse(readFileSync(path('plain.csv.json'), 'utf8')) as ScoreRecord;
    // The seed of training: its own partitions would give the scores of training.
    const random = await score({ out: path('random.csv'), partitions: 2, seed: 4 });
    expect(distance(await scoresOf('random.csv'), await scoresOf('plain.csv'))).toBeGreaterThan(0);
    expect(random.gradientNorm).toBe(plain.gradientNorm);
    expect(random.curvature.curvature).toBe(plain.curvature.curvature);
    expect(random.targets[0].loss).toBe(plain.targets[0].loss);
    const opened = await openTrained(run, device, settings({ partitions: 2, seed: 4 }), quiet);
    const { loss, swept, theta, dataset } = opened;
    expect(swept.partitions).not.toEqual(loss.partitions);
    const w = await solvedTarget(opened);
    const flat = new Flat(theta);
    const found = new Map<string, number>();
    for (const members of swept.partitions.flat()) {
      const problem = { model: loss.model, batches: [await loss.batch(members)], decay: 0 };
      for (const [position, row] of members.entries()) {
        const f = ecif.lossOf(problem, [{ batch: 0, positions: [position] }], 'corrected');
        const value = dot(await flat.toVector(ecif.grad(f)(theta)), w) / swept.partitions.length;
        found.set(dataset.rows[row].id, (found.get(dataset.rows[row].id) ?? 0) + value);
      }
    }
    opened.close();
    for (const { id, score: value } of await rowsOf('random.csv'))
      expect(Math.abs((value as number) - (found.get(id) as number))).toBeLessThan(1e-7 * norm(w));
  });
});

/** H⁻¹·∇L of all evaluation pairs by dense algebra. */
async function solvedTarget({ loss, theta, evaluation }: OpenedRun): Promise<Float64Array> {
  const [{ gradient }] = await targetGradients((await evaluation(data, settings({}))).loss, theta, [
    { name: '', rows: null },
  ]);
  const dense = await ecif.denseOf(loss, theta, { curvature: 'hessian' });
  return new Flat<Adapter>(theta).toVector(await dense.solver().solve(gradient));
}

describe('self and relative scores', () => {
  it('are exact where that is asked for, and by probes within a few of their standard errors', async () => {
    await score({ out: path('exact.jsonl'), probes: 'exact', solver: 'dense', curvature: 'hessian' });
    await score({ out: path('probed.jsonl'), probes: 64, solver: 'dense', curvature: 'hessian' });
    const { loss, theta, dataset, close } = await openTrained(run, device, settings({}), quiet);
    const flat = new Flat<Adapter>(theta);
    const h = (await ecif.denseOf(loss, theta, { curvature: 'hessian' })).solver();
    const self = new Map<string, number>();
    for (const members of loss.partitions.flat()) {
      const problem = { model: loss.model, batches: [await loss.batch(members)], decay: 0 };
      for (const [position, row] of members.entries()) {
        const own = ecif.grad((t: Adapter) =>
          ecif.slice(ecif.selfLosses(loss.model, t, problem.batches[0]), [position], [1]),
        );
        const f = ecif.lossOf(problem, [{ batch: 0, positions: [position] }], 'corrected');
        const along = await flat.toVector(await h.solve(ecif.grad((t: Adapter) => ecif.sum(f(t)))(theta)));
        const { id } = dataset.rows[row];
        self.set(id, (self.get(id) ?? 0) + dot(await flat.toVector(own(theta)), along) / loss.partitions.length);
      }
    }
    close();
    const exact = await rowsOf('exact.jsonl');
    const scale = Math.max(...self.values());
    for (const row of exact) {
      expect(Math.abs((row.self as number) - (self.get(row.id) as number))).toBeLessThan(1e-6 * scale);
      expect([row.self_error, row.relative_error]).toEqual([0, 0]);
    }
    const probed = await rowsOf('probed.jsonl');
    const off = (name: 'self' | 'relative', error: 'self_error' | 'relative_error'): number[] =>
      probed.map((row, i) => Math.abs((row[name] as number) - (exact[i][name] as number)) / (row[error] as number));
    for (const each of [off('self', 'self_error'), off('relative', 'relative_error')]) {
      // Errors of one standard deviation: none at all would be as wrong as many.
      expect(Math.max(...each)).toBeLessThan(5);
      expect(Math.hypot(...each) / Math.sqrt(each.length)).toBeGreaterThan(0.2);
    }
  });

  it('of a model with little left of its gradient are said to be so, and options that do nothing are refused', async () => {
    const words = ['score', run, '--validation', data, '--device', 'cpu', '--out', path('said.csv')];
    const said = await runCli([...words, '--tolerance', '1e-10']);
    expect(said.stdout).toMatch(
      /gradient .*e-\d\d? at θ̂, taken for 0; the rest of the way moves the loss by \S+, removing/,
    );
    expect(said.stdout).toMatch(/signs +\d+ not settled by 2 partitions/);
    const early = path('early');
    const { options } = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as { options: Partial<TrainSettings> };
    await trainHere({ ...options, out: early, 'to-stationarity': undefined, epochs: 1 });
    const rough = await runCli(['score', early, ...words.slice(2), '--curvature', 'gauss-newton']);
    expect(rough.stdout).toMatch(/taken for 0, which it is NOT: .*; train with --to-stationarity\n/);
    expect(rough.stdout).toContain('one partition does not tell');
    const refused: [Partial<ScoreSettings>, string, string][] = [
      [{ solver: 'dense' }, 'tolerance', '--tolerance: only of --solver cg, minres, lissa, not of dense'],
      [{ solver: 'ekfac', curvature: 'hessian' }, 'curvature', '--curvature hessian: ekfac knows Gauss-Newton alone'],
      [{}, 'init', '--init: only of --solver logra, not of cg'],
    ];
    for (const [given, name, message] of refused) {
      expect(() => requireSolverUse(settings(given), new Set([name]))).toThrow(message);
    }
    await expect(score({ out: path('x.txt') }, 'nowhere')).rejects.toThrow('x.txt: no known table');
    await expect(score({ out: path('no/x.csv') }, 'nowhere')).rejects.toThrow('cannot be written');
  });

  it('are refused for too few probes, and exact ones for too many parameters, before anything is read', async () => {
    for (const probes of [1, 4]) await expect(score({ probes }, 'nowhere')).rejects.toThrow('too few for a value');
    const { code, stderr } = await runCli(['score', run, '--validation', data, '--probes', 'all', '--device', 'cpu']);
    expect([code, stderr]).toEqual([
      2,
      'ecif: --probes: found "all"; give a whole number ≥ 0 and ≤ 100000, or exact\n',
    ]);
  });
});
