// The README says what the examples print, and its code runs.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

  it('shows what examples/score.ts prints, and calls of it as its heart', () => {
    const [, top = '', heart = ''] =
      /```\n\$ npx tsx examples\/score\.ts\n([\s\S]*?)```[\s\S]*?Its heart:\n\n```ts\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(top).toBe(run('examples/score.ts'));
    const example = readFileSync(`${root}examples/score.ts`, 'utf8');
    const called = [...heart.matchAll(/ecif\.(\w+)/g)].map((m) => m[1]);
    expect(called).toHaveLength(4);
    expect(called.filter((name) => !example.includes(`ecif.${name}`))).toEqual([]);
  });

  it('shows what examples/engine.ts prints', () => {
    const top = /```\n\$ npx tsx examples\/engine\.ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const printed = run('examples/engine.ts');
    const lines = (text: string): string[] => text.trim().split('\n');
    expect(numbers(lines(top).slice(0, 3).join('\n'))).toEqual(numbers(lines(printed).slice(0, 3).join('\n')));
    expect(numbers(lines(top)[0])).toHaveLength(1);
  });

  it('shows what examples/embed.ts prints', () => {
    const top = /```\n\$ npx tsx examples\/embed\.ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const printed = run('examples/embed.ts');
    const words = (text: string): string[] => text.split('\n').map((line) => line.replaceAll(/-?\d+\.\d+/g, ''));
    const [shown, found] = [top, printed].map((text) => (text.match(/-?\d+\.\d+/g) ?? []).map(Number));
    expect(words(printed).map((line) => line.trim())).toEqual(words(top).map((line) => line.trim()));
    expect(shown).toHaveLength(10);
    // Devices differ in float32, and numbers are rounded to one place or four.
    found.forEach((x, i) => expect(Math.abs(x - shown[i])).toBeLessThanOrEqual(i % 2 === 0 ? 0.11 : 2e-4));
  });

  /** What the code block after a heading prints, `ecif` being these sources and the adapter going to `adapter`. */
  function runBlock(heading: string, adapter = ''): string {
    const code = new RegExp(`## ${heading}[\\s\\S]*?\`\`\`ts\\n(import[\\s\\S]*?)\`\`\``).exec(readme)?.[1] ?? '';
    const file = `${root}readme-example.generated.ts`;
    const local = code
      .replace("from 'ecif'", "from './src/index.ts'")
      .replace("from 'ecif/node'", "from './src/node.ts'");
    writeFileSync(file, local.replace("'adapter'", JSON.stringify(adapter)));
    try {
      return run(file);
    } finally {
      rmSync(file);
    }
  }

  it('shows code of the engine that runs', () => {
    expect(runBlock('The engine')).toMatch(/^\d+\.\d+ Float(32|64)Array\(4\)/);
  });

  it('shows code of CLIP that runs, adapts and saves', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ecif-readme-'));
    try {
      const printed = runBlock('CLIP', folder);
      const [before, after] = numbers(printed);
      const [shownBefore, shownAfter] = numbers(/\/\/ (loss .* → .*)\n/.exec(readme)?.[1] ?? '');
      expect(before).toBeCloseTo(shownBefore, 1);
      expect(after).toBeCloseTo(shownAfter, 1);
      expect(after).toBeLessThan(before / 2);
      expect(readdirSync(folder).toSorted()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('quotes the recall that the summary of the small CLIP has', () => {
    const summary = JSON.parse(readFileSync(`${root}models/small-clip/summary.json`, 'utf8')) as {
      parameters: number;
      heldOut: { retrieval: Record<'textToImage' | 'imageToText', { r1: number; r5: number; r10: number }> };
    };
    const { textToImage, imageToText } = summary.heldOut.retrieval;
    for (const [label, { r1, r5, r10 }] of Object.entries({
      'caption → image': textToImage,
      'image → caption': imageToText,
    })) {
      const row = new RegExp(`${label} +([\\d.]+)% +([\\d.]+)% +([\\d.]+)%`).exec(readme)?.slice(1);
      expect(row).toEqual([r1, r5, r10].map((x) => (100 * x).toFixed(1)));
    }
    expect(readme).toContain(`${summary.parameters.toLocaleString('en')} parameters`);
  });

  it('names only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> };
    const named = [...readme.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map((m) => m[1]);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
