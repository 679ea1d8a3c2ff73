// Reference files: every quantity equals, an altered number is named, a bad file is refused in one line.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { compareQuantities } from '../src/ecif/conformance.ts';
import { parseConvex } from '../src/ecif/convex-file.ts';
import { runCli } from './support/cli.ts';

const vector = (i: number): string => fileURLToPath(new URL(`./vectors/convex-${i}.json`, import.meta.url));
const text = readFileSync(vector(1), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'ecif-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The parts of a file that the tests change. */
interface Changeable {
  kind: string;
  temperature: number;
  delta: number;
  text: (number | null)[][];
  image: number[][];
  batches: number[][];
  remove: number[];
  validation: { text: number[][] };
  expected: {
    negativeIF: { corrected: number[] };
    pairScores: { exact: number[] };
    relativeScores: number[];
    taskScore: { actual: number };
  };
}

/** A copy of the first file with one field changed. */
function altered(change: (json: Changeable) => unknown): string {
  const json = JSON.parse(text) as Changeable;
  change(json);
  return JSON.stringify(json);
}

it('every quantity of every file equals its reference, in float64', async () => {
  const { code, stdout } = await runCli(['conformance', ...[1, 2, 3, 4, 5].map(vector), '--device', 'cpu', '--json']);
  expect(code).toBe(0);
  const { passed, failed, files } = JSON.parse(stdout);
  expect({ passed, failed, files: files.length }).toEqual({ passed: 150, failed: 0, files: 5 });
});

it.each([
  ['negativeIF.corrected', (e: Changeable['expected']) => (e.negativeIF.corrected[3] *= 1 + 1e-6)],
  ['pairScores.exact', (e: Changeable['expected']) => (e.pairScores.exact[0] += 1e-6)],
  ['relativeScores', (e: Changeable['expected']) => e.relativeScores.pop()],
  ['taskScore.actual', (e: Changeable['expected']) => (e.taskScore.actual *= -1)],
])('an altered %s is named, and the exit code is 1', async (quantity, change) => {
  const file = join(folder, 'altered.json');
  writeFileSync(
    file,
    altered((json) => change(json.expected)),
  );
  const { code, stdout } = await runCli(['conformance', file, '--device', 'cpu']);
  expect(code).toBe(1);
  const failed = stdout.split('\n').filter((line) => line.includes('FAIL'));
  expect(failed).toHaveLength(1);
  expect(failed[0]).toContain(quantity);
});

describe('a bad file', () => {
  const CASES: [string, string, string][] = [
    ['cut off', text.slice(0, 300), 'f.json: not JSON'],
    ['of another kind', altered((j) => (j.kind = 'clip')), 'f.json: kind: found "clip"; give "convex"'],
    ['with NaN features', altered((j) => (j.text[0][0] = NaN)), 'f.json: text[0][0]: found null; give a finite number'],
    [
      'with unequal counts',
      altered((j) => j.image.pop()),
      'f.json: image: 11 rows for 12 texts; give one image per text',
    ],
    [
      'with a pair in two batches',
      altered((j) => j.batches[1].push(j.batches[0][0])),
      'f.json: batches[1][6]: pair 1 is in two places; give every pair one place',
    ],
    [
      'with a pair in none',
      altered((j) => j.batches[0].shift()),
      'f.json: batches: pair 1 is in no batch; give every pair one place',
    ],
    ['with temperature 0', altered((j) => (j.temperature = 0)), 'f.json: temperature: found 0; give a number > 0'],
    [
      'with a temperature that overflows',
      altered((j) => (j.temperature = 1e-300)),
      'f.json: temperature: found 1e-300; give one in 1e-30…1e+30',
    ],
    [
      'with a feature that overflows',
      altered((j) => (j.text[0][0] = -1e200)),
      'f.json: text[0][0]: found -1e+200; give a number of at most 1e+30, products overflow',
    ],
    [
      'with NaN as Python writes it',
      text.replace(/\[\s*-?\d[^,]*,/, '[NaN,'),
      'f.json: text[0][0]: found "NaN"; give a finite number',
    ],
    ['with delta −1', altered((j) => (j.delta = -1)), 'f.json: delta: found -1; give a number > 0'],
    [
      'with an index out of range',
      altered((j) => (j.remove = [12])),
      'f.json: remove[0]: found 12; give a whole number in 0…11',
    ],
    [
      'with an empty batch',
      altered((j) => j.batches.push([])),
      'f.json: batches[2]: found a list of 0; give a list of at least one pair',
    ],
    [
      'that removes everything',
      altered((j) => (j.remove = [...Array(12).keys()])),
      'f.json: remove: all pairs are removed; keep at least one',
    ],
    [
      'with ragged rows',
      altered((j) => j.text[3].pop()),
      'f.json: text[3]: found a list of 3; give a row of 4 numbers',
    ],
    [
      'with other features for validation',
      altered((j) => j.validation.text.forEach((r) => r.pop())),
      'f.json: validation: features of another length than those of the pairs; give the same lengths',
    ],
  ];
  it.each(CASES)('%s is refused with file, field and what to do', (_what, content, message) => {
    expect(() => parseConvex('f.json', content)).toThrow(message);
  });

  it('exits with 2 and one line', async () => {
    const file = join(folder, 'cut.json');
    writeFileSync(file, text.slice(0, 300));
    const { code, stdout, stderr } = await runCli(['conformance', file, '--device', 'cpu']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const complaints = stderr.split('\n').filter((line) => line.startsWith('ecif:'));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toContain('cut.json: JSON: not JSON');
    expect((await runCli(['conformance', join(folder, 'none.json'), '--device', 'cpu'])).code).toBe(2);
  });
});

it.each([
  ['nothing', {}, 'expected: found nothing'],
  ['null', { loss: null }, 'expected.loss: found null; give numbers'],
  ['a word', { theta: ['x'] }, 'expected.theta: found ["x"]; give numbers'],
])('a reference that holds %s is refused', (_what, expected, message) => {
  expect(() => compareQuantities({}, expected as never, () => 1)).toThrow(message);
});
