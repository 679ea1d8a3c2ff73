// ecif verify and ecif ladder: one JSON document each, refusals before any work.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { CLAIMS } from '../src/verify/claims/index.ts';
import { GRID, REFERENCE } from '../src/verify/ladder.ts';
import type { VerifyResult } from '../src/verify/result.ts';
import { runCli } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'ecif-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('verify --json: every claim once, in order, with the expected verdict, exit code 0', async () => {
  const { code, stdout } = await runCli(['verify', '--instances', '1', '--json']);
  const { claims, instances, seed, device } = JSON.parse(stdout) as VerifyResult;
  expect(code).toBe(0);
  expect({ instances, seed, device }).toEqual({ instances: 1, seed: 1, device: 'cpu (float64)' });
  expect(claims.map(({ id }) => id)).toEqual(CLAIMS.map(({ id }) => id));
  for (const { id, verdict, expected, agrees, worst, tolerance } of claims) {
    expect({ id, verdict, agrees }).toEqual({ id, verdict: expected, agrees: true });
    // The verdict follows from the numbers beside it; null stands for an error without bound.
    const fits = (x: number | null): boolean => x !== null && x <= tolerance;
    const byNumbers = fits(worst.printed) ? 'holds' : fits(worst.corrected) ? 'holds as corrected' : 'fails as printed';
    expect({ id, byNumbers }).toEqual({ id, byNumbers: verdict });
  }
});

it.each([
  ['in a folder that is not there', join(folder, 'none', 'report.html')],
  ['that is a folder', folder],
])('a report %s is refused with exit code 2 and one line, before any claim is judged', async (_what, path) => {
  const { code, stdout, stderr } = await runCli(['verify', '--instances', '10000', '--report', path]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(`ecif: ${path}: cannot be written`);
});

it('a number of instances below 1 is refused', async () => {
  const { code, stderr } = await runCli(['verify', '--instances', '0']);
  expect(code).toBe(2);
  expect(stderr).toContain('--instances: found "0"; give a whole number ≥ 1 and ≤ 10000');
});

it('ladder --json: medians of every rung and bound beside their reference, and an exit code that follows', async () => {
  const { code, stdout } = await runCli(['ladder', '--seeds', '1', '--json']);
  interface Row {
    readonly name: string;
    readonly median: number;
    readonly reference: number;
    readonly ratio: number;
    readonly within: boolean;
  }
  const { removals, violations, ladder, bounds } = JSON.parse(stdout) as {
    removals: number;
    violations: number;
    ladder: Row[];
    bounds: Row[];
  };
  expect(removals).toBe(GRID.temperatures.length * GRID.decays.length * GRID.removed.length);
  expect(violations).toBe(0);
  expect(ladder.map(({ name, reference }) => [name, reference])).toEqual(Object.entries(REFERENCE.ladder));
  expect(bounds.map(({ name, reference }) => [name, reference])).toEqual(Object.entries(REFERENCE.bounds));
  for (const { median, reference, ratio, within } of [...ladder, ...bounds]) {
    expect(ratio).toBeCloseTo(median / reference, 12);
    expect(within).toBe(ratio >= 0.8 && ratio <= 1.2);
  }
  expect(code).toBe([...ladder, ...bounds].every(({ within }) => within) ? 0 : 1);
});
