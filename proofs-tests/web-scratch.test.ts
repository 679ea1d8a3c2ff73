// Chapter 7: the graph is what ran, its numbers follow from each other by the ops' references, its rules and kernels are the ops' own.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { opsModule } from '../scripts/gen-ops.ts';
import { bind } from '../src/autodiff/bind.ts';
import type { Primitive } from '../src/autodiff/op.ts';
import { registry } from '../src/autodiff/ops/registry.ts';
import * as kernels from '../src/shaders/kernels.gen.ts';
import { openDevice, tensor, type Tensor } from '../src/index.ts';
import * as ecif from '../src/index.ts';
import { tellable } from '../web/figures/scratch-check.ts';
import { layoutOf, NODE_HEIGHT } from '../web/figures/scratch-layout.ts';
import { parseExpression } from '../web/maths/expression.ts';
import { evaluate } from '../web/maths/expression-ops.ts';
import { scratchFound, type ScratchAsked, type ScratchFound, variablesOf } from '../web/maths/scratch.ts';
import { scratchOp } from '../web/maths/scratch-op.ts';
import { EXAMPLES } from '../web/maths/scratch-words.ts';

const device = await openDevice({ kind: 'cpu' });
const usual: ScratchAsked = {
  ...{
    text: EXAMPLES['contrastive loss'],
    rows: 4,
    seed: 1,
    by: 'W',
    along: 'random',
    entry: 0,
    step: 1e-5,
    view: 'value',
  },
};
const known = new Map<string, ScratchFound>();
async function find(asked: Partial<ScratchAsked>): Promise<ScratchFound> {
  const key = JSON.stringify({ ...usual, ...asked });
  const found = known.get(key) ?? (await scratchFound.run(device, { ...usual, ...asked }, () => undefined));
  if (found.kind === 'wrong') throw new Error(found.message);
  known.set(key, found);
  return found;
}
const near = (a: readonly number[], b: readonly number[], tolerance: number): void => {
  expect(a).toHaveLength(b.length);
  a.forEach((x, i) => expect(Math.abs(x - b[i])).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(b[i]))));
};

/** Contrastive loss of x·W·yᵀ/0.5 by plain loops. */
function plainLoss(w: readonly number[]): number {
  const [x, y] = ['x', 'y'].map((name) => variablesOf(usual).find((one) => one.name === name)!.values);
  const s = [0, 1, 2, 3].map((i) =>
    [0, 1, 2, 3].map((j) => {
      let sum = 0;
      for (let a = 0; a < 3; a++) for (let b = 0; b < 2; b++) sum += x[3 * i + a] * w[2 * a + b] * y[2 * j + b];
      return sum / 0.5;
    }),
  );
  const lse = (row: readonly number[]): number => Math.log(row.reduce((sum, v) => sum + Math.exp(v), 0));
  return s.reduce((sum, row, k) => sum + lse(row) + lse(s.map((other) => other[k])) - 2 * row[k], 0);
}

