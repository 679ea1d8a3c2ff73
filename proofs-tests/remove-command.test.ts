// ecif remove on a trained run: the ladder’s edits, against retraining; undone to the byte; whole or not there at all.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { distance } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { withDefaults } from '../src/cli/args.ts';
import { openEmbedder } from '../src/cli/evaluate/run.ts';
import { adapterFolder, readEdits, putInForce, undoEdit } from '../src/cli/remove/edits.ts';
import { REMOVE_OPTIONS, type RemoveSettings } from '../src/cli/remove/options.ts';
import { runRemoval, type WrittenEdit } from '../src/cli/remove/run.ts';
import { selectRows } from '../src/cli/remove/select.ts';
import { type OpenedRun, openTrained } from '../src/cli/runs/opened-run.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { RUNGS } from '../src/ecif/rungs.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { runCli } from './support/cli.ts';
import { killWhen, readTheta } from './support/runs.ts';
import { bytesOf, quiet, trainHere, writeBase } from './support/shapes.ts';

const home = join(tmpdir(), `ecif-remove-${process.pid}`);
const [run, device] = [join(home, 'run'), new CpuDevice()];
const lora = { rank: 1, alpha: 2, targets: 'v_proj', 'text-layers': 'last:1', 'vision-layers': 'last:1' };
const loop = { batch: 6, l2: 40, 'to-stationarity': 1e-9, seed: 4 };
const REMOVED = ['red-square', 'blue-circle'];
let [data, model] = ['', ''];
let opened: OpenedRun;
let flat: Flat<Adapter>;
let trained: Float64Array;

const settings = (given: Partial<RemoveSettings>): RemoveSettings =>
  withDefaults(
    { tolerance: 1e-11, 'edit-tolerance': 1e-11, preconditioner: 'none', 'dry-run': true, ...given },
    REMOVE_OPTIONS,
  ) as unknown as RemoveSettings;
const remove = (given: Partial<RemoveSettings>, from = run): Promise<WrittenEdit> =>
  runRemoval(from, settings(given), device, quiet);
const thetaIn = async (dir: string): Promise<Float64Array> =>
  flat.toVector(await readTheta(join(dir, 'theta.safetensors'), 'theta', device));
const rowsOf = (ids: readonly string[]): number[] => ids.map((id) => opened.dataset.rows.findIndex((r) => r.id === id));
const path = (name: string): string => join(home, name);

/** Where training without some pairs settles. */
async function retrained(ids: readonly string[]): Promise<Float64Array> {
  const without = ecif.withoutRows(opened.loss, rowsOf(ids));
  const { theta, converged } = await ecif.settle(without, opened.theta, { tolerance: 1e-9 });
  expect(converged).toBe(true);
  return flat.toVector(theta);
}

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  ({ data, model } = await writeBase(home));
  await trainHere({ data, model, out: run, ...lora, ...loop, epochs: 2 });
  opened = await openTrained(run, device, { partitions: 0, seed: 0, 'cache-mb': 64 }, quiet);
  flat = new Flat(opened.theta);
  trained = await flat.toVector(opened.theta);
});
afterAll(() => {
  opened.close();
  rmSync(home, { recursive: true, force: true });
});

