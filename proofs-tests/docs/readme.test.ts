// The README says what the example prints, and its code runs.

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(`${root}README.md`, 'utf8');
const run = (file: string): string =>
  execFileSync(process.execPath, ['--import', 'tsx', file], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** Numbers of a text, rounded so that devices agree. */
const numbers = (text: string): number[] => (text.match(/-?\d+\.\d+/g) ?? []).map((n) => Number(Number(n).toFixed(2)));

describe('README', () => {
  it('opens with what examples/removal.ts prints', () => {
    const top = /```\n\$ npx tsx examples\/removal\.ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    expect(top.split('\n').length).toBeGreaterThan(4);
    expect(top).toBe(run('examples/removal.ts'));
  });

  it('shows only lines of examples/removal.ts as its heart', () => {
    const heart = /Its heart:\n\n```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const example = readFileSync(`${root}examples/removal.ts`, 'utf8');
    const called = [...heart.matchAll(/ecif\.(\w+)/g)].map((m) => m[1]);
    expect(called.length).toBeGreaterThan(6);
    expect(called.filter((name) => !example.includes(`ecif.${name}`))).toEqual([]);
  });

  it('shows what examples/engine.ts prints', () => {
    const top = /```\n\$ npx tsx examples\/engine\.ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const printed = run('examples/engine.ts');
    const lines = (text: string): string[] => text.trim().split('\n');
    expect(numbers(lines(top).slice(0, 3).join('\n'))).toEqual(numbers(lines(printed).slice(0, 3).join('\n')));
    expect(numbers(lines(top)[0])).toHaveLength(1);
  });

  it('shows code that runs', () => {
    const code = /```ts\n(import[\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const file = `${root}readme-example.generated.ts`;
    writeFileSync(file, code.replace("from 'ecif'", "from './src/index.ts'"));
    try {
      const out = run(file);
      expect(out).toMatch(/^\d+\.\d+ Float(32|64)Array\(4\)/);
    } finally {
      rmSync(file);
    }
  });

  it('names only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> };
    const named = [...readme.matchAll(/npm run (?:-s )?([\w:]+)/g)].map((m) => m[1]);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
