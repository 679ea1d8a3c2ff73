// The language of chapter 7: random expressions come to what a plain float64 evaluator says; nothing written can do harm.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openDevice } from '../src/index.ts';
import { ExpressionError, LIMITS, parseExpression } from '../web/maths/expression.ts';
import { evaluate, FUNCTION_NAMES } from '../web/maths/expression-ops.ts';
import { scratchFound, variablesOf } from '../web/maths/scratch.ts';
import { EXAMPLES, FUNCTION_WORDS, shapesOf, VARIABLES } from '../web/maths/scratch-words.ts';
import * as ecif from '../src/index.ts';

const ROWS = 4;
const device = await openDevice({ kind: 'cpu' });
const asked = { rows: ROWS, seed: 5, by: 'W', along: 'random', entry: 0, step: 1e-5, view: 'value' } as const;
const run = (text: string) => scratchFound.run(device, { ...asked, text }, () => undefined);

/** A matrix as rows; a number is 1×1. */
type Rows = number[][];

const given = new Map(
  variablesOf(asked).map(({ name, shape, values }) => {
    const columns = shape[1] ?? 1;
    return [
      name,
      Array.from({ length: values.length / columns }, (_, i) => values.slice(i * columns, (i + 1) * columns)),
    ];
  }),
);

const entries = (f: (x: number) => number, a: Rows): Rows => a.map((row) => row.map(f));
const turn = (a: Rows): Rows => a[0].map((_, j) => a.map((row) => row[j]));

/** Entry by entry, a number with every entry. */
function zip(f: (x: number, y: number) => number, a: Rows, b: Rows): Rows {
  const size = a.length * a[0].length > 1 ? a : b;
  const at = (m: Rows, i: number, j: number): number => m[m.length === 1 ? 0 : i][m[0].length === 1 ? 0 : j];
  return size.map((row, i) => row.map((_, j) => f(at(a, i, j), at(b, i, j))));
}

function times(a: Rows, b: Rows): Rows {
  if (a.length * a[0].length === 1 || b.length * b[0].length === 1) return zip((x, y) => x * y, a, b);
  return a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)));
}

const softmaxRow = (row: number[]): number[] => {
  const total = row.reduce((sum, x) => sum + Math.exp(x), 0);
  return row.map((x) => Math.exp(x) / total);
};
const lse = (row: number[]): number => Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0));

/** An expression, with its text, its shape and its value by plain loops. */
interface Made {
  readonly text: string;
  readonly rows: number;
  readonly columns: number;
  readonly value: Rows;
}

const made = (text: string, value: Rows): Made => ({ text, rows: value.length, columns: value[0].length, value });

/** Functions that keep values tame, applied to any matrix. */
const EACH: Readonly<Record<string, (x: number) => number>> = {
  tanh: Math.tanh,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  square: (x) => x * x,
  abs: Math.abs,
  relu: (x) => Math.max(0, x),
  neg: (x) => -x,
};

/** A matrix from choices; `pick` gives whole numbers below a bound. */
function grow(pick: (below: number) => number, depth: number): Made {
  if (depth === 0 || pick(6) === 0) {
    const name = VARIABLES[pick(VARIABLES.length)];
    return made(pick(3) === 0 ? `(${name})` : name, given.get(name)!);
  }
  const a = grow(pick, depth - 1);
  const own = `(${a.text})`;
  const kind = pick(7);
  if (kind === 0) return made(`${own}'`, turn(a.value));
  if (kind === 1) {
    const name = Object.keys(EACH)[pick(Object.keys(EACH).length)];
    return made(`${name}(${a.text})`, entries(EACH[name], a.value));
  }
  if (kind === 2)
    return made(
      `${own} * 0.5`,
      entries((x) => x * 0.5, a.value),
    );
  if (kind === 3 && a.columns * a.rows > 1) return made(`softmax(${a.text})`, a.value.map(softmaxRow));
  if (kind === 4)
    return made(
      `-${own} / 4`,
      entries((x) => -x / 4, a.value),
    );
  const b = grow(pick, depth - 1);
  const other = `(${b.text})`;
  if (kind === 5) return product(a, b, own, other);
  if (a.rows === b.rows && a.columns === b.columns) {
    const [sign, f] = (
      [
        ['+', (x, y) => x + y],
        ['-', (x, y) => x - y],
        ['.', (x, y) => x * y],
      ] as [string, (x: number, y: number) => number][]
    )[pick(3)];
    return made(`${own} ${sign} ${other}`, zip(f, a.value, b.value));
  }
  return a;
}

