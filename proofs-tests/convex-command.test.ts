// ecif convex: what it prints of a problem is what the reference file says, and bad files are refused.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCli } from './support/cli.ts';

const file = fileURLToPath(new URL('./vectors/convex-2.json', import.meta.url));

interface Result {
  evaluationChange: number;
  change: number;
  estimates: { rung: string; parameterError: number; distance: number; certificates: Record<string, number | null> }[];
}

const distance = (a: number[], b: number[]): number => Math.hypot(...a.map((x, i) => x - b[i]));

it('agrees with the reference file on the distance of every edit to retraining', async () => {
  const { expected } = JSON.parse(readFileSync(file, 'utf8')) as {
    expected: { theta: number[]; retrained: number[]; edited: Record<string, number[]>; taskScore: { actual: number } };
  };
  const { code, stdout } = await runCli(['convex', file, '--device', 'cpu', '--json']);
  expect(code).toBe(0);
  const result = JSON.parse(stdout) as Result;
  expect(result.evaluationChange).toBeCloseTo(expected.taskScore.actual, 10);
  expect(result.change).toBeCloseTo(distance(expected.theta, expected.retrained), 10);
  const names = { published: 'published', corrected: 'corrected', 'exact gradient': 'exact', Newton: 'newton' };
  for (const [rung, key] of Object.entries(names)) {
    const found = result.estimates.find((e) => e.rung === rung);
    const wanted = distance(expected.edited[key], expected.retrained);
    expect(Math.abs((found?.distance ?? NaN) / wanted - 1), rung).toBeLessThan(1e-9);
  }
  expect(result.estimates.find((e) => e.rung === 'nothing')?.parameterError).toBeCloseTo(1, 12);
  for (const { distance: d, certificates } of result.estimates) {
    for (const bound of Object.values(certificates)) if (bound !== null) expect(bound).toBeGreaterThanOrEqual(d);
  }
});

it('refuses a problem that removes everything, with exit code 2 and one line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ecif-'));
  const json = JSON.parse(readFileSync(file, 'utf8')) as { remove: number[] };
  json.remove = Array.from({ length: 12 }, (_, i) => i);
  writeFileSync(join(folder, 'all.json'), JSON.stringify(json));
  const { code, stdout, stderr } = await runCli(['convex', join(folder, 'all.json'), '--device', 'cpu']);
  rmSync(folder, { recursive: true });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.trim().split('\n').at(-1)).toMatch(
    /^ecif: .*all\.json: remove: all pairs are removed; keep at least one$/,
  );
});