describe('an expression of chapter 7', () => {
  it('has the value, gradient and Hessian product of plain loops and their differences', async () => {
    const found = await find({});
    const w = variablesOf(usual).find(({ name }) => name === 'W')!.values;
    expect(found.value).toBeCloseTo(plainLoss(w), 9);
    const moved = (h: number, v: readonly number[]): number[] => w.map((x, i) => x + h * v[i]);
    const slope = (v: readonly number[], at: number, h = 1e-4): number =>
      (plainLoss(moved(at + h, v)) - plainLoss(moved(at - h, v))) / (2 * h);
    const units = w.map((_, k) => w.map((__, i) => Number(i === k)));
    near(
      found.gradient,
      units.map((unit) => slope(unit, 0)),
      1e-6,
    );
    const v = found.direction;
    expect(found.slope).toBeCloseTo(slope(v, 0), 5);
    const curvature = (plainLoss(moved(1e-3, v)) - 2 * plainLoss(w) + plainLoss(moved(-1e-3, v))) / 1e-6;
    expect(found.product.reduce((sum, x, i) => sum + x * v[i], 0)).toBeCloseTo(curvature, 3);
  });

  it('is linear in the direction: entries make up the Hessian, which takes the gradient where it should', async () => {
    const columns = await Promise.all([0, 1, 2, 3, 4, 5].map((entry) => find({ along: 'entry', entry })));
    columns.forEach(({ product }, i) =>
      columns.forEach((other, j) => expect(product[j]).toBeCloseTo(other.product[i], 9)),
    );
    const { direction, product, gradient } = await find({ along: 'gradient' });
    near(
      direction,
      gradient.map((g) => g / Math.hypot(...gradient)),
      1e-12,
    );
    near(
      product,
      product.map((_, i) => columns.reduce((sum, column, k) => sum + column.product[i] * direction[k], 0)),
      1e-9,
    );
  });

  it('has differences that are best at middle steps', async () => {
    const { differences } = await find({ step: 1e-5 });
    near(differences.gradient, (await find({})).gradient, 1e-7);
    const errorAt = (step: number): number =>
      differences.curve.find((one) => Math.abs(one.step / step - 1) < 1e-9)!.slope;
    expect(errorAt(1e-5)).toBeLessThan(errorAt(0.1) / 100);
    expect(errorAt(1e-5)).toBeLessThan(errorAt(1e-12) / 100);
  });

  it('is differentiated by what it has where it lacks what was asked for', async () => {
    expect((await find({ text: 'sum(A . A)' })).by).toBe('A');
    const { by, gradient } = await find({ text: '3' });
    expect([by, gradient]).toEqual(['W', [0, 0, 0, 0, 0, 0]]);
  });

  it('may be a variable itself', async () => {
    const [drawn] = variablesOf(usual).find(({ name }) => name === 't')!.values;
    for (const text of ['t', '(t)', 'sum(t)'])
      for (const view of ['value', 'gradient', 'product'] as const) {
        const { value, gradient, product, graph } = await find({ text, view, by: 't' });
        expect([value, gradient, product]).toEqual([drawn, [1], [0]]);
        if (view !== 'product') expect(graph.nodes.map(({ result }) => result)).toEqual([null, 'value']);
      }
    expect(device.memory().buffers).toBe(0);
  });

  it('has no derivatives to tell where it is not finite', async () => {
    const found = await find({ text: 'sum(log(W))' });
    expect([found.value, found.check.vjp < 1e-6]).toEqual([NaN, true]);
    const { slope, gradient, product, check, differences } = tellable(found);
    const numbers = [slope, ...gradient, ...product, ...Object.values(check), ...Object.values(differences.errors)];
    expect(numbers.every(Number.isNaN)).toBe(true);
    expect(differences.curve.every((one) => Number.isNaN(one.slope) && Number.isNaN(one.product))).toBe(true);
    const finite = await find({});
    expect(tellable(finite)).toBe(finite);
  });

  it('fails checks against differences at a kink, and only there', async () => {
    const good = async (seed: number): Promise<boolean[]> => {
      const { jvp, vjp, hvp, symmetry } = (await find({ text: EXAMPLES['a kink'], seed })).check;
      return [jvp, vjp, hvp, symmetry].map((error) => error <= 1e-6);
    };
    expect(await good(1)).toEqual([false, true, false, true]);
    expect(await good(2)).toEqual([true, true, true, true]);
  });
});

describe('a graph of chapter 7', () => {
  it('is what ran: each op gives its value from those of its inputs, by its reference', async () => {
    for (const text of Object.values(EXAMPLES)) {
      for (const view of ['value', 'gradient', 'product'] as const) {
        const { graph, gradient, product, value } = await find({ text, view });
        graph.nodes.forEach(({ op, params, inputs, shape, values, name }, i) => {
          if (op === null) {
            const drawn = variablesOf(usual).find((one) => one.name === name)?.values;
            if (drawn !== undefined) expect(values).toEqual(drawn);
            return;
          }
          expect(inputs.every((input) => input < i)).toBe(true);
          const record = registry.find((one) => one.name === op)!;
          const y = new Float64Array(values.length);
          const x = inputs.map((input) => Float64Array.from(graph.nodes[input].values));
          record.cpu({ x, y, shapes: inputs.map((input) => graph.nodes[input].shape), shape, params });
          near([...y], values, 1e-12);
        });
        const result = (of: string): readonly number[] | undefined =>
          graph.nodes.find((node) => node.result === of)?.values;
        if (view === 'product') near(result('product') ?? product.map(() => 0), product, 1e-12);
        else expect(result('value')?.[0]).toBeCloseTo(value, 10);
        if (view === 'gradient') near(result('gradient')!, gradient, 1e-12);
      }
    }
  });

  it('holds the passes apart', async () => {
    const ops = async (view: ScratchAsked['view'], pass: string): Promise<(string | null)[]> =>
      (await find({ view })).graph.nodes.filter((node) => node.pass === pass).map(({ op }) => op);
    expect(await ops('value', 'forward')).toEqual(['matmul', 'matmul', 'affine', 'contrastive']);
    expect(await ops('gradient', 'backward')).toEqual(['contrastiveGrad', 'mul', 'affine', 'matmul', 'matmul']);
    expect(await ops('product', 'tangent')).toContain('contrastiveHvp');
    expect(await ops('product', 'backward')).not.toContain('contrastiveGrad');
  });

  it('is laid out downwards without overlap', async () => {
    for (const text of Object.values(EXAMPLES)) {
      const { nodes } = (await find({ text, view: 'product' })).graph;
      const widths = nodes.map((_, i) => 60 + 10 * (i % 4));
      const { places, edges, width, height } = layoutOf(nodes.map(({ inputs }, i) => ({ inputs, width: widths[i] })));
      nodes.forEach(({ inputs }, i) => inputs.forEach((from) => expect(places[from].y).toBeLessThan(places[i].y)));
      expect(edges).toHaveLength(nodes.reduce((sum, { inputs }) => sum + new Set(inputs).size, 0));
      places.forEach((a, i) => {
        expect(a.x - widths[i] / 2).toBeGreaterThanOrEqual(0);
        expect(a.x + widths[i] / 2).toBeLessThanOrEqual(width);
        expect(a.y + NODE_HEIGHT / 2).toBeLessThanOrEqual(height);
        places.slice(i + 1).forEach((b, k) => {
          const apart =
            Math.abs(a.x - b.x) >= (widths[i] + widths[i + 1 + k]) / 2 || Math.abs(a.y - b.y) >= NODE_HEIGHT;
          expect(apart).toBe(true);
        });
      });
    }
    expect(layoutOf([])).toMatchObject({ width: 0, height: 0 });
  });
});