/** The product of two matrices, in whichever way they fit. */
function product(a: Made, b: Made, own: string, other: string): Made {
  const single = (m: Made): boolean => m.rows * m.columns === 1;
  if (single(a) || single(b))
    return made(
      `${own} . ${other}`,
      zip((x, y) => x * y, a.value, b.value),
    );
  if (a.columns === b.rows) return made(`${own} * ${other}`, times(a.value, b.value));
  if (a.columns === b.columns) return made(`${own} * ${other}'`, times(a.value, turn(b.value)));
  if (a.rows === b.rows) return made(`${own}' * ${other}`, times(turn(a.value), b.value));
  return a;
}

/** One number from a matrix. */
function reduced({ text, value }: Made, kind: number): { text: string; value: number } {
  const all = value.flat();
  if (kind === 0) return { text: `sum(${text})`, value: all.reduce((a, b) => a + b, 0) };
  if (kind === 1) return { text: `mean(${text})`, value: all.reduce((a, b) => a + b, 0) / all.length };
  if (kind === 2) return { text: `logSumExp(${text})`, value: lse(all) };
  const s = times(value, turn(value));
  const both = [...s, ...turn(s)].map((row, i) => lse(row) - row[i % s.length]);
  return value.length * value[0].length === 1
    ? { text: `sum(${text})`, value: all[0] }
    : { text: `contrastive((${text}) * (${text})')`, value: both.reduce((a, b) => a + b, 0) };
}