describe('an edit', () => {
  it('is another one where it is solved further, and says how far', async () => {
    const ids = REMOVED.join(',');
    const by = (given: Partial<RemoveSettings>): Promise<WrittenEdit> =>
      remove({ ids, rung: 'newton', 'edit-tolerance': undefined, ...given });
    const [loose, tight] = [await by({}), await by({ 'edit-tolerance': 1e-8 })];
    expect([loose.record.tolerance, tight.record.tolerance]).toEqual([0.3, 1e-8]);
    expect(loose.dir).not.toBe(tight.dir);
    const truth = await retrained(REMOVED);
    const [a, b] = [distance(await thetaIn(loose.dir), truth), distance(await thetaIn(tight.dir), truth)];
    expect(b).toBeLessThan(a);
    expect((await by({ 'edit-tolerance': 0.3 })).dir).toBe(loose.dir);
    // What only the predicted change is solved to does not matter where none is predicted.
    expect((await by({ tolerance: 1e-4 })).dir).toBe(loose.dir);
    const krylov = await by({ rung: 'krylov' });
    expect(krylov.record.tolerance).toBe(0.01);
  });

  it('is that of the ladder with all batches at hand, for every rung', async () => {
    const { loss, theta } = opened;
    const batches = await Promise.all(
      loss.partitions.map((each) => Promise.all(each.map((members) => loss.batch(members)))),
    );
    const base = { model: loss.model, decay: loss.l2, centre: loss.centre as Adapter };
    const problem = ecif.overPartitions(base, batches);
    const rows = rowsOf(REMOVED);
    const seg = loss.partitions.flat().flatMap((members, batch) => {
      const positions = [...members.keys()].filter((i) => rows.includes(members[i]));
      return positions.length === 0 ? [] : [{ batch, positions }];
    });
    const whole = { denseUpTo: 1000 };
    const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta, whole);
    const removal = ecif.removalOf(problem, theta, seg, h, whole);
    const byHand: Record<string, () => Promise<Adapter>> = {
      corrected: () => ecif.removeLinear(removal, 'corrected'),
      exact: () => ecif.removeLinear(removal, 'exact'),
      rescaled: async () => (await ecif.removeRescaled(removal)).theta,
      krylov: () => ecif.removeKrylov(removal, 3),
      newton: () => ecif.removeByNewton(removal),
      'newton-k': () => ecif.removeByNewton(removal, 3),
    };
    const found = new Set<string>();
    for (const [rung, edit] of Object.entries(byHand)) {
      const { dir, record } = await remove({ ids: REMOVED.join(','), rung: rung as RemoveSettings['rung'], steps: 3 });
      const [here, there] = [await thetaIn(dir), await flat.toVector(await edit())];
      const size = distance(there, trained);
      expect(size).toBeGreaterThan(1e-3);
      expect(distance(here, there), rung).toBeLessThan(1e-7 * size);
      expect(Math.abs(record.moved - size)).toBeLessThan(1e-7 * size);
      expect(record).toMatchObject({ rung, curvature: 'hessian', measures: null, retrained: null });
      found.add(size.toPrecision(6));
    }
    // Every rung is an edit of its own.
    expect(found.size).toBe(6);
  });

  it('comes nearer to retraining by every rung than nothing does, or without other pairs; k Newton steps get there', async () => {
    const goal = await retrained(REMOVED);
    const far = distance(trained, goal);
    for (const rung of RUNGS) {
      const curvature = rung === 'woodbury' ? 'gauss-newton' : 'hessian';
      const { dir, record } = await remove({
        ...{ ids: REMOVED.join(','), rung, steps: rung === 'newton-k' ? 6 : 2, curvature },
      });
      const error = distance(await thetaIn(dir), goal) / far;
      expect(error, rung).toBeLessThan(rung === 'newton-k' ? 1e-7 : 0.5);
      expect(record.gradient.after).toBeLessThan(record.gradient.before);
      if (rung === 'newton-k') expect(record.gradient.after).toBeLessThan(1e-6);
    }
    const { dir } = await remove({ ids: 'green-circle,yellow-triangle', rung: 'newton-k', steps: 6 });
    expect(distance(await thetaIn(dir), goal) / far).toBeGreaterThan(0.5);
  });

  it('of one pair is predicted to first order: within two fifths of what retraining does, and not by another pair', async () => {
    const changes = [];
    for (const id of ['red-square', 'blue-circle']) {
      const { record } = await remove({ ids: id, rung: 'newton-k', steps: 6, validation: data });
      const { before, predictedLoss, edited } = record.measures as NonNullable<typeof record.measures>;
      changes.push({ predicted: predictedLoss - before.loss, actual: edited.loss - before.loss });
      expect(before.accuracy).not.toBeNull();
    }
    const [one, other] = changes;
    for (const { predicted, actual } of changes) {
      expect(Math.abs(predicted - actual)).toBeLessThan(0.4 * Math.abs(actual));
    }
    expect(Math.abs(other.predicted - one.actual)).toBeGreaterThan(0.4 * Math.abs(one.actual));
  });

  it('writes what train writes, and says which batches keep one pair', async () => {
    const rest = opened.loss.partitions[0][0].subarray(1);
    const ids = Array.from(rest, (row) => opened.dataset.rows[row].id);
    const { dir, record } = await remove({ ids: ids.join(','), out: path('lone') });
    expect(dir).toBe(path('lone'));
    expect(record.notes[0]).toBe('1 batch keeps one pair, whose loss is 0');
    expect(readdirSync(dir).sort()).toEqual([
      ...['adapter_config.json', 'adapter_model.safetensors', 'removal.json', 'theta.safetensors', 'without.json'],
    ]);
    expect(bytesOf(dir, 'adapter_config.json')).toEqual(bytesOf(run, 'adapter_config.json'));
    expect(JSON.parse(readFileSync(join(dir, 'removal.json'), 'utf8'))).toEqual(JSON.parse(JSON.stringify(record)));
    expect(record.removed.map(({ id }) => id).sort()).toEqual(ids.toSorted());
    // The adapter is in float32.
    const { theta } = await openEmbedder(model, dir, device);
    const edited = await thetaIn(dir);
    expect(distance(await flat.toVector(theta), edited)).toBeLessThan(1e-6 * Math.hypot(...edited));
  });
});