/** Every op, with its parameters and shapes, that the examples lead to. */
async function opsSeen() {
  const seen = new Map<
    string,
    { op: string; params: unknown; inputs: (readonly number[])[]; shape: readonly number[] }
  >();
  const more = [
    'sum(tanh(W) + sigmoid(W) / exp(W))',
    'sum(log(square(W) + 1) . sqrt(square(W) + 1))',
    'max(W) + logSumExp(W)',
  ];
  for (const text of [...Object.values(EXAMPLES), ...more]) {
    for (const view of ['gradient', 'product'] as const) {
      const { nodes } = (await find({ text, view })).graph;
      for (const { op, params, inputs, shape } of nodes) {
        const key = JSON.stringify([op, params, inputs.length]);
        if (op !== null && !seen.has(key))
          seen.set(key, { op, params, inputs: inputs.map((i) => nodes[i].shape), shape });
      }
    }
  }
  return [...seen.values()];
}

describe('what stands behind an op', () => {
  it('is its kernel: the calls that the WebGPU device is given, with the text of the .wgsl file', async () => {
    const { calls, sources } = await scratchOp.run(
      device,
      { op: 'tanh', params: { p: 0, q: 0 }, inputs: [[4, 2]], shape: [4, 2] },
      () => undefined,
    );
    expect(calls).toEqual([
      { kernel: 'unary', constants: { OP: 10 }, params: expect.objectContaining({ n: 2 }), workgroups: [1, 1, 1] },
    ]);
    expect(sources.unary).toBe(kernels.unary.source);
    for (const asked of await opsSeen()) {
      const found = await scratchOp.run(device, asked, () => undefined);
      if (asked.op !== 'reshape') expect(found.calls.length, asked.op).toBeGreaterThan(0);
      for (const { kernel } of found.calls) expect(found.sources[kernel]).toContain('fn main');
      expect(found.record?.text, asked.op).toContain(asked.op);
    }
    expect(device.memory().buffers).toBe(0);
  });

  it('has rules that, read as expressions, give what the rules of its record give', async () => {
    let read = 0;
    for (const asked of await opsSeen()) {
      const found = await scratchOp.run(device, asked, () => undefined);
      const record = registry.find(({ name }) => name === asked.op) as Primitive<unknown>;
      if (found.kind !== 'rules') continue;
      const rng = ecif.createRng(3);
      const draw = (shape: readonly number[]): Tensor =>
        tensor(
          device,
          Float64Array.from({ length: shape.reduce((n, d) => n * d, 1) }, () => 1 + 0.3 * rng.normal()),
          shape,
        );
      const [x, dx, ct] = [asked.inputs.map(draw), asked.inputs.map(draw), draw(asked.shape)];
      const y = bind(record, x, asked.params);
      const names = found.names.flatMap((name, i) => [[name, x[i]] as const, [`d${name}`, dx[i]] as const]);
      const variables = new Map<string, Tensor>([...names, ['ct', ct], ['y', y]]);
      const needs = x.map(() => true);
      const pairs: [string | null, Tensor | null][] = [
        [found.value, y],
        [found.jvp, record.jvp(x, y, asked.params)(dx)],
        ...record
          .vjp(ct, x, y, asked.params, needs)
          .map((part, i): [string | null, Tensor | null] => [found.vjp[i], part]),
      ];
      for (const [text, expected] of pairs) {
        if (text === null || expected === null) continue;
        let part: Tensor;
        try {
          part = evaluate(parseExpression(text), { text, device, variables });
        } catch {
          continue; // names an op that the language has no function for
        }
        read++;
        const [said, wanted] = [[...(await part.data())], [...(await expected.data())]];
        near(said.length === 1 ? wanted.map(() => said[0]) : said, wanted, 1e-6);
      }
    }
    expect(read).toBeGreaterThan(60);
  });

  it('is shown from sources that are fresh', () => {
    const root = new URL('../', import.meta.url);
    expect(readFileSync(new URL('web/data/ops.gen.ts', root), 'utf8')).toBe(opsModule(root.pathname));
  });
});
