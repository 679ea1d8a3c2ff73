// ecif curves on a trained run: sums of scores beside training again, which is done once and goes on after a kill.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDefaults } from '../src/cli/args.ts';
import { CURVES_OPTIONS, type CurvesSettings } from '../src/cli/curves/options.ts';
import { runCurves } from '../src/cli/curves/run.ts';
import { correlationsText, groupsTable } from '../src/cli/curves/text.ts';
import { measureAt } from '../src/cli/evaluate/measures.ts';
import { REMOVE_OPTIONS, type RemoveSettings } from '../src/cli/remove/options.ts';
import { runRemoval } from '../src/cli/remove/run.ts';
import { readFindings } from '../src/cli/report/run.ts';
import { writeReport } from '../src/cli/report/command.ts';
import { openTrained } from '../src/cli/runs/opened-run.ts';
import { SCORE_OPTIONS, type ScoreSettings } from '../src/cli/score/options.ts';
import { runScoring } from '../src/cli/score/run.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import type { CurvesRecord, LeftOutGroup, PredictedActual, RemovalCurve } from '../src/report/records.ts';
import { runCli } from './support/cli.ts';
import { killWhen, readTheta } from './support/runs.ts';
import { bytesOf, quiet, trainHere, writeBase } from './support/shapes.ts';

const home = join(tmpdir(), `ecif-curves-${process.pid}`);
const [run, device] = [join(home, 'run'), new CpuDevice()];
const lora = { rank: 1, alpha: 2, targets: 'v_proj', 'text-layers': 'last:1', 'vision-layers': 'last:1' };
const recipe = { ...lora, epochs: 1, batch: 6, l2: 40, 'to-stationarity': 1e-7, seed: 4 };
const solving = { 'edit-tolerance': 1e-9, preconditioner: 'none' } as const;
const [SMALL, LARGE] = [1, 3];
let [data, model] = ['', ''];
let record: CurvesRecord;
let scores: { readonly id: string; readonly score: number; readonly clipscore: number }[];
const lines: string[] = [];
const told = { ...quiet, line: (text: string): void => void lines.push(text) };
const path = (name: string): string => join(home, name);
const json = <T>(...names: string[]): T => JSON.parse(readFileSync(join(...names), 'utf8')) as T;

const curves = (given: Partial<CurvesSettings> = {}, from = run): Promise<CurvesRecord> =>
  runCurves(
    from,
    withDefaults(
      { validation: data, shares: '0.25,0.1', ...solving, ...given },
      CURVES_OPTIONS,
    ) as unknown as CurvesSettings,
    device,
    told,
  );
