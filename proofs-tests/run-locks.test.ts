// One process at a time: locks, and training runs that two processes are asked for, or that are cut and go on.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { putInForce, readEdits } from '../src/cli/remove/edits.ts';
import { takeLock } from '../src/cli/runs/lock.ts';
import type { RunRecord } from '../src/cli/runs/run-folder.ts';
import type { RunSeconds } from '../src/cli/train/clock.ts';
import { runTraining } from '../src/cli/train/run.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { runCli } from './support/cli.ts';
import { quiet, settingsOf, temporaryFolder, trainHere, writeShapes, writeTinyConfig } from './support/shapes.ts';

const host = hostname().replace(/[^\w-]/g, '_');
const busy = (holder: string): Error => new Error(`held by ${holder}`);

it('is held by one, and taken over from a killed process of this machine alone', () => {
  const path = join(temporaryFolder(), 'lock');
  const free = takeLock(path, busy);
  expect(() => takeLock(path, busy)).toThrow(`held by ${host} ${process.pid}`);
  free();
  expect(existsSync(path)).toBe(false);
  for (const [holder, taken] of [
    [`${host} 999999999`, true],
    // A process before this one that had its number.
    [`${host} ${process.pid}`, true],
    [`${host} ${process.ppid}`, false],
    ['elsewhere 999999999', false],
    ['', false],
  ] as const) {
    writeFileSync(path, holder);
    if (taken) takeLock(path, busy)();
    else expect(() => takeLock(path, busy, 20)).toThrow('held by');
    expect(existsSync(path)).toBe(!taken);
    rmSync(path, { force: true });
  }
});

it('an edit is put in force only after the one whose pairs it holds', () => {
  const run = temporaryFolder();
  putInForce(run, join(run, 'a'), null);
  expect(() => putInForce(run, join(run, 'b'), null)).toThrow('a came into force while b was made');
  putInForce(run, join(run, 'b'), join(run, 'a'));
  putInForce(run, join(run, 'b'), null);
  expect(readEdits(run).applied).toEqual(['a', 'b']);
});

it('of two trainings into one folder one is refused', async () => {
  const folder = temporaryFolder();
  const [data, config] = [await writeShapes(folder), writeTinyConfig(join(folder, 'start'))];
  const out = join(folder, 'run');
  const words = ['train', data, '--from-scratch', config, '--out', out, '--device', 'cpu', '--epochs', '20'];
  const ended = await Promise.all([runCli(words), runCli([...words, '--seed', '1'])]);
  const [good, refused] = ended.toSorted((a, b) => a.code - b.code);
  expect([good.code, refused.code, refused.stdout]).toEqual([0, 2, '']);
  expect(refused.stderr.trimEnd().split('\n').at(-1)).toMatch(
    /^ecif: .*: (process .* trains in it|holds a run already); /,
  );
  expect(existsSync(join(out, 'train.lock'))).toBe(false);
  const record = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')) as RunRecord;
  expect(record.status).toBe('done');
  writeFileSync(join(out, 'run.json'), JSON.stringify({ ...record, status: 'running' }));
  writeFileSync(join(out, 'train.lock'), `${host} ${process.ppid}`);
  const resumed = await runCli(['train', '--resume', '--out', out, '--device', 'cpu']);
  expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringContaining(`${process.ppid} trains in it`)]);
});

it('counts the time before a cut, as far as its work is kept', async () => {
  const folder = temporaryFolder();
  const [data, config] = [await writeShapes(folder), writeTinyConfig(join(folder, 'start'))];
  const settings = settingsOf({ ...{ data, 'from-scratch': config, batch: 6, epochs: 6, 'checkpoint-every': 4 } });
  const secondsOf = (record: RunRecord): RunSeconds => record.seconds as RunSeconds;
  for (const [name, kept] of [
    ['kept', true],
    ['lost', false],
  ] as const) {
    const out = join(folder, name);
    const cut = {
      ...quiet,
      status: (text: string) => {
        if (text.startsWith('gradient over')) throw new Error('cut');
      },
    };
    await expect(runTraining({ ...settings, out }, new CpuDevice(), cut)).rejects.toThrow('cut');
    const record = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')) as RunRecord;
    expect(secondsOf(record).steps).toBeGreaterThan(0);
    writeFileSync(join(out, 'run.json'), JSON.stringify({ ...record, seconds: { steps: 1000, end: 500 } }));
    if (!kept) rmSync(join(out, 'checkpoint.safetensors'));
    const { steps, end } = secondsOf(await trainHere({ ...settings, out, resume: true }));
    expect([steps >= 1000, end >= 500]).toEqual([kept, kept]);
  }
});

it('notices pictures that changed under their names, and takes older records without their hash', async () => {
  const folder = temporaryFolder();
  const [data, config, out] = [await writeShapes(folder), writeTinyConfig(join(folder, 'start')), join(folder, 'run')];
  const settings = { data, 'from-scratch': config, out, epochs: 1 };
  const record = await trainHere(settings);
  const write = (changed: object): void => writeFileSync(join(out, 'run.json'), JSON.stringify(changed));
  const other = readFileSync(join(folder, 'pictures', 'red-circle.png'));
  writeFileSync(join(folder, 'pictures', 'red-square.png'), other);
  const detect = ['detect', out, '--device', 'cpu'];
  const refused = await runCli(detect);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('other pictures than the run')]);
  write({ ...record, status: 'running' });
  await expect(trainHere({ ...settings, resume: true })).rejects.toThrow('other pictures than the run was trained on');
  const { pictures, ...dataset } = record.dataset;
  expect(pictures).toMatch(/^[0-9a-f]{64}$/);
  write({ ...record, dataset });
  expect((await runCli(detect)).code).toBe(0);
});
