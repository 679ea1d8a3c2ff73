// What ran for a value, a gradient or a Hessian product, as a graph of plain data.

import { hvp, readAll, scope, type Tensor, valueAndGrad } from '../../src/index.ts';
import { ancestors, lowered, Recorded, Recorder, type Step } from './recorded.ts';

/** What a graph shows. */
export type View = 'value' | 'gradient' | 'product';

/** Which pass an op belongs to; `tangent`: it depends on the direction. */
export type Pass = 'input' | 'forward' | 'backward' | 'tangent';

/** A node of a graph. */
export interface GraphNode {
  /** Name of the op; null for inputs and constants. */
  readonly op: string | null;
  /** Name of an input; null for constants and ops. */
  readonly name: string | null;
  /** Constants of the op, as the engine passes them. */
  readonly params: unknown;
  /** Nodes it is made from, each before it. */
  readonly inputs: readonly number[];
  readonly shape: readonly number[];
  readonly values: readonly number[];
  readonly pass: Pass;
  /** What is asked for, where this node is it. */
  readonly result: string | null;
}

/** A graph, and how many ops ran in all: those that nothing shown depends on are left out. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly ran: number;
}

/** A function with the point it is looked at. */
export interface At {
  /** The function of all variables. */
  f(variables: ReadonlyMap<string, Tensor>): Tensor;
  readonly variables: ReadonlyMap<string, Tensor>;
  /** The variable it is differentiated by. */
  readonly by: string;
}

/** Runs a function of recorded variables. */
function run(
  { f, variables, by }: At,
  view: View,
  direction: Tensor | null,
  recorder: Recorder,
): Record<string, Tensor> {
  recorder.stage = 'input';
  const inputs = new Map([...variables].map(([name, value]) => [name, recorder.input(name, value) as Tensor]));
  const along = direction === null ? null : recorder.input('v', direction);
  const of = (x: Tensor): Tensor => {
    recorder.stage = 'forward';
    const y = f(new Map([...inputs, [by, x]]));
    recorder.stage = 'backward';
    return y;
  };
  const theta = inputs.get(by) as Tensor;
  if (view === 'value') return { value: of(theta) };
  if (view === 'product') return { product: hvp(of, theta, along as Tensor) };
  const { value, grad } = valueAndGrad(of)(theta);
  return { value, gradient: grad };
}

/** The steps that count, as plain data. */
function nodesOf(
  steps: readonly Step[],
  values: readonly ArrayLike<number>[],
  results: ReadonlyMap<number, string>,
): GraphNode[] {
  const kept = [...ancestors(steps, [...results.keys()])].sort((a, b) => a - b);
  const place = new Map(kept.map((old, i) => [old, i]));
  const tangent = new Set<number>();
  return kept.map((i) => {
    const { op, name, params, inputs, shape, stage } = steps[i];
    if (name === 'v' || inputs.some((input) => tangent.has(input))) tangent.add(i);
    return {
      ...{ op, name, params, shape: [...shape], values: Array.from(values[i]) },
      inputs: inputs.map((input) => place.get(input) as number),
      pass: op === null ? 'input' : tangent.has(i) ? 'tangent' : (stage as Pass),
      result: results.get(i) ?? null,
    };
  });
}

/** The graph of a view of a function, from the ops that the engine runs for it. */
export async function graphOf(at: At, view: View, direction: Tensor | null = null): Promise<Graph> {
  const recorder = new Recorder();
  try {
    const made = scope(() => run(at, view, direction, recorder));
    const results = new Map(
      Object.entries(made).map(([name, x]) => [x instanceof Recorded ? x.index : -1, name] as const),
    );
    Object.values(made).forEach((x) => lowered(x).dispose());
    const values = await readAll(recorder.steps.map(({ value }) => value));
    results.delete(-1);
    return {
      nodes: nodesOf(recorder.steps, values, results),
      ran: recorder.steps.filter(({ op }) => op !== null).length,
    };
  } finally {
    recorder.dispose();
  }
}