describe('the edit in force', () => {
  const applied = (given: Partial<RemoveSettings>): Promise<WrittenEdit> => remove({ 'dry-run': false, ...given });
  const adapter = (): Buffer => bytesOf(adapterFolder(run), 'adapter_model.safetensors');

  it('holds the pairs of those before it, and is taken back to the byte', async () => {
    const own = ['adapter_model.safetensors', 'theta.safetensors', 'run.json'].map((file) => bytesOf(run, file));
    const bytes = [adapter()];
    expect(adapterFolder(run)).toBe(run);
    const first = await applied({ ids: 'red-square' });
    bytes.push(adapter());
    const second = await applied({ ids: 'blue-circle', rung: 'exact' });
    bytes.push(adapter());
    expect(second.record.removed.map(({ id }) => id).sort()).toEqual(REMOVED.toSorted());
    expect(new Set(bytes.map((x) => x.toString('hex'))).size).toBe(3);
    // Both at once from θ̂ is the same edit as one after the other.
    rmSync(path('both'), { recursive: true, force: true });
    const both = await remove({ ids: REMOVED.join(','), rung: 'exact', out: path('both') });
    expect(bytesOf(both.dir, 'theta.safetensors')).toEqual(bytesOf(second.dir, 'theta.safetensors'));
    expect(() => undoEdit(run, first.dir)).toThrow('later edits hold the pairs of');
    expect(() => undoEdit(run, 'nothing')).toThrow('nothing is not in force; undo removals/exact-');
    expect(undoEdit(run, second.dir).now).toMatch(/^removals\/rescaled-/);
    expect(adapter()).toEqual(bytes[1]);
    expect(readEdits(run).undone).toEqual([undoEditName(second.dir)]);
    expect(existsSync(join(second.dir, 'removal.json'))).toBe(true);
    expect(undoEdit(run, 'last').now).toBeNull();
    expect(adapter()).toEqual(bytes[0]);
    expect(() => undoEdit(run, 'last')).toThrow('no edit is in force');
    expect(['adapter_model.safetensors', 'theta.safetensors', 'run.json'].map((file) => bytesOf(run, file))).toEqual(
      own,
    );
  });

  it('is put in force again without being made again', async () => {
    const { dir, record } = await applied({ ids: 'red-square' });
    expect(readEdits(run)).toEqual({
      applied: [undoEditName(dir)],
      undone: [expect.stringMatching(/^removals\/exact-/)],
    });
    const again = await applied({ ids: 'red-square' });
    expect(again).toEqual({ dir, record, inForce: true });
    expect(readEdits(run).applied).toHaveLength(1);
    const { code, stdout } = await runCli(['remove', run, '--undo', undoEditName(dir), '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([0, { run, undone: undoEditName(dir), now: null }]);
  });
});

describe('removals at the same time', () => {
  it('of the same pairs are one edit', async () => {
    const ask = { ids: 'red-square', out: path('twice') };
    const [one, other] = await Promise.all([remove(ask), remove(ask)]);
    expect(one.record.signature).toBe(other.record.signature);
    expect(readdirSync(home).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('of other pairs are not both in force: neither loses the pairs of the other', async () => {
    const other = await remove({ ids: 'blue-circle', rung: 'corrected' });
    const meanwhile = {
      ...quiet,
      status: (text: string) => {
        if (text.startsWith('corrected: removing')) putInForce(run, other.dir, null);
      },
    };
    const asked = settings({ ids: 'red-square', 'dry-run': false, rung: 'corrected' });
    await expect(runRemoval(run, asked, device, meanwhile)).rejects.toThrow(
      /removals\/corrected-\w+ came into force .*; run the command again$/,
    );
    expect(readEdits(run).applied).toHaveLength(1);
    undoEdit(run, 'last');
    expect(existsSync(join(run, 'current.json.lock'))).toBe(false);
  });
});

describe('an edit that is worse than none', () => {
  it('is written, and not put in force but by force', async () => {
    const asked = { ids: 'red-square', out: path('worse') };
    const { dir, record } = await remove(asked);
    const { before } = record.gradient;
    writeFileSync(join(dir, 'removal.json'), JSON.stringify({ ...record, gradient: { before, after: 2 * before } }));
    expect((await remove({ ...asked, 'dry-run': false })).inForce).toBe(false);
    expect(readEdits(run).applied).toEqual([]);
    await expect(remove({ ...asked, force: true })).rejects.toThrow('--force: nothing is put in force with --dry-run');
    expect((await remove({ ...asked, 'dry-run': false, force: true })).inForce).toBe(true);
    expect(readEdits(run).applied).toEqual([dir]);
    undoEdit(run, 'last');
  });
});

const undoEditName = (dir: string): string => `removals/${dir.split('/').at(-1) ?? ''}`;

describe('verification', () => {
  it('trains again as train does on a list without the pairs, and says how far the edit is from there', async () => {
    const whole = path('whole');
    // One batch an epoch: the batches of fewer pairs are then the same.
    await trainHere({ data, model, out: whole, ...lora, ...loop, epochs: 1, batch: 12 });
    const out = path('verified');
    // A neighbour that is no edit.
    mkdirSync(path('neighbour/retrained'), { recursive: true });
    writeFileSync(path('neighbour/retrained/run.json'), '{}');
    const first = await remove({ ids: REMOVED.join(','), validation: data, out }, whole);
    const bytes = bytesOf(out, 'theta.safetensors');
    const { record } = await remove({ ids: REMOVED.join(','), verify: true, validation: data, out }, whole);
    // The edit that is there is verified as it is.
    expect({ ...record, retrained: null }).toEqual(JSON.parse(JSON.stringify(first.record)));
    expect(bytesOf(out, 'theta.safetensors')).toEqual(bytes);
    const lines = readFileSync(data, 'utf8').split('\n');
    const list = path('fewer.csv');
    writeFileSync(list, lines.filter((line) => !REMOVED.some((id) => line.includes(id))).join('\n'));
    await trainHere({ data: list, model, out: path('fewer'), ...lora, ...loop, epochs: 1, batch: 12 });
    const [edited, there, plain] = [
      await thetaIn(out),
      await thetaIn(join(out, 'retrained')),
      await thetaIn(path('fewer')),
    ];
    const start = await thetaIn(whole);
    const far = distance(start, plain);
    expect(far).toBeGreaterThan(1e-3);
    expect(distance(there, plain)).toBeLessThan(1e-6 * far);
    const { error, gradient, measures, speedup, seconds } = record.retrained as NonNullable<typeof record.retrained>;
    expect(Math.abs(error - distance(edited, plain) / far)).toBeLessThan(1e-5);
    expect(error).toBeLessThan(0.8);
    expect(gradient).toBeLessThan(1e-8);
    expect(measures?.loss).toBeCloseTo(record.measures?.edited.loss ?? NaN, 1);
    expect(speedup).toBeCloseTo(seconds / record.editSeconds, 9);
    // Its adapter, and a run without pairs, are as good as any.
    const again = await openTrained(join(out, 'retrained'), device, { partitions: 0, seed: 0, 'cache-mb': 64 }, quiet);
    expect(again.dataset.rows).toHaveLength(10);
    again.close();
  });

  it('leaves the pairs out of the batches that training meets, and keeps their order', async () => {
    const file = path('ids.txt');
    writeFileSync(file, `${REMOVED.join('\r\n')}\n\n`);
    const steps = { data, model, ...lora, epochs: 2, batch: 6, seed: 4 };
    await trainHere({ ...steps, out: path('without'), without: file });
    const { dataset, loss, close } = await openTrained(
      path('without'),
      device,
      { partitions: 0, seed: 0, 'cache-mb': 64 },
      quiet,
    );
    const removed = new Set(rowsOf(REMOVED));
    const expected = opened.loss.partitions.map((batches) =>
      batches.map((rows) => [...rows].filter((row) => !removed.has(row)).map((row) => opened.dataset.rows[row].id)),
    );
    expect(loss.partitions.map((each) => each.map((rows) => Array.from(rows, (row) => dataset.rows[row].id)))).toEqual(
      expected,
    );
    close();
    writeFileSync(file, 'red-sqare\n');
    await expect(trainHere({ ...steps, out: path('typo'), without: file })).rejects.toThrow(
      '(did you mean "red-square"?)',
    );
  });
});

describe('a removal that cannot be', () => {
  it('is killed without leaving a folder, and runs afterwards', async () => {
    const out = path('killed');
    const words = ['remove', run, '--ids', 'red-square', '--out', out, '--dry-run', '--device', 'cpu'];
    const parts = (): string[] => readdirSync(home).filter((name) => name.startsWith('.killed.'));
    await killWhen(words, home, () => parts().length > 0);
    expect(existsSync(out)).toBe(false);
    expect(readEdits(run).applied).toEqual([]);
    await remove({ ids: 'red-square', out });
    expect(readdirSync(out)).toContain('removal.json');
    expect(parts()).toEqual([]);
  });

  it('is refused in one line with exit code 2, and leaves nothing', async () => {
    const cases: [string[], string][] = [
      [
        ['--ids', 'red-sqare,nope-nope-nope'],
        'no pair "red-sqare" (did you mean "red-square"?), "nope-nope-nope"; give ids',
      ],
      [['--where', 'score << 0'], 'query "score << 0": found "<" at character 8'],
    ];
    const found = await Promise.all(
      cases.map(([words]) => runCli(['remove', run, ...words, '--out', path('refused'), '--device', 'cpu'])),
    );
    found.forEach(({ stdout, stderr, code }, i) => {
      const lines = stderr.trimEnd().split('\n');
      expect([stdout, code]).toEqual(['', 2]);
      expect(lines.at(-1)).toContain(cases[i][1]);
      expect(lines.at(-1)).toMatch(/^ecif: /);
    });
    expect(existsSync(path('refused'))).toBe(false);
  });

  it.each<[string, Partial<RemoveSettings>, string]>([
    ['no words', {}, 'give one of --ids, --ids-file and --where'],
    ['two ways', { ids: 'a', where: 'score < 0' }, 'give one of --ids, --ids-file and --where'],
    ['an empty list', { ids: ' , ' }, 'no pair is chosen'],
    ['idle words', { ids: 'red-square', target: 'x' }, '--target: only of --where'],
    ['a file that is not there', { 'ids-file': '/nowhere/ids' }, '/nowhere/ids: cannot be read'],
    ['no scores', { where: 'score < 0' }, 'give --scores FILE'],
    [
      'a path that cannot be written',
      { ids: 'red-square', out: '/proc/nothing/x' },
      '/proc/nothing/x: cannot be written',
    ],
    ['a folder that is there', { ids: 'red-square', out: tmpdir() }, 'is there already; give another --out'],
    ['validation of one pair', { ids: 'red-square', validation: 'ONE' }, 'one pair; a contrastive loss needs two'],
  ])('%s', async (_, given, message) => {
    const one = path('one.csv');
    writeFileSync(one, readFileSync(data, 'utf8').split('\n').slice(0, 2).join('\n'));
    const validation = given.validation === 'ONE' ? { validation: one } : {};
    await expect(remove({ ...given, ...validation })).rejects.toThrow(message);
  });

  it('takes no pair, all pairs, or all but one of every batch', async () => {
    const ids = opened.dataset.rows.map(({ id }) => id);
    await expect(remove({ ids: ids.join(',') })).rejects.toThrow('all 12 pairs of the run');
    await expect(remove({ ids: ids.slice(1).join(',') })).rejects.toThrow('no batch would keep two pairs');
    await expect(remove({ ids: 'a1,a2,a3,a4,a5,a6,a7' })).rejects.toThrow('"a5" and 2 more; give ids of its 12 pairs');
  });

  it('is of a run that is not done, or is another edit than lies in the folder', async () => {
    const other = path('running');
    mkdirSync(other);
    const record = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as object;
    writeFileSync(join(other, 'run.json'), JSON.stringify({ ...record, status: 'running' }));
    await expect(remove({ ids: 'red-square' }, other)).rejects.toThrow('the run is running; finish it');
    await remove({ ids: 'red-square', out: path('mine') });
    await expect(remove({ ids: 'blue-circle', out: path('mine') })).rejects.toThrow('holds another edit');
  });
});

describe('pairs chosen by scores', () => {
  const choose = async (text: string, given: Partial<RemoveSettings> = {}, lines = SCORES): Promise<string[]> => {
    const scores = path('scores.csv');
    writeFileSync(scores, lines);
    const rows = await selectRows(run, settings({ where: text, scores, ...given }), opened.dataset);
    return rows.map((row) => opened.dataset.rows[row].id);
  };
  const SCORES = 'id,score,target\nred-square,-2,a\nblue-circle,-1,a\nred-square,3,b\nblue-circle,-4,b\n';

  it('are those of one target, of a file of any format', async () => {
    expect(await choose('lowest 1', { target: 'a' })).toEqual(['red-square']);
    expect(await choose('lowest 1', { target: 'b' })).toEqual(['blue-circle']);
    const jsonl = path('scores.jsonl');
    writeFileSync(jsonl, '{"id":"red-square","self":1}\n{"id":"blue-circle","self":2}\n');
    expect(await choose('self > 1', { scores: jsonl })).toEqual(['blue-circle']);
    writeFileSync(join(run, 'detect.csv'), 'id,probability\nred-square,0.9\nblue-circle,0.1\n');
    expect(await choose('probability > 0.5', { scores: undefined })).toEqual(['red-square']);
    rmSync(join(run, 'detect.csv'));
  });

  it('are refused by column, target and row', async () => {
    await expect(choose('score < 0')).rejects.toThrow('2 targets, "a", "b"; give --target NAME');
    await expect(choose('score < 0', { target: 'c' })).rejects.toThrow('no target "c" among "a", "b"');
    await expect(choose('0 < score')).rejects.toThrow('found "0" at character 1');
    await expect(choose('scores < 0', { target: 'a' })).rejects.toThrow(
      `no column "scores" in ${path('scores.csv')}, at character 1; did you mean score?`,
    );
    await expect(choose('score > 5', { target: 'a' })).rejects.toThrow(
      /"score > 5" matches 0 of 2 rows of .*scores\.csv/,
    );
    await expect(choose('id < 5', { target: 'a' })).rejects.toThrow('"id": found "red-square"; give a finite number');
    await expect(choose('score < 0', {}, SCORES.replaceAll(',b', ',a'))).rejects.toThrow('"red-square" is there twice');
    await expect(choose('score < 0', {}, 'id,score\nx,-1\n')).rejects.toThrow('no pair "x"; give ids');
  });
});
