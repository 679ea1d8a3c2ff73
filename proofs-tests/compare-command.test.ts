// ecif compare: a table of all methods over seeds, resumed from its folder; what the table marks as first, and the pairs
// that it swaps.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import { summariseSeeds } from '../src/cli/compare/command.ts';
import { madeBy, swapCaptions, trainedTask } from '../src/cli/compare/task.ts';
import { runComparison, type SeedResult } from '../src/cli/compare/run.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { METHODS } from '../src/index.ts';
import { runCli } from './support/cli.ts';
import { toyLoss } from './support/runs.ts';
import { quiet, temporaryFolder } from './support/shapes.ts';

interface Printed {
  problems: { problem: string; methods: { method: string; lds: { mean: number } }[]; seeds: SeedResult[] }[];
  ok: boolean;
}

const words = ['compare', '--quick', '--problem', 'convex', '--seeds', '2', '--json'];

describe('ecif compare', () => {
  it('judges every method, keeps finished seeds, and goes on after them', { timeout: 120_000 }, async () => {
    const out = temporaryFolder();
    const first = await runCli([...words, '--out', out]);
    const found = JSON.parse(first.stdout) as Printed;
    const [{ methods, seeds }] = found.problems;
    expect(methods.map(({ method }) => method).sort()).toEqual(['permuted', ...METHODS.map(({ name }) => name)].sort());
    expect(seeds.map(({ seed }) => seed)).toEqual([1, 2]);
    const lds = (name: string): number => methods.find(({ method }) => method === name)?.lds.mean ?? NaN;
    expect(lds('ecif')).toBeGreaterThan(0.6);
    expect(Math.abs(lds('permuted'))).toBeLessThan(0.2);
    expect(readdirSync(out).sort()).toEqual(['convex-1.json', 'convex-2.json']);

    // A kept seed is taken as it is: a mark in its file shows in the result.
    const path = join(out, 'convex-2.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"seconds": [\d.]+/, '"seconds": 123'));
    const second = await runCli([...words, '--out', out]);
    expect((JSON.parse(second.stdout) as Printed).problems[0].seeds[1].seconds).toBe(123);
    expect(second.stderr).toContain('seed 1: kept from an earlier run');

    // What was made otherwise, or not of all methods, is refused by what differs.
    const { made, retraining, rows, ...rest } = JSON.parse(readFileSync(path, 'utf8')) as SeedResult;
    expect(retraining).toEqual({ count: retraining.count, unsettled: 0, most: 0 });
    expect(retraining.count).toBeGreaterThan(20);
    const cases: [object, string][] = [
      [{ ...rest, made, retraining, rows, settings: { ...rest.settings, pairs: 21 } }, 'of other settings'],
      [{ ...rest, retraining, rows }, 'of other version'],
      [{ ...rest, made: { ...made, version: '0.0.0' }, retraining, rows }, 'of other version'],
      [{ ...rest, made: { ...made, methods: made.methods.slice(1) }, retraining, rows }, 'of other methods'],
      [
        { ...rest, made: { ...made, training: { ...made.training, epochs: 1 } }, retraining, rows },
        'of other training',
      ],
      [{ ...rest, made, retraining, rows: rows.slice(1) }, 'not the results of all methods'],
    ];
    const device = new CpuDevice();
    const settings = { problems: ['convex'], seeds: [2], size: 'quick', held: undefined, out } as const;
    for (const [content, message] of cases) {
      writeFileSync(path, JSON.stringify(content));
      await expect(runComparison(settings, device, quiet)).rejects.toThrow(`convex-2.json: ${message}`);
    }
  });
});

describe('the table', () => {
  const seed = (number: number, values: Record<string, number>): SeedResult => ({
    ...{ problem: 'convex', seed: number, settings: {}, seconds: 1, retraining: { count: 1, unsettled: 0, most: 0 } },
    made: madeBy({ epochs: 1, rate: 1, tolerance: 1 }),
    rows: Object.entries(values).map(([method, x]) => ({
      ...{ method, lds: x, leaveOneOut: x, auroc: x, auprc: x, seconds: null },
    })),
  });

  it('marks the first and what differs from it by no more than chance, seed by seed', () => {
    // `close` is now above, now below the first; `worse` is always a little below, which pairing tells.
    const lines = summariseSeeds([
      seed(1, { retraining: 1, best: 0.5, close: 0.52, worse: 0.49, random: 0.9 }),
      seed(2, { retraining: 1, best: 0.7, close: 0.66, worse: 0.688, random: 0.9 }),
      seed(3, { retraining: 1, best: 0.9, close: 0.88, worse: 0.889, random: 0.9 }),
    ]);
    expect(lines.map(({ method, lds }) => [method, lds.leading])).toEqual([
      ['retraining', false],
      ['best', true],
      ['close', true],
      ['worse', false],
      ['random', false],
    ]);
    expect(lines[1].lds.mean).toBeCloseTo(0.7, 12);
    // t for two degrees of freedom is 4.303, and the deviation 0.2.
    expect(lines[1].lds.half).toBeCloseTo((4.3027 * 0.2) / Math.sqrt(3), 4);
  });

  it('of one seed has no interval, and those first that are equal', () => {
    const lines = summariseSeeds([seed(1, { best: 0.5, close: 0.49, equal: 0.5 })]);
    expect(lines.map(({ lds }) => [lds.half, lds.leading])).toEqual([
      [null, true],
      [null, false],
      [null, true],
    ]);
  });
});

describe('a training that ends early', () => {
  it('is counted, with the gradient it ended at', async () => {
    const { loss, theta } = await toyLoss('cpu');
    const evaluation = await loss.batch(loss.partitions[0][0]);
    const of = { count: 24, seed: 1 };
    const how = { epochs: 1, rate: 0.01 };
    const reached = await trainedTask(loss, theta, evaluation, of, { ...how, tolerance: 1e-6 });
    expect(reached.retraining()).toEqual({ count: 1, unsettled: 0, most: 0 });
    // Without L2 to speak of there is a minimum far away, which the iterations do not reach.
    const far = await trainedTask({ ...loss, l2: 1e-9 }, theta, evaluation, of, { ...how, tolerance: 1e-11 });
    expect(far.retraining()).toMatchObject({ count: 1, unsettled: 1 });
    expect(far.retraining().most).toBeGreaterThan(1e-11);
  });
});

describe('swapped captions', () => {
  it.each([1, 2, 3])('are those of a fifth of the pairs, none left with its own, seed %i', (number) => {
    const { caption, bad } = swapCaptions(createRng(number), 50);
    expect(bad.filter((b) => b)).toHaveLength(10);
    expect([...caption].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    bad.forEach((b, i) => expect(caption[i] === i).toBe(!b));
  });
});