describe('the language of chapter 7', () => {
  it('means what plain loops say, for random expressions, and its derivatives are those of differences', async () => {
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(999), { minLength: 60, maxLength: 60 }), fc.nat(3), async (choices, kind) => {
        let next = 0;
        const { text, value } = reduced(
          grow((below) => choices[next++ % choices.length] % below, 3),
          kind,
        );
        fc.pre(text.length <= LIMITS.characters && Number.isFinite(value) && Math.abs(value) < 1e6);
        const found = await run(text);
        expect(found.kind, `${text}: ${JSON.stringify(found)}`).toBe('found');
        if (found.kind !== 'found') return;
        tried++;
        expect(Math.abs(found.value - value)).toBeLessThanOrEqual(1e-10 * Math.max(1, Math.abs(value)));
        expect(found.check.vjp).toBeLessThan(1e-9);
        // Where a relu or an abs has its kink within a step, differences say nothing.
        if (/relu|abs/.test(text)) return;
        expect(found.check.jvp, text).toBeLessThan(1e-6);
        expect(found.check.hvp, text).toBeLessThan(1e-6);
        expect(found.check.symmetry, text).toBeLessThan(1e-9);
      }),
      { seed: 11, numRuns: 40 },
    );
    expect(tried).toBeGreaterThan(25);
    expect(device.memory().buffers).toBe(0);
  });

  it.each([
    ['1 + 2 * 3 - 4 / 2', 5],
    ['-2^2', -4],
    ['2 - 3 - 4', -5],
    ['8 / 4 / 2', 1],
    ['2 * -3', -6],
    ['(1 + 2) * 3', 9],
    ['1e-3 * 1000 + 0.5', 1.5],
    ['4^-0.5', 0.5],
    ["2'", 2],
    ['sum(2 . 3)', 6],
  ])('%s is %d', async (text, value) => {
    const found = await run(text);
    expect(found.kind === 'found' ? found.value : found.message).toBeCloseTo(value, 12);
  });

  it('reads what it offers: examples, functions, variables', async () => {
    for (const text of Object.values(EXAMPLES)) expect((await run(text)).kind, text).toBe('found');
    expect(Object.values(FUNCTION_WORDS).flat().toSorted()).toEqual(FUNCTION_NAMES.toSorted());
    expect(Object.keys(shapesOf(2)).toSorted()).toEqual(VARIABLES.toSorted());
    for (const name of FUNCTION_NAMES) {
      const args = {
        matmul: 'x, W',
        pow: 'x, 2',
        clamp: 'x, 0, 1',
        maximum: 'x, x',
        minimum: 'x, x',
        contrastiveHvp: 'A, A',
      }[name];
      const text = `sum(${name}(${args ?? (name.startsWith('contrastive') ? 'A' : 'x')}))`;
      expect((await run(text)).kind, text).toBe('found');
    }
  });

  it.each([
    ['softmx(x)', 'softmax', 'softmax(x)', 0, 6],
    ['sum(x * y)', 'needs', "sum(x' * y)", 4, 9],
    ['sum(x * W * y)', 'needs', "sum(x * W * y')", 4, 13],
    ['sum(x', 'not closed', 'sum(x)', 0, 5],
    ['sum(W))', 'nothing opens', 'sum(W)', 6, 7],
    ['sum(2 W)', 'operation is missing', 'sum(2 * W)', 6, 7],
    ['sum(w)', 'no variable w', 'sum(W)', 4, 5],
    ['sum(W·W)', 'write . for it', 'sum(W.W)', 5, 6],
    ['W(x)', 'is a variable', 'W * (x)', 0, 1],
    ['sum(.5 * W)', 'begin with a digit', 'sum(0.5 * W)', 4, 5],
    ['x * W', 'wrap it in sum', 'sum(x * W)', 0, 5],
    ['sum', 'is a function', null, 0, 3],
    ['sum(W, x)', 'wants a number', null, 7, 8],
    ['sum(W, 7)', 'axes 7', null, 0, 9],
    ['tanh()', 'takes 1 argument', null, 0, 6],
    ['softmax(t)', 'works on a matrix', null, 8, 9],
    ['W +', 'should stand before the end', null, 3, 3],
    ['exp(W)^x', 'stands a number', null, 7, 8],
    ['sum(W) ; alert(1)', 'means nothing here', null, 7, 8],
  ])('says of %s what is wrong, where, and what to do', async (text, words, fix, at, end) => {
    const wrong = await run(text);
    expect(wrong).toMatchObject({ kind: 'wrong', at, end });
    if (wrong.kind !== 'wrong') return;
    expect(wrong.message).toContain(words);
    if (fix === null) return;
    expect(wrong.fix).toBe(fix);
  });

  it('is not to be hung, exhausted or fooled by anything written', async () => {
    const started = performance.now();
    const hostile = [
      ...['('.repeat(200), '-'.repeat(199), 'W' + "'".repeat(199), 'W' + '^2'.repeat(99), '((((('.repeat(40) + 'W'],
      ...[
        'exp('.repeat(40) + 'W' + ')'.repeat(40),
        'gelu('.repeat(23) + 'sum(W)' + ')'.repeat(23),
        'W+'.repeat(99) + 'W',
      ],
      ...['W*'.repeat(60), '1/0', 'sum(log(-W . W))', 'sum(W)^1e308', 'sum(W^-1e308)', '9'.repeat(200), '1e999'],
      ...['constructor', '__proto__', 'toString(W)', 'hasOwnProperty(W)', '__proto__(W)', 'sum(W).constructor'],
      ...[
        '\u0000',
        '🚀',
        '\ud800',
        'sum(W)\n+1',
        '<img src=x onerror=alert(1)>',
        'a'.repeat(5000),
        ' '.repeat(150),
        ',',
      ],
      ...[
        'sum(x, -1e9)',
        'sum(x, 0.5)',
        'clamp(W, 1, 0)',
        'pow(W, t)',
        'max(sum(W))',
        'sum(stopGradient(W))',
        'sum(sign(W))',
      ],
    ];
    for (const text of hostile) {
      const found = await scratchFound.run(device, { ...asked, text, view: 'product' }, () => undefined);
      expect(['found', 'wrong']).toContain(found.kind);
      if (found.kind === 'wrong') expect(found.message).toMatch(/\w{3}/);
      else expect(found.graph.nodes.length).toBeLessThan(1000);
    }
    expect(device.memory().buffers).toBe(0);
    expect(performance.now() - started).toBeLessThan(8000);
  });

  it('throws nothing but its own error at random characters', () => {
    const sign = fc.constantFrom(..."xWyAut01.5()+-*/^',e sumlogexp ·²\n".split(''));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 220 }),
          fc.array(sign, { maxLength: 60 }).map((all) => all.join('')),
        ),
        (text) => {
          try {
            const part = parseExpression(text);
            const variables = new Map(VARIABLES.map((name) => [name, ecif.full(device, shapesOf(2)[name], 1)]));
            ecif.scope(() => evaluate(part, { text, device, variables }));
          } catch (error) {
            expect(error).toBeInstanceOf(ExpressionError);
            const { at, end } = error as ExpressionError;
            expect(at >= 0 && at <= end && end <= text.length).toBe(true);
          }
        },
      ),
      { seed: 3, numRuns: 400 },
    );
  });
});
