// Chapter 7: an expression that the reader writes, with its graph, gradient and Hessian product, and their checks.

import * as ecif from '../../src/index.ts';
import { computation } from './computation.ts';
import { type Expression, ExpressionError, parseExpression } from './expression.ts';
import { evaluate, namesIn } from './expression-ops.ts';
import { type At, type Graph, graphOf, type View } from './scratch-graph.ts';
import { differences, type Differences } from './scratch-differences.ts';
import { shapesOf, shapeWords } from './scratch-words.ts';

/** An expression and where to look at it. */
export interface ScratchAsked {
  readonly text: string;
  /** Rows of x and y. */
  readonly rows: number;
  /** Seed of the values. */
  readonly seed: number;
  /** Variable it is differentiated by; the first of the expression where it has none of that name. */
  readonly by: string;
  readonly along: 'random' | 'gradient' | 'entry';
  /** Entry that a direction `entry` points along; the last one where there are fewer. */
  readonly entry: number;
  /** Step of the finite differences. */
  readonly step: number;
  readonly view: View;
}

/** A variable with its values. */
export interface Variable {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** What is wrong with an expression, for the page. */
export interface ScratchWrong {
  readonly kind: 'wrong';
  readonly message: string;
  readonly at: number;
  readonly end: number;
  readonly fix: string | null;
}

/** What comes of an expression. */
export interface ScratchFound {
  readonly kind: 'found';
  /** Kind of device it was computed on. */
  readonly device: 'cpu' | 'webgpu';
  readonly variables: readonly Variable[];
  readonly by: string;
  readonly value: number;
  readonly gradient: readonly number[];
  readonly direction: readonly number[];
  /** ⟨∇f, v⟩, by forward mode. */
  readonly slope: number;
  /** H·v */
  readonly product: readonly number[];
  /** Relative errors by the library's own check along random directions. */
  readonly check: ecif.CheckReport;
  readonly differences: Differences;
  readonly graph: Graph;
}

/** The values of a variable: seeded normals with two digits; t is positive. */
function valuesOf(name: string, shape: readonly number[], seed: number): Float64Array {
  const rng = ecif.createRng(seed).fork(name.charCodeAt(0));
  const size = shape.reduce((n, d) => n * d, 1);
  return Float64Array.from({ length: size }, () => {
    const x = Math.round(100 * rng.normal()) / 100;
    return name === 't' ? Math.abs(x) + 0.5 : x;
  });
}

/** The variables that a setting has. */
export const variablesOf = ({ rows, seed }: Pick<ScratchAsked, 'rows' | 'seed'>): Variable[] =>
  Object.entries(shapesOf(rows)).map(([name, shape]) => ({ name, shape, values: [...valuesOf(name, shape, seed)] }));

/** The function that an expression is, at the values of its variables. */
function placeExpression(asked: ScratchAsked, part: Expression, device: ecif.Device): At {
  const all = variablesOf(asked);
  const used = namesIn(part).filter((name) => all.some((one) => one.name === name));
  const by = used.includes(asked.by) ? asked.by : (used[0] ?? 'W');
  const placed = all
    .filter(({ name }) => name === by || used.includes(name))
    .map(({ name, shape, values }) => [name, ecif.tensor(device, Float64Array.from(values), shape)] as const);
  const { text } = asked;
  return {
    by,
    variables: new Map(placed),
    f: (variables) => {
      const value = scalar(evaluate(part, { text, device, variables }), part, text);
      // A value of its own where the expression is a variable, which is freed elsewhere.
      return [...variables.values()].includes(value) ? ecif.reshape(value, value.shape) : value;
    },
  };
}

/** A value of which there is a gradient: one number. */
function scalar(value: ecif.Tensor, part: Expression, text: string): ecif.Tensor {
  if (value.size === 1) return value;
  throw new ExpressionError(
    `the value is a ${shapeWords(value.shape)} matrix, and a gradient is that of one number; wrap it in sum(…)`,
    part,
    `sum(${text.trim()})`,
  );
}

/** The direction that is asked for. */
function directionOf({ along, entry, seed }: ScratchAsked, gradient: ArrayLike<number>): Float64Array {
  const size = gradient.length;
  const unit = (v: Float64Array): Float64Array => {
    const length = Math.hypot(...v);
    return length > 0 && Number.isFinite(length) ? v.map((x) => x / length) : v;
  };
  if (along === 'entry') return Float64Array.from({ length: size }, (_, i) => Number(i === Math.min(entry, size - 1)));
  const rng = ecif.createRng(seed).fork(1000);
  const random = unit(Float64Array.from({ length: size }, () => rng.normal()));
  return along === 'random' || Math.hypot(...Array.from(gradient)) === 0 ? random : unit(Float64Array.from(gradient));
}

async function found(device: ecif.Device, asked: ScratchAsked): Promise<ScratchFound> {
  const at = placeExpression(asked, parseExpression(asked.text), device);
  const theta = at.variables.get(at.by) as ecif.Tensor;
  const held: unknown[] = [...at.variables.values()];
  const f = (x: ecif.Tensor): ecif.Tensor => at.f(new Map([...at.variables, [at.by, x]]));
  try {
    const first = ecif.scope(() => ecif.valueAndGrad(f)(theta));
    held.push(first);
    const [[value], gradient] = await ecif.readAll([first.value, first.grad]);
    const direction = directionOf(asked, gradient);
    const v = ecif.tensor(device, direction, theta.shape);
    const second = ecif.scope(() => ({ slope: ecif.jvp(f, theta, v).tangent, product: ecif.hvp(f, theta, v) }));
    held.push(v, second);
    const [[slope], product] = await ecif.readAll([second.slope, second.product]);
    const numbers = { value, gradient: Array.from(gradient), slope, product: Array.from(product) };
    const graph = await graphOf(at, asked.view, asked.view === 'product' ? v : null);
    return {
      ...{ kind: 'found', device: device.kind, ...numbers },
      by: at.by,
      direction: Array.from(direction),
      variables: variablesOf(asked).filter(({ name }) => at.variables.has(name)),
      check: await ecif.gradErrors(f, theta),
      differences: await differences(f, theta, direction, asked.step, numbers),
      graph,
    };
  } finally {
    ecif.disposeTree(held);
  }
}

export const scratchFound = computation<ScratchAsked, ScratchFound | ScratchWrong>({
  wants: 'float64',
  run: async (device, asked) => {
    try {
      return await found(device, asked);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const { message, at, end, fix } = error;
      return { kind: 'wrong', message, at, end, fix };
    }
  },
});