const named = (name: string, of = record): LeftOutGroup => of.groups.find((g) => g.name === name) as LeftOutGroup;
const idsOf = (group: LeftOutGroup, from = run): string[] => json(from, group.retrained, '..', 'without.json');
const trainings = (): number => lines.filter((line) => line.startsWith('training again')).length;
/** A copy of the run and its scores without anything that was trained again. */
function copied(name: string): string {
  cpSync(run, path(name), { recursive: true });
  for (const part of ['curves', 'curves.json', 'predicted.json']) {
    rmSync(path(`${name}/${part}`), { recursive: true, force: true });
  }
  return path(name);
}

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  ({ data, model } = await writeBase(home));
  await trainHere({ data, model, out: run, ...recipe });
  const settings = (out: string): ScoreSettings =>
    withDefaults({ validation: data, out, ...solving }, SCORE_OPTIONS) as unknown as ScoreSettings;
  for (const out of [join(run, 'scores.parquet'), path('scores.jsonl')]) {
    await runScoring(run, settings(out), device, quiet);
  }
  scores = readFileSync(path('scores.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as (typeof scores)[number])
    .sort((a, b) => a.score - b.score);
  record = await curves();
}, 60_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('groups', () => {
  it('are the ends of the scores and random pairs, smaller ones within larger ones', () => {
    expect(record.groups.map(({ name, pairs }) => [name, pairs])).toEqual(
      ['harmful', 'valuable', 'random'].flatMap((end) => [
        [`${end} 10%`, SMALL],
        [`${end} 25%`, LARGE],
      ]),
    );
    const ids = scores.map(({ id }) => id);
    for (const pairs of [SMALL, LARGE]) {
      const share = pairs === SMALL ? '10%' : '25%';
      expect(idsOf(named(`harmful ${share}`)).sort()).toEqual(ids.slice(0, pairs).sort());
      expect(idsOf(named(`valuable ${share}`)).sort()).toEqual(ids.slice(-pairs).sort());
    }
    expect(idsOf(named('random 25%'))).toEqual(expect.arrayContaining(idsOf(named('random 10%'))));
  });

  it('are predicted by the sum of their scores', () => {
    const scoreOf = new Map(scores.map(({ id, score }) => [id, score]));
    for (const group of record.groups) {
      const sum = idsOf(group).reduce((total, id) => total + (scoreOf.get(id) as number), 0);
      expect(Math.abs(group.predicted - sum)).toBeLessThan(1e-12);
    }
    expect(named('harmful 25%').predicted).toBeLessThan(named('valuable 25%').predicted);
  });

  it('change the loss as training again by hand does, and as the edit nearly says', async () => {
    const opened = await openTrained(run, device, { partitions: 0, seed: 0, 'cache-mb': 64 }, quiet);
    const evaluation = await opened.evaluation(data, { split: 'auto', format: 'auto' });
    const before = await measureAt(opened, evaluation, opened.theta, quiet);
    expect(record.before).toEqual(before);
    for (const name of ['harmful 25%', 'valuable 10%']) {
      const group = named(name);
      const [without, out] = [path(`${name}.json`), path(`by-hand ${name}`)];
      writeFileSync(without, JSON.stringify(idsOf(group)));
      await trainHere({ data, model, out, ...recipe, without });
      const theta = await readTheta(join(out, 'theta.safetensors'), 'theta', device);
      const after = await measureAt(opened, evaluation, theta, quiet);
      expect(group.measures).toEqual(after);
      expect(group.actual).toBe(after.loss - before.loss);
      expect(bytesOf(join(run, group.retrained), 'theta.safetensors')).toEqual(bytesOf(out, 'theta.safetensors'));
    }
    for (const { actual, edited } of record.groups) {
      expect(Math.abs((edited as number) - actual)).toBeLessThan(0.1 * Math.abs(actual) + 1e-4);
    }
    opened.close();
  });
});

describe('files', () => {
  it('are what the report draws, and the command stands in it', async () => {
    const predicted = json<PredictedActual[]>(run, 'predicted.json');
    expect(predicted.map(({ name }) => name)).toEqual(['sum of scores', 'newton']);
    expect(predicted[0].points).toEqual(
      record.groups.map(({ name, ...group }) => ({ id: name, predicted: group.predicted, actual: group.actual })),
    );
    const drawn = json<RemovalCurve[]>(run, 'curves.json');
    expect(drawn.map(({ name, measure }) => [name, measure])).toEqual(
      ['harmful', 'valuable', 'random'].map((name) => [name, 'accuracy']),
    );
    expect(drawn[1].points).toEqual([
      { share: 0, value: record.before.accuracy, error: null },
      { share: SMALL / 12, value: named('valuable 10%').measures.accuracy, error: null },
      { share: LARGE / 12, value: named('valuable 25%').measures.accuracy, error: null },
    ]);
    const findings = readFindings(run);
    expect([findings.curves, findings.predicted]).toEqual([drawn, predicted]);
    expect(findings.commands.find((line) => line.startsWith('ecif curves'))).toBe(
      `ecif curves ${run} --validation ${data} --shares 0.25,0.1 --edit-tolerance 1e-9 --preconditioner none`,
    );
    await writeReport(run, undefined, quiet);
    const page = readFileSync(join(run, 'report.html'), 'utf8');
    for (const text of ['Predicted against retrained', 'accuracy after removal', 'sum of scores, r']) {
      expect(page).toContain(text);
    }
    expect(json<CurvesRecord>(run, 'curves', 'curves.json')).toEqual(JSON.parse(JSON.stringify(record)));
  });

  it('print as a table, and predictions go with training again', () => {
    const rows = groupsTable(record).split('\n');
    expect(rows).toHaveLength(2 + record.groups.length);
    expect(rows[0]).toMatch(/^left out +pairs +predicted +edited +retrained +loss +R@1 +R@5 +accuracy$/);
    expect(rows[2]).toContain(record.groups[0].predicted.toFixed(4));
    for (const { linear, ranks } of record.correlations) {
      expect(linear).toBeGreaterThan(0.8);
      expect(ranks).toBeGreaterThan(0.5);
    }
    expect(correlationsText({ correlations: [{ name: 'a', linear: 0.987, ranks: null }] })).toMatch(
      /: a 0\.99 and none$/,
    );
  });
});

describe('training again', () => {
  it('is not done where it is there, also by a removal, and for one', async () => {
    lines.length = 0;
    const again = await curves();
    expect(trainings()).toBe(0);
    const timeless = ({ groups }: CurvesRecord) => groups.map(({ editSeconds: _seconds, ...group }) => group);
    expect(timeless(again)).toEqual(timeless(record));
    const ids = idsOf(named('harmful 25%'));
    const removal = { ids: ids.join(','), verify: true, validation: data, 'dry-run': true, ...solving };
    const remove = (from: string) =>
      runRemoval(from, withDefaults(removal, REMOVE_OPTIONS) as unknown as RemoveSettings, device, told);
    const { record: edit } = await remove(run);
    expect(trainings()).toBe(0);
    expect(edit.retrained?.measures).toEqual(named('harmful 25%').measures);
    const other = copied('other');
    rmSync(join(other, 'removals'), { recursive: true });
    const { dir } = await remove(other);
    expect(trainings()).toBe(1);
    const found = await curves({ ends: 'harmful', shares: '0.25', rung: 'none' }, other);
    expect(trainings()).toBe(1);
    expect(found.groups[0]).toMatchObject({ edited: null, editSeconds: null, actual: named('harmful 25%').actual });
    expect(join(other, found.groups[0].retrained)).toBe(join(dir, 'retrained'));
  });

  it('goes on after a kill with what is done, to the same numbers', async () => {
    const other = copied('killed');
    rmSync(join(other, 'removals'), { recursive: true, force: true });
    const words = ['curves', other, '--validation', data, '--shares', '0.1,0.25', '--rung', 'none', '--device', 'cpu'];
    const status = (name: string): string | null => {
      const file = join(other, 'curves', name, 'retrained', 'run.json');
      return existsSync(file) ? json<{ status: string }>(file).status : null;
    };
    const statuses = (): (string | null)[] => readdirSync(join(other, 'curves')).map(status);
    await killWhen(words, join(other, 'curves'), () => statuses().includes('done'));
    const done = statuses().filter((one) => one === 'done').length;
    expect(['curves.json', 'predicted.json'].some((name) => existsSync(join(other, name)))).toBe(false);
    lines.length = 0;
    const found = await curves({ rung: 'none' }, other);
    expect(trainings()).toBe(record.groups.length - done);
    expect(found.groups.map(({ actual }) => actual)).toEqual(record.groups.map(({ actual }) => actual));
  });

  it('is by other scores too, and over several draws, with their standard error', async () => {
    const scored = { by: 'clipscore,suspicion', scores: path('more.csv'), measure: 'loss', rung: 'none' } as const;
    const order = scores.map(({ id, score, clipscore }) => `${id},${score},${clipscore},${score}`);
    writeFileSync(scored.scores, `id,score,clipscore,suspicion\n${order.join('\n')}\n`);
    const found = await curves({ ...scored, draws: 2, shares: '0.1' }, copied('more'));
    expect(found.groups.map(({ name }) => name)).toEqual([
      ...['harmful by clipscore 10%', 'harmful by suspicion 10%', 'valuable by clipscore 10%'],
      ...['valuable by suspicion 10%', 'random 10%, draw 1', 'random 10%, draw 2'],
    ]);
    const lowest = scores.toSorted((a, b) => a.clipscore - b.clipscore)[0].id;
    expect(idsOf(found.groups[0], path('more'))).toEqual([lowest]);
    // A pair of high suspicion is harmful.
    expect(idsOf(found.groups[1], path('more'))).toEqual([scores.at(-1)?.id]);
    const random = json<RemovalCurve[]>(path('more'), 'curves.json').find(({ name }) => name === 'random');
    const [a, b] = found.groups.slice(-2).map(({ measures }) => measures.loss);
    expect(random?.measure).toBe('validation loss');
    expect(random?.points[1].value).toBeCloseTo((a + b) / 2, 12);
    expect(random?.points[1].error).toBeCloseTo(Math.abs(a - b) / 2, 12);
  });
});

describe('misuse', () => {
  it.each<[string, Partial<CurvesSettings>, string]>([
    ['no validation pairs', { validation: undefined }, 'curves: no validation pairs; give --validation DATA'],
    ['a share of all', { shares: '0.1,1' }, '--shares: found "1"; give numbers above 0 and below 1'],
    ['no share', { shares: ' ,' }, '--shares: 0 in " ,"; give 1 to 100, commas between'],
    ['a share of none', { shares: '0.01' }, '--shares: 0.01 of 12 pairs is none; give a larger share'],
    ['shares alike', { shares: '0.1,0.11' }, '--shares: 0.1 and 0.11 of 12 pairs are both 1; give one'],
    ['a share that leaves nothing', { shares: '0.95' }, 'curves: no batch would keep two pairs'],
    ['an unknown end', { ends: 'harmfull' }, '--ends: found "harmfull"; did you mean harmful?'],
    ['an unknown column', { by: 'clipscor' }, '--by: no column "clipscor" in RUN/scores.parquet; did you mean clip'],
    ['a column without numbers', { by: 'self' }, 'RUN/scores.parquet: "self" of pair "red-square" is empty; give a'],
    ['scores that are not there', { scores: '/nowhere/s.csv' }, '/nowhere/s.csv: cannot be read'],
    ['scores of some pairs', { scores: 'FEW' }, 'few.csv: no pair "red-circle" of '],
  ])('%s', async (_, given, message) => {
    const few = path('few.csv');
    writeFileSync(few, 'id,score\nred-square,1\n');
    const scoresFile = given.scores === 'FEW' ? { scores: few } : {};
    await expect(curves({ ...given, ...scoresFile })).rejects.toThrow(message.replace('RUN', run));
  });

  it('is told where scores are about other pairs, and in one line by the command', async () => {
    const list = path('other.csv');
    writeFileSync(list, readFileSync(data, 'utf8').split('\n').slice(0, 8).join('\n'));
    const { notes } = await curves({ validation: list, ends: 'harmful', shares: '0.1', rung: 'none' });
    expect(notes).toEqual([expect.stringContaining('the scores are about other validation pairs: the loss of')]);
    const words = ['curves', run, '--validation', data, '--device', 'cpu'];
    for (const [more, message] of [
      [['--share', '0.1'], 'unknown option --share; did you mean --shares?'],
      [['--shares', 'many'], '--shares: found "many"; give numbers above 0 and below 1'],
    ] as const) {
      const { stdout, stderr, code } = await runCli([...words, ...more]);
      expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
      expect(stderr.trimEnd().split('\n').at(-1)).toBe(`ecif: ${message}`);
    }
  });
});
