// The command line: help, versions, suggestions, exit codes, and stdout that is one JSON document.
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkOperands, type OptionSpecs, parseWords, type Parsed, withDefaults } from '../src/cli/args.ts';
import { oneLine, safeJson } from '../src/array/messages.ts';
import { editDistance, nearest } from '../src/cli/suggest.ts';
import { runCli } from './support/cli.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

/** Nothing on stdout, one line `ecif: …` on stderr, exit code 2. */
async function expectRefusal(words: readonly string[], message: string): Promise<void> {
  const { stdout, stderr, code } = await runCli(words);
  expect({ stdout, stderr: stderr.trimEnd(), code }).toEqual({ stdout: '', stderr: `ecif: ${message}`, code: 2 });
}

describe('ecif as a process', () => {
  it('prints help with an example, for the program and for each command it lists', async () => {
    const { stdout, stderr, code } = await runCli(['--help']);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    const listed = stdout.split('commands:\n')[1].split('\n\n')[0].split('\n');
    const commands = listed.map((line) => line.trim().split(' ')[0]);
    expect(commands).toEqual(expect.arrayContaining(['demo', 'info']));
    for (const command of commands) {
      const help = await runCli([command, '--help']);
      expect(help.code).toBe(0);
      expect(help.stdout).toMatch(new RegExp(`^ecif ${command}: .+\n\nusage: ecif ${command} `));
      expect(help.stdout).toContain(`\nexample: ecif ${command}`);
    }
  });

  it('prints its version', async () => {
    expect((await runCli(['--version'])).stdout).toBe(`${version}\n`);
  });

  it('refuses what it does not know, with the nearest word, in one line and exit code 2', async () => {
    await Promise.all([
      expectRefusal(['dmeo'], 'unknown command "dmeo"; did you mean demo?'),
      expectRefusal(['demo', '--sed', '3'], 'unknown option --sed; did you mean --seed?'),
    ]);
    await Promise.all([
      expectRefusal(['demo', '--seed', 'many'], '--seed: found "many"; give a whole number ≥ 0 and ≤ 4294967295'),
      expectRefusal([], 'no command; see ecif --help'),
    ]);
  });

  it('shows a stack trace only with --verbose', async () => {
    const { stderr, code } = await runCli(['nonsense', '--verbose']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/\n {4}at /);
  });

  it('info describes the CPU as one JSON document, wherever the global options stand', async () => {
    for (const words of [
      ['info', '--device', 'cpu', '--json'],
      ['--json', '--device=cpu', 'info'],
    ]) {
      const { stdout, code } = await runCli(words);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        device: { kind: 'cpu', precision: 'float64', reason: 'the CPU was asked for' },
        adapter: null,
        versions: { ecif: version, node: process.versions.node },
        platform: { os: process.platform },
      });
    }
  });

  it('info is a short table for people', async () => {
    const { stdout } = await runCli(['info', '--device', 'cpu']);
    expect(stdout).toMatch(/^device {4}cpu \(float64\)\nwhy {7}the CPU was asked for/);
  });

  it('the demo says in one line what to install where its packages are missing', async () => {
    const home = mkdtempSync(join(tmpdir(), 'ecif-alone-'));
    try {
      cpSync(join(root, 'src'), join(home, 'src'), { recursive: true });
      cpSync(join(root, 'package.json'), join(home, 'package.json'));
      const { stdout, stderr, code } = await runCli(['demo', '--device', 'cpu', '--out', join(home, 'demo')], home);
      expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
      expect(stderr.trimEnd().split('\n').at(-1)).toMatch(
        /^ecif: .*@twemoji\/svg is not installed; npm install --save-dev @twemoji\/svg unicode-emoji-json sharp$/,
      );
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});

describe('the option parser', () => {
  const specs = {
    count: { kind: 'number', whole: true, least: 0, default: 3, help: '' },
    rate: { kind: 'number', help: '' },
    out: { kind: 'text', label: 'FILE', help: '' },
    fast: { kind: 'flag', help: '' },
    side: { kind: 'choice', choices: ['left', 'right'], default: 'left', help: '' },
  } as const satisfies OptionSpecs;
  const parse = (...words: string[]): Parsed => {
    const parsed: Parsed = { values: {}, operands: [] };
    parseWords(words, specs, parsed);
    return { values: withDefaults(parsed.values, specs), operands: parsed.operands };
  };

  it('fills defaults and reads both forms of a value', () => {
    expect(parse().values).toEqual({ count: 3, rate: undefined, out: undefined, fast: false, side: 'left' });
    const { values, operands } = parse(
      'a',
      '--count=5',
      '--rate',
      '-0.5',
      '--fast',
      '--side',
      'right',
      '--',
      '--out',
      'b',
    );
    expect(values).toEqual({ count: 5, rate: -0.5, out: undefined, fast: true, side: 'right' });
    expect(operands).toEqual(['a', '--out', 'b']);
  });

  it.each([
    [['--count', '1.5'], /--count: found "1.5"; give a whole number ≥ 0/],
    [['--count='], /found ""/],
    [['--rate', 'Infinity'], /give a number/],
    [['--side', 'up'], /give one of left, right/],
    [['--out'], /--out needs a value; write --out FILE/],
    [['--out', '--fast'], /--out needs a value/],
    [['--fast=1'], /takes no value/],
    [['--toString'], /unknown option --toString/],
    [['--__proto__', 'x'], /unknown option/],
    [['-f'], /options start with --/],
  ])('refuses %j', (words, message) => {
    expect(() => parse(...words)).toThrow(message);
  });

  it('counts operands', () => {
    const files = { label: 'FILE…', help: '', least: 1, most: 2 };
    expect(() => checkOperands('c', [], files)).toThrow('c: FILE… is missing');
    expect(() => checkOperands('c', ['a', 'b', 'x'], files)).toThrow('unexpected "x"');
    expect(() => checkOperands('c', ['a'], undefined)).toThrow('unexpected "a"');
    checkOperands('c', ['a'], files);
  });
});

describe('small parts', () => {
  it.each([
    ['', 'abc', 3],
    ['demo', 'demo', 0],
    ['dmeo', 'demo', 1],
    ['steps', 'step', 1],
    ['info', 'demo', 3],
  ])('edit distance of %j and %j is %i', (a, b, d) => {
    expect(editDistance(a, b)).toBe(d);
    expect(editDistance(b, a)).toBe(d);
  });

  it('suggests nothing where nothing is near', () => {
    expect(nearest('frobnicate', ['demo', 'info'])).toBeNull();
    expect(nearest('zz', ['h0', 'z'])).toBe('z');
    expect(nearest('zz', ['h0', 'ab'])).toBeNull();
    expect(nearest('x', ['y'])).toBeNull();
  });

  it('keeps control characters of data from the terminal', () => {
    expect(oneLine('a\u001b[31mb\n\u009bc')).toBe('a\ufffd[31mb\ufffd\ufffdc');
    const turning = ['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'];
    expect(oneLine(turning.join('x'))).toBe(turning.map(() => '\ufffd').join('x'));
    const value = { name: `\u202e\u009b[31m${turning.join('')}\n`, list: [1, 'é'] };
    const text = safeJson(value, 2);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.split('\n').map(oneLine).join('\n')).toBe(text);
    expect(text).toContain('é');
  });
});
